// SPDX-License-Identifier: MIT
// The kernels of histograms: private counters of 32 bits in shared memory, private counters of 8 bits, outside. Where the
// counters do not fit into one block's shared memory, `parts` neighbouring blocks read the same samples, of which each
// counts those of its part; the cache serves all but the first of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/histogram.cuh"
#include "warpfold/detail/channels.hpp"
#include "warpfold/gpu/edge_table.cuh"
#include "warpfold/gpu/owned_counters.cuh"
#include "warpfold/gpu/packed_counters.cuh"
#include "warpfold/gpu/walk.cuh"
#include "warpfold/tuning/histogram.hpp"

namespace warpfold::detail {

inline constexpr tuning::histogram histogram_tuning = tuning::histogram_default;

// Words of a workspace, zero between launches.
struct histogram_control {
    unsigned zeroed; // the counts have been set to zero
    unsigned seen;   // so many blocks know it
};

struct histogram_layout {
    unsigned parts = 1;
    unsigned part_codes = 0;  // counters of a part
    unsigned copies = 1;      // of each of them
    unsigned edges_at = 0;    // where in shared memory the bins' edges go, in bytes; 0: they stay where they are
    unsigned cells_at = 0;    // where a table of what edges are near a sample goes,
    unsigned cells = 0;       // and how many words it has
    unsigned zeroed = 0;      // so many counts the first block sets to zero
    bool once = false;        // nobody reads the samples again
};

// What is counted: bins, or, of samples of 8 bits, their values, whose bins are found when counting is through.
template <class S, class Of, bool Values>
struct histogram_code {
    static constexpr bool values = Values;
    static constexpr unsigned channels = Of::channels;

    [[nodiscard]] __host__ __device__ unsigned count() const { return Values ? 256 * Of::active : of.bins; }
    [[nodiscard]] __device__ unsigned operator()(const S& x, unsigned channel) const {
        if constexpr (Values) {
            return channel * 256 + static_cast<unsigned char>(x);
        } else {
            return of(x, channel);
        }
    }
    [[nodiscard]] __device__ unsigned bin(unsigned code) const {
        if constexpr (Values) {
            return of(static_cast<S>(static_cast<unsigned char>(code)), code / 256);
        } else {
            return code;
        }
    }

    Of of;
};

template <class Of>
inline constexpr bool may_stage_v = false;
template <class Binner>
    requires with_edges<Binner>
inline constexpr bool may_stage_v<one_channel<Binner>> = true;

// Copies the bins' edges to shared memory, where there is room. A barrier has to follow.
template <class Of>
__device__ void stage_edges(Of& of, const histogram_layout& layout, unsigned char* shared) {
    if constexpr (may_stage_v<Of>) {
        if (layout.edges_at != 0) {
            using T = std::remove_cvref_t<decltype(*of.bin.edges)>;
            T* const near = reinterpret_cast<T*>(shared + layout.edges_at);
            for (unsigned k = threadIdx.x; k <= of.bin.bins; k += blockDim.x) {
                near[k] = of.bin.edges[k];
            }
            of.bin.edges = near;
        }
    }
}

// The first block sets the counts to zero and says so, before it reads samples: a fence waits long where loads are under
// way. All of its threads call it, and meet at a barrier behind.
template <class Counter>
__device__ void zero_counts(Counter* counts, const histogram_layout& layout, histogram_control* control) {
    if (layout.zeroed == 0 || blockIdx.x != 0) {
        return;
    }
    const bool few = layout.zeroed <= 1024; // one warp sees to them
    if (!few || threadIdx.x < 32) {
        for (unsigned k = threadIdx.x; k < layout.zeroed; k += few ? 32 : blockDim.x) {
            counts[k] = Counter{0};
        }
    }
    if (gridDim.x == 1) {
        return;
    }
    if (!few) {
        __syncthreads();
    } else if (threadIdx.x < 32) {
        __syncwarp();
    }
    if (threadIdx.x == 0) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&control->zeroed)), "r"(1u)
                     : "memory");
    }
}
// The same by one warp, which other threads do not wait for before they have counted.
template <class Counter>
__device__ void zero_counts_by_warp(Counter* counts, const histogram_layout& layout, histogram_control* control) {
    if (layout.zeroed == 0 || blockIdx.x != 0) {
        return;
    }
    for (unsigned k = threadIdx.x % 32; k < layout.zeroed; k += 32) {
        counts[k] = Counter{0};
    }
    if (gridDim.x == 1) {
        return; // a barrier is enough
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&control->zeroed)), "r"(1u)
                     : "memory");
    }
}
// Waits until the counts are zero, for all threads of the block, which have counted their samples by then.
// The last block to know leaves the words zero. Blocks start in the order of their index: the first runs by now, and
// waits for nobody. Thread `who` does it.
__device__ inline void await_counts(const histogram_layout& layout, histogram_control* control, unsigned who = 0) {
    const bool waits = layout.zeroed != 0 && gridDim.x > 1 && threadIdx.x == who;
    if (waits) {
        unsigned zeroed;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(zeroed)
                         : "l"(__cvta_generic_to_global(&control->zeroed))
                         : "memory");
        } while (zeroed == 0);
    }
    __syncthreads();
    if (waits && atomicAdd(&control->seen, 1u) == gridDim.x - 1) { // which nobody waits for
        atomicExch(&control->zeroed, 0u);
        atomicExch(&control->seen, 0u);
    }
}

// The threads that read the same samples as this one, by their number, and the codes that this one's block counts.
struct histogram_share {
    __device__ histogram_share(const histogram_layout& layout, unsigned codes)
        : thread(std::uint64_t{blockIdx.x / layout.parts} * blockDim.x + threadIdx.x),
          threads(std::uint64_t{gridDim.x / layout.parts} * blockDim.x),
          first(blockIdx.x % layout.parts * layout.part_codes), count(min(layout.part_codes, codes - first)),
          rotation(static_cast<unsigned>(std::uint64_t{blockIdx.x / layout.parts} * count /
                                         (gridDim.x / layout.parts))) {}

    std::uint64_t thread, threads;
    unsigned first, count;
    unsigned rotation; // where to begin when the counters are added up
};

// Counts samples one by one.
template <class In, class Code>
struct take_each {
    __device__ void one(const element_t<In>& x, unsigned channel) { counted.count(code(x, channel) - first); }

    template <class T>
    __device__ void many(const uint4& vector, unsigned channel) {
#pragma unroll
        for (unsigned j = 0; j < 16 / sizeof(T); ++j) {
            one(element_of<T>(vector, j), (channel + j) % Code::channels);
        }
    }

    block::histogram& counted;
    const Code& code;
    unsigned first;
};

// The same by a table of the edges.
template <class In, class Code, bool Sparse>
struct take_near {
    using edge = std::remove_cvref_t<decltype(*std::declval<Code>().of.bin.edges)>;

    __device__ void one(const element_t<In>& x, unsigned /*channel*/) {
        const element_t<In> samples[1] = {x};
        count(samples);
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned /*channel*/) {
        T samples[16 / sizeof(T)];
#pragma unroll
        for (unsigned j = 0; j < 16 / sizeof(T); ++j) {
            samples[j] = element_of<T>(vector, j);
        }
        count(samples);
    }
    template <class T, unsigned Count>
    __device__ void count(const T (&samples)[Count]) {
        unsigned at[Count];
        if constexpr (Sparse) {
            near.below_or_at_sparse(samples, at);
        } else {
            near.below_or_at(samples, at);
        }
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            counted.count(at[j] - 1 - first); // as many as there are edges lie beyond the last bin
        }
    }

    block::histogram& counted;
    const edge_table<element_t<In>, edge>& near;
    unsigned first;
};

template <class In, class Code, class Counter>
__global__ void __launch_bounds__(histogram_tuning.threads, histogram_tuning.blocks_per_multiprocessor)
    histogram_kernel(In in, std::uint64_t n, Code code, Counter* counts, histogram_layout layout,
                     histogram_control* control) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    zero_counts(counts, layout, control);
    const histogram_share share(layout, code.count());
    block::histogram counted(reinterpret_cast<unsigned*>(histogram_shared), share.count, layout.copies, threadIdx.x,
                             blockDim.x);
    counted.clear();
    stage_edges(code.of, layout, histogram_shared);
    __syncthreads();

    const auto go = [&](auto&& take) {
        walk<Code::channels, histogram_tuning.loads>(in, n, share.thread, share.threads, layout.once, take);
    };
    bool through = false;
    if constexpr (may_stage_v<decltype(code.of)>) {
        using take = take_near<In, Code, true>;
        if (layout.cells != 0) {
            const edge_table<element_t<In>, typename take::edge> near(
                reinterpret_cast<unsigned*>(histogram_shared + layout.cells_at), layout.cells, code.of.bin.edges,
                code.of.bin.bins);
            if (near.sparse()) {
                go(take{counted, near, share.first});
            } else {
                go(take_near<In, Code, false>{counted, near, share.first});
            }
            through = true;
        }
    }
    if (!through) {
        go(take_each<In, Code>{counted, code, share.first});
    }

    await_counts(layout, control);
    if constexpr (Code::values) {
        for (unsigned k = threadIdx.x; k < share.count; k += blockDim.x) {
            const unsigned total = counted.total(k);
            const unsigned bin = total == 0 ? outside : code.bin(share.first + k);
            if (bin != outside) {
                add_to_count(counts + bin, total);
            }
        }
    } else {
        counted.add_to(counts + share.first, share.rotation);
    }
}

// Samples of 8 bits: a counter of each value, in 64 copies, so that each lane of a warp has a bank of its own. Where a
// thread's counters of all values lie apart by 256 bytes, one instruction makes the offset of a sample's counter.
template <class In>
struct take_values {
    __device__ void one(const element_t<In>& x, unsigned /*channel*/) {
        count(static_cast<unsigned char>(x) * 256u + offset);
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned /*channel*/) {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (unsigned w = 0; w < 4; ++w) {
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) { // the bytes: of the offset its own one, the sample, two that are 0
                count(__byte_perm(words[w], offset, 0x5504 | j << 4));
            }
        }
    }
    __device__ void count(unsigned place) { atomicAdd(reinterpret_cast<unsigned*>(counters + place), 1u); }

    unsigned char* counters;
    unsigned offset; // of the thread's copy, less than 256
};

inline constexpr unsigned value_copies = 64;

// Few samples of 8 bits. A warp of its own sets the counts to zero, or waits until they are, while the others count in
// 32 copies.
template <class S, class Code, class Counter>
__global__ void __launch_bounds__(histogram_tuning.few_threads + 32)
    histogram_few_values_kernel(const S* in, std::uint64_t n, Code code, Counter* counts, histogram_layout layout,
                                histogram_control* control) {
    constexpr unsigned counting = histogram_tuning.few_threads, copies = 32, each = 256 * copies / counting;
    static_assert(counting % 256 == 0 && each % 4 == 0);
    __shared__ uint4 counters[256 * copies / 4];
    const bool counts_too = threadIdx.x < counting;
    const vector_view<S> view(in, n);
    const std::uint64_t threads = std::uint64_t{gridDim.x} * counting;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * counting + threadIdx.x;
    uint4 first{};
    if (counts_too) {
        if (thread < view.vectors) {
            first = __ldg(view.data + thread);
        }
#pragma unroll
        for (unsigned k = 0; k < each / 4; ++k) {
            counters[k * counting + threadIdx.x] = uint4{};
        }
    } else {
        zero_counts_by_warp(counts, layout, control);
    }
    __syncthreads();
    if (counts_too) {
        const unsigned copy = static_cast<unsigned>(__cvta_generic_to_shared(counters)) + threadIdx.x % copies * 4;
        const auto count = [&](unsigned value) {
            asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(copy + value * (copies * 4)) : "memory");
        };
        const auto count_vector = [&](const uint4& vector) {
            const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
            for (unsigned j = 0; j < 16; ++j) {
                count(words[j / 4] >> j % 4 * 8 & 0xff);
            }
        };
        if (thread < view.vectors) {
            count_vector(first);
        }
        for (std::uint64_t k = thread + threads; k < view.vectors; k += threads) {
            count_vector(__ldg(view.data + k));
        }
        for (std::uint64_t k = thread; k < view.head; k += threads) {
            count(static_cast<unsigned char>(in[k]));
        }
        for (std::uint64_t k = view.tail + thread; k < n; k += threads) {
            count(static_cast<unsigned char>(in[k]));
        }
    }
    await_counts(layout, control, counting);
    if (!counts_too) {
        return;
    }
    constexpr unsigned sharing = counting / 256, words = copies / sharing / 4; // threads of a value, 16 bytes of each
    const unsigned value = threadIdx.x / sharing;
    unsigned total = 0;
#pragma unroll
    for (unsigned k = 0; k < words; ++k) {
        const uint4 part = counters[value * (copies / 4) + threadIdx.x % sharing * words + (k + value) % words];
        total += part.x + part.y + part.z + part.w;
    }
#pragma unroll
    for (unsigned distance = 1; distance < sharing; distance *= 2) {
        total += __shfl_xor_sync(0xffffffffu, total, distance);
    }
    if (threadIdx.x % sharing == 0 && total != 0) {
        const unsigned bin = code.bin(value);
        if (bin != outside) {
            add_to_count(counts + bin, total);
        }
    }
}

template <class In, class Code, class Counter>
__global__ void __launch_bounds__(histogram_tuning.threads, histogram_tuning.blocks_per_multiprocessor)
    histogram_values_kernel(In in, std::uint64_t n, Code code, Counter* counts, histogram_layout layout,
                            histogram_control* control) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    zero_counts(counts, layout, control);
    auto* const words = reinterpret_cast<unsigned*>(histogram_shared);
    for (unsigned k = threadIdx.x; k < 256 * value_copies; k += blockDim.x) {
        words[k] = 0;
    }
    __syncthreads();
    const histogram_share share(layout, 256);
    walk<1, histogram_tuning.value_loads>(in, n, share.thread, share.threads, layout.once,
                                          take_values<In>{histogram_shared, threadIdx.x % value_copies * 4});
    await_counts(layout, control);
    // A warp adds up the copies of a value; neighbouring threads add neighbouring values to the counts, which takes a
    // twentieth of the time of additions one by one.
    for (unsigned value = threadIdx.x / 32; value < 256; value += blockDim.x / 32) {
        unsigned total = words[value * value_copies + threadIdx.x % 32] + words[value * value_copies + threadIdx.x % 32 + 32];
#pragma unroll
        for (unsigned distance = 16; distance != 0; distance /= 2) {
            total += __shfl_xor_sync(0xffffffffu, total, distance);
        }
        if (threadIdx.x % 32 == 0) {
            words[value * value_copies + value % 32] = total; // the copies have been read, and banks are different
        }
    }
    __syncthreads();
    for (unsigned value = threadIdx.x; value < 256; value += blockDim.x) {
        const unsigned total = words[value * value_copies + value % 32];
        const unsigned bin = total == 0 ? outside : code.bin(value);
        if (bin != outside) {
            add_to_count(counts + bin, total);
        }
    }
}

// Counts samples in counters of 8 bits; where those of a warp all have one bin, as in constant input, in a register.
template <class In, class Code, class Counter>
struct take_packed {
    __device__ void one(const element_t<In>& x, unsigned channel) {
        const unsigned bins[1] = {code(x, channel) - first};
        counted.add(bins);
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned channel) {
        constexpr unsigned width = 16 / sizeof(T);
        unsigned bins[width];
#pragma unroll
        for (unsigned j = 0; j < width; ++j) {
            bins[j] = code(element_of<T>(vector, j), (channel + j) % Code::channels) - first;
        }
        const unsigned leader = __shfl_sync(0xffffffffu, bins[0], 0);
        if (__all_sync(0xffffffffu, bins[0] == leader)) {
            bool same = true;
#pragma unroll
            for (unsigned j = 1; j < width; ++j) {
                same = same && bins[j] == leader;
            }
            if (__all_sync(0xffffffffu, same)) {
                if (leader != run_bin) {
                    end_run();
                    run_bin = leader;
                }
                run += width;
                return;
            }
        }
        counted.add(bins);
    }
    // Adds the run, whose length is the same in all lanes; 32 times that fits 32 bits, as the block's samples do.
    __device__ void end_run() {
        if (threadIdx.x % 32 == 0 && run != 0) {
            counted.add_beyond(run_bin, 32 * run);
        }
        run = 0;
    }

    packed_counters<Counter>& counted;
    const Code& code;
    unsigned first;
    unsigned run_bin = outside;
    unsigned run = 0;
};

template <class In, class Code, class Counter>
__global__ void __launch_bounds__(histogram_tuning.threads, histogram_tuning.packed_blocks)
    histogram_packed_kernel(In in, std::uint64_t n, Code code, Counter* counts, histogram_layout layout) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    const histogram_share share(layout, code.count());
    packed_counters<Counter> counted(reinterpret_cast<unsigned*>(histogram_shared), share.count, counts + share.first);
    counted.clear();
    stage_edges(code.of, layout, histogram_shared);
    __syncthreads();
    take_packed<In, Code, Counter> take{counted, code, share.first};
    walk<Code::channels, histogram_tuning.packed_loads>(in, n, share.thread, share.threads, layout.once, take);
    take.end_run();
    __syncthreads();
    counted.flush(share.rotation);
}

template <class In, class Code, class Counter>
struct take_direct {
    __device__ void one(const element_t<In>& x, unsigned channel) {
        const unsigned bin = code(x, channel);
        if (bin - first < count && (!owning || !owned.add(bin))) {
            add_to_count(counts + bin, 1);
        }
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned channel) {
#pragma unroll
        for (unsigned j = 0; j < 16 / sizeof(T); ++j) {
            one(element_of<T>(vector, j), (channel + j) % Code::channels);
        }
    }

    owned_counters& owned;
    bool owning;
    const Code& code;
    Counter* counts;
    unsigned first, count;
};

// Adds to global memory, to layout.part_codes counters in each of layout.parts passes over the samples, so that those
// stay in the cache; layout.copies counters in shared memory belong to bins that came first.
template <class In, class Code, class Counter>
__global__ void __launch_bounds__(histogram_tuning.threads)
    histogram_direct_kernel(In in, std::uint64_t n, Code code, Counter* counts, histogram_layout layout) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    owned_counters owned(reinterpret_cast<unsigned*>(histogram_shared), layout.copies);
    owned.clear();
    __syncthreads();
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    for (unsigned part = 0; part < layout.parts; ++part) {
        const unsigned first = part * layout.part_codes;
        walk<Code::channels, histogram_tuning.loads>(
            in, n, thread, threads, layout.once,
            take_direct<In, Code, Counter>{owned, layout.copies != 0, code, counts, first,
                                           min(layout.part_codes, code.count() - first)});
    }
    __syncthreads();
    owned.flush(counts);
}

// Sums of weights, in shared memory where layout.part_codes is not 0.
template <class In, class Weights, class Of, class Sum>
__global__ void __launch_bounds__(histogram_tuning.threads)
    weighted_histogram_kernel(In in, Weights weights, std::uint64_t n, Of of, Sum* sums, histogram_layout layout,
                              histogram_control* control) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    const auto add = [](Sum* to, const Sum& more) {
        if constexpr (std::is_integral_v<Sum>) {
            add_to_count(to, static_cast<natural_of<Sum>>(more));
        } else {
            atomicAdd(to, more);
        }
    };
    zero_counts(sums, layout, control);
    Sum* const held = reinterpret_cast<Sum*>(histogram_shared);
    const unsigned words = layout.part_codes * layout.copies;
    const unsigned copy = threadIdx.x & (layout.copies - 1);
    for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
        held[k] = Sum{0};
    }
    __syncthreads();
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
#pragma unroll 4
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += threads) {
        const unsigned bin = of(in[k], static_cast<unsigned>(k % Of::channels));
        if (bin < of.bins) {
            add(words != 0 ? held + bin * layout.copies + copy : sums + bin, static_cast<Sum>(weights[k]));
        }
    }
    await_counts(layout, control);
    for (unsigned bin = threadIdx.x; bin < layout.part_codes; bin += blockDim.x) {
        Sum sum{0};
        for (unsigned k = 0; k < layout.copies; ++k) {
            sum += held[bin * layout.copies + ((k + threadIdx.x) & (layout.copies - 1))];
        }
        if (sum != Sum{0}) {
            add(sums + bin, sum);
        }
    }
}

} // namespace warpfold::detail

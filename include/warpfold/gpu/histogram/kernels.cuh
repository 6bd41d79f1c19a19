// SPDX-License-Identifier: MIT
// Histogram kernels for samples of any type: 32-bit counters in shared memory, 8-bit counters, atomics to global
// memory, weights.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/histogram.cuh"
#include "warpfold/gpu/histogram/edge_table.cuh"
#include "warpfold/gpu/histogram/grid_stride.cuh"
#include "warpfold/gpu/histogram/layout.cuh"
#include "warpfold/gpu/histogram/owned_counters.cuh"
#include "warpfold/gpu/histogram/packed_counters.cuh"

namespace warpfold::detail {

// Counts samples one by one.
template <class In, class Code>
struct count_samples_directly {
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

// The same with a table of the edges.
template <class In, class Code, bool Sparse>
struct count_by_edge_table {
    using edge = std::remove_cvref_t<decltype(*std::declval<Code>().of.bin.edges)>;

    __device__ void one(const element_t<In>& x, unsigned /*channel*/) {
        const element_t<In> samples[1] = {x};
        count(samples);
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned /*channel*/) {
        T samples[16 / sizeof(T)];
        unpack(vector, samples);
        count(samples);
    }
    template <class T, unsigned Count>
    __device__ void count(const T (&samples)[Count]) {
        unsigned at[Count];
        if constexpr (Sparse) {
            table.below_or_at_sparse(samples, at);
        } else {
            table.below_or_at(samples, at);
        }
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            counted.count(at[j] - 1 - first); // at[j] == bins + 1: after the last bin
        }
    }

    block::histogram& counted;
    const edge_table<element_t<In>, edge>& table;
    unsigned first;
};

template <class Kernels, class In, class Count, class Code, class Counter>
__global__ void __launch_bounds__(Kernels::value.block_threads, Kernels::value.resident_blocks)
    histogram_kernel(In in, Count number, Code code, Counter* counts, histogram_layout layout,
                     histogram_control* control) {
    const std::uint64_t n = number.value();
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    detail::load_bins(code.of);
    zero_counts(counts, layout, control);
    const histogram_share share(layout, code.count());
    block::histogram counted(reinterpret_cast<unsigned*>(histogram_shared), share.count, layout.copies, threadIdx.x,
                             blockDim.x);
    counted.clear();
    stage_edges(code.of, layout, histogram_shared);
    __syncthreads();

    const auto go = [&](auto&& take) {
        grid_stride_loop<Code::channels, Kernels::value.vector_loads_in_flight>(in, n, share.thread, share.threads,
                                                                                layout.once, take);
    };
    bool counted_by_table = false;
    if constexpr (stages_edges_v<decltype(code.of)>) {
        using take = count_by_edge_table<In, Code, true>;
        if (layout.cells != 0) {
            const edge_table<element_t<In>, typename take::edge> table(
                reinterpret_cast<unsigned*>(histogram_shared + layout.cells_at), layout.cells, code.of.bin.edges,
                code.of.bin.bins);
            if (table.sparse()) {
                go(take{counted, table, share.first});
            } else {
                go(count_by_edge_table<In, Code, false>{counted, table, share.first});
            }
            counted_by_table = true;
        }
    }
    if (!counted_by_table) {
        with_cheapest_code(code, [&]<class Cheapest>(const Cheapest& cheapest) {
            go(count_samples_directly<In, Cheapest>{counted, cheapest, share.first});
        });
    }

    wait_for_zeroed_counts(layout, control);
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

// Counts samples in 8-bit counters. While all samples of a warp have one bin, as in constant input, in a register.
template <class In, class Code, class Counter>
struct count_packed {
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
                    flush_run();
                    run_bin = leader;
                }
                run += width;
                return;
            }
        }
        counted.add(bins);
    }
    // Adds the run, equally long in all lanes. 32 times its length fits in 32 bits, as the samples of a block do.
    __device__ void flush_run() {
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

template <class Kernels, class In, class Count, class Code, class Counter>
__global__ void __launch_bounds__(Kernels::value.block_threads, Kernels::value.packed_resident_blocks)
    histogram_packed_kernel(In in, Count number, Code code, Counter* counts, histogram_layout layout) {
    const std::uint64_t n = number.value();
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    detail::load_bins(code.of);
    const histogram_share share(layout, code.count());
    packed_counters<Counter> counted(reinterpret_cast<unsigned*>(histogram_shared), share.count, counts + share.first);
    counted.clear();
    stage_edges(code.of, layout, histogram_shared);
    __syncthreads();
    with_cheapest_code(code, [&]<class Cheapest>(const Cheapest& cheapest) {
        count_packed<In, Cheapest, Counter> take{counted, cheapest, share.first};
        grid_stride_loop<Code::channels, Kernels::value.packed_vector_loads_in_flight>(
            in, n, share.thread, share.threads, layout.once, take);
        take.flush_run();
    });
    __syncthreads();
    counted.flush(share.rotation);
}

template <class In, class Code, class Counter>
struct add_to_global {
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

// Adds to global memory: layout.part_codes counters in each of layout.parts passes over the samples, so that they stay
// in the L2 cache. layout.copies counters in shared memory are claimed by the first bins.
template <class Kernels, class In, class Count, class Code, class Counter>
__global__ void __launch_bounds__(Kernels::value.block_threads)
    histogram_direct_kernel(In in, Count number, Code code, Counter* counts, histogram_layout layout) {
    const std::uint64_t n = number.value();
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    detail::load_bins(code.of);
    owned_counters owned(reinterpret_cast<unsigned*>(histogram_shared), layout.copies);
    owned.clear();
    __syncthreads();
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    for (unsigned part = 0; part < layout.parts; ++part) {
        const unsigned first = part * layout.part_codes;
        grid_stride_loop<Code::channels, Kernels::value.vector_loads_in_flight>(
            in, n, thread, threads, layout.once,
            add_to_global<In, Code, Counter>{owned, layout.copies != 0, code, counts, first,
                                             min(layout.part_codes, code.count() - first)});
    }
    __syncthreads();
    owned.flush(counts);
}

// Sums of weights, in shared memory if layout.part_codes is not 0.
template <class Kernels, class In, class Weights, class Count, class Of, class Sum>
__global__ void __launch_bounds__(Kernels::value.block_threads)
    weighted_histogram_kernel(In in, Weights weights, Count number, Of of, Sum* sums, histogram_layout layout,
                              histogram_control* control) {
    const std::uint64_t n = number.value();
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    detail::load_bins(of);
    const auto add = [](Sum* to, const Sum& more) {
        if constexpr (std::is_integral_v<Sum>) {
            add_to_count(to, static_cast<atomic_word_t<Sum>>(more));
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
    wait_for_zeroed_counts(layout, control);
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

// SPDX-License-Identifier: MIT
// What the histogram kernels share: the layout, what is counted, and who clears the counts. If the counters do not fit
// in one block's shared memory, `parts` neighbouring blocks read the same samples and count a part of the bins each;
// the L2 cache serves all but the first.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/bins.hpp"
#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/bins/joint_bins.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/tuning/histogram.hpp"

namespace warpfold::detail {

// Words of the workspace, zero between launches.
struct histogram_control {
    unsigned zeroed; // 1: the counts are cleared
    unsigned seen;   // blocks that have read `zeroed`
};

struct histogram_layout {
    unsigned parts = 1;
    unsigned part_codes = 0; // counters per part
    unsigned copies = 1;     // copies of each counter
    unsigned edges_at = 0;   // byte offset in shared memory of the copied edges; 0: not copied
    unsigned cells_at = 0;   // byte offset in shared memory of the edge table
    unsigned cells = 0;      // words of the edge table
    unsigned zeroed = 0;     // counts that the first block clears
    bool once = false;       // samples are read once: no cache keeps them
};

// check_map() for the functions of all dimensions.
template <class Binner, class S>
struct binner_checks {
    __device__ static void run() { check_map<Binner, S>(); }
};
template <class Binner, class... Binners, class S, class... Samples>
struct binner_checks<joint_bins<Binner, Binners...>, sample_point<S, Samples...>> {
    __device__ static void run() {
        check_map<Binner, S>();
        if constexpr (sizeof...(Binners) != 0) {
            binner_checks<joint_bins<Binners...>, sample_point<Samples...>>::run();
        }
    }
};

// What is counted: bins or, for 8-bit samples, values, whose bins are found at the end.
template <class S, class Of, bool Values>
struct histogram_code {
    static constexpr bool values = Values;
    static constexpr unsigned channels = Of::channels;

    [[nodiscard]] __host__ __device__ unsigned count() const { return Values ? 256 * Of::active : of.bins; }
    [[nodiscard]] __device__ unsigned operator()(const S& x, unsigned channel) const {
        binner_checks<typename Of::binner, S>::run();
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

// Calls f with `code`, or with one that finds the same bins by fewer instructions.
template <class S, class Of, bool Values, class F>
__device__ void with_cheapest_code(const histogram_code<S, Of, Values>& code, F&& f) {
    if constexpr (!Values && requires { code.of.bin.by_one_product(); }) {
        if (code.of.bin.has_one_product()) {
            const auto bin = code.of.bin.by_one_product();
            using cheap = one_channel<std::remove_const_t<decltype(bin)>>;
            f(histogram_code<S, cheap, false>{cheap{bin, code.of.bins}});
            return;
        }
    }
    f(code);
}

template <class Of>
inline constexpr bool stages_edges_v = false;
template <class Binner>
requires with_edges<Binner>
inline constexpr bool stages_edges_v<one_channel<Binner>> = true;

// Copies the edges to shared memory if the layout says so. A barrier follows.
template <class Of>
__device__ void stage_edges(Of& of, const histogram_layout& layout, unsigned char* shared) {
    if constexpr (stages_edges_v<Of>) {
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

// Called by one thread, after a barrier of those that cleared the counts. A single block needs only the barrier.
__device__ inline void publish_zeroed(histogram_control* control) {
    if (gridDim.x != 1) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&control->zeroed)), "r"(1u)
                     : "memory");
    }
}
// In the first block, one warp clears the counts and publishes that, while the others count.
template <class Counter>
__device__ void zero_counts_by_warp(Counter* counts, const histogram_layout& layout, histogram_control* control) {
    if (layout.zeroed == 0 || blockIdx.x != 0) {
        return;
    }
    for (unsigned k = threadIdx.x % 32; k < layout.zeroed; k += 32) {
        counts[k] = Counter{0};
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        publish_zeroed(control);
    }
}
// The same by the whole first block before it reads samples: a fence waits for loads in flight. All threads call it; a
// barrier follows.
template <class Counter>
__device__ void zero_counts(Counter* counts, const histogram_layout& layout, histogram_control* control) {
    if (layout.zeroed == 0 || blockIdx.x != 0) {
        return;
    }
    if (layout.zeroed <= 1024) {
        if (threadIdx.x < 32) {
            zero_counts_by_warp(counts, layout, control);
        }
        return;
    }
    for (unsigned k = threadIdx.x; k < layout.zeroed; k += blockDim.x) {
        counts[k] = Counter{0};
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        publish_zeroed(control);
    }
}
// Waits until the counts are cleared, after the block has counted its samples. All threads call it; thread `who` waits.
// The last block to see it resets the control words. The first block has started before all others and waits for none.
__device__ inline void wait_for_zeroed_counts(const histogram_layout& layout, histogram_control* control,
                                              unsigned who = 0) {
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
    if (waits && atomicAdd(&control->seen, 1u) == gridDim.x - 1) { // the last block
        atomicExch(&control->zeroed, 0u);
        atomicExch(&control->seen, 0u);
    }
}

// The calling thread's number among the threads that read the same samples, and the counters of its block.
struct histogram_share {
    __device__ histogram_share(const histogram_layout& layout, unsigned codes)
        : thread(std::uint64_t{blockIdx.x / layout.parts} * blockDim.x + threadIdx.x),
          threads(std::uint64_t{gridDim.x / layout.parts} * blockDim.x),
          first(blockIdx.x % layout.parts * layout.part_codes),
          count(min(layout.part_codes, codes - first)),
          rotation(
              static_cast<unsigned>(std::uint64_t{blockIdx.x / layout.parts} * count / (gridDim.x / layout.parts))) {}

    std::uint64_t thread, threads;
    unsigned first, count;
    unsigned rotation; // first counter that the block adds to the counts
};

} // namespace warpfold::detail

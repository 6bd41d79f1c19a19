// SPDX-License-Identifier: MIT
// What the kernels of histograms share: how they are laid out, what is counted, and who sets the counts to zero. Where
// the counters do not fit into one block's shared memory, `parts` neighbouring blocks read the same samples, of which
// each counts those of its part; the cache serves all but the first of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/bins.hpp"
#include "warpfold/detail/channels.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/tuning/histogram.hpp"

namespace warpfold::detail {

// Words of a workspace, zero between launches.
struct histogram_control {
    unsigned zeroed; // the counts have been set to zero
    unsigned seen;   // so many blocks know it
};

struct histogram_layout {
    unsigned parts = 1;
    unsigned part_codes = 0; // counters of a part
    unsigned copies = 1;     // of each of them
    unsigned edges_at = 0;   // where in shared memory the bins' edges go, in bytes; 0: they stay where they are
    unsigned cells_at = 0;   // where a table of what edges are near a sample goes,
    unsigned cells = 0;      // and how many words it has
    unsigned zeroed = 0;     // so many counts the first block sets to zero
    bool once = false;       // nobody reads the samples again
};

// What is counted: bins, or, of samples of 8 bits, their values, whose bins are found when counting is through.
template <class S, class Of, bool Values>
struct histogram_code {
    static constexpr bool values = Values;
    static constexpr unsigned channels = Of::channels;

    [[nodiscard]] __host__ __device__ unsigned count() const { return Values ? 256 * Of::active : of.bins; }
    [[nodiscard]] __device__ unsigned operator()(const S& x, unsigned channel) const {
        check_map<typename Of::binner, S>();
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
inline constexpr bool stages_edges_v = false;
template <class Binner>
requires with_edges<Binner>
inline constexpr bool stages_edges_v<one_channel<Binner>> = true;

// Copies the bins' edges to shared memory, where there is room. A barrier has to follow.
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

// By one thread, behind a meeting of those that have set the counts to zero; to a block that is alone a barrier says
// it.
__device__ inline void publish_zeroed(histogram_control* control) {
    if (gridDim.x != 1) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&control->zeroed)), "r"(1u)
                     : "memory");
    }
}
// Of the first block a warp sets the counts to zero and says so, while the others count.
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
// The same by the whole first block, before it reads samples: a fence waits long where loads are under way. All of its
// threads call it, and meet at a barrier behind.
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
// Waits until the counts are zero, for all threads of the block, which have counted their samples by then.
// The last block to know leaves the words zero. Blocks start in the order of their index: the first runs by now, and
// waits for nobody. Thread `who` does it.
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
          first(blockIdx.x % layout.parts * layout.part_codes),
          count(min(layout.part_codes, codes - first)),
          rotation(
              static_cast<unsigned>(std::uint64_t{blockIdx.x / layout.parts} * count / (gridDim.x / layout.parts))) {}

    std::uint64_t thread, threads;
    unsigned first, count;
    unsigned rotation; // where to begin when the counters are added up
};

} // namespace warpfold::detail

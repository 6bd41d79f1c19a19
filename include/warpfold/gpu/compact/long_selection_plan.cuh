// SPDX-License-Identifier: MIT
// Which selections from long arrays have a kernel of their own on a GPU (long_selection.cuh), and their tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/selection.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/persistent_block.cuh"
#include "warpfold/tuning/compact.hpp"

namespace warpfold::detail {

template <class In>
inline constexpr bool in_vectors_v = false;
template <class T>
inline constexpr bool in_vectors_v<const T*> = sizeof(T) <= 16 && 16 % sizeof(T) == 0;

// Whether the kernel is for this task: arrays that are read in vectors of 16 bytes.
template <class Task>
inline constexpr bool has_long_selection_v = false;
template <class In, class Out, class Rejected, class Test>
inline constexpr bool has_long_selection_v<selection<In, Out, Rejected, Test>> =
    in_vectors_v<In>&& compact_layout<selection<In, Out, Rejected, Test>>::bytes <= 4 * sizeof(element_t<In>);
template <class In, class Out, class Rejected, class Stencil, class Predicate>
inline constexpr bool has_long_selection_v<selection<In, Out, Rejected, stencil_test<Stencil, Predicate>>> =
    in_vectors_v<Stencil>&& has_long_selection_v<selection<In, Out, Rejected, element_test<Predicate>>>;

// What a test reads. elements_at: bytes in front of a warp's elements in shared memory, for the element before them.
template <class Test, class T>
struct long_test {
    using S = T;
    static constexpr bool has_stencil = false;
    static constexpr unsigned elements_at = 0;
};
template <class Equal, class T>
struct long_test<run_head_test<Equal>, T> : long_test<void, T> {
    static constexpr unsigned elements_at = 16;
};
template <class Stencil, class Predicate, class T>
struct long_test<stencil_test<Stencil, Predicate>, T> {
    using S = element_t<Stencil>;
    static constexpr bool has_stencil = true;
    static constexpr unsigned elements_at = 0;
};

template <class Task, class Plan>
class long_selection_part;

template <class Kernels, class Task, class Count, class Place>
struct long_selection_plan {
    using task_type = Task;
    using layout = compact_layout<Task>;
    using test_type = long_test<decltype(Task::test), typename layout::T>;
    using local_type = unsigned;
    using total_type = std::uint64_t;
    struct widen_type {
        __device__ std::uint64_t operator()(unsigned total, unsigned /*tile*/) const { return total; }
    };
    using part_type = long_selection_part<Task, long_selection_plan>;
    using ring_type = tile_ring<total_type, local_type>;
    using prefix_type = all_tiles_prefix<unsigned>; // of ranges

    static constexpr tuning::persistent_tiles kernels = Kernels::value.persistent;
    static constexpr unsigned threads = kernels.block_threads, warps = threads / warp::lanes;
    static constexpr unsigned stages = kernels.stages, ahead = 1, resident_blocks = kernels.resident_blocks;
    static constexpr bool has_first = false;
    static constexpr unsigned run = 16 / sizeof(typename layout::T);
    static constexpr std::size_t read_bytes = // of an element
        sizeof(typename layout::T) + (test_type::has_stencil ? sizeof(typename test_type::S) : 0);
    static constexpr unsigned element_bytes = std::max(layout::bytes, read_bytes); // in shared memory
    static constexpr unsigned rows = std::max(1u, kernels.bytes_per_thread / (run * element_bytes));
    static constexpr unsigned of_warp = warp::lanes * rows * run, tile = of_warp * warps; // elements
    static constexpr unsigned stencil_at = test_type::elements_at + of_warp * sizeof(typename layout::T);
    static constexpr unsigned warp_bytes =
        std::max<unsigned>(stencil_at + (test_type::has_stencil ? of_warp * sizeof(typename test_type::S) : 0),
                           of_warp* layout::bytes + 16);
    static constexpr unsigned stage_bytes = (warp_bytes + 15) / 16 * 16 * warps;
    static constexpr std::size_t shared = std::size_t{stage_bytes} * stages;

    // Selections only: what is rejected would have to be kept, too.
    static constexpr bool has_ranges = !Task::has_rejected;
    static constexpr unsigned range_rows = std::max(1u, kernels.bytes_per_thread / 32); // of 16 bytes, of a lane

    static std::uint64_t tiles_of(std::uint64_t n, unsigned shift = run - 1) { return (n + shift + tile - 1) / tile; }
    // Of the ring for so many tiles on the current device.
    static unsigned slots_of(std::uint64_t tiles) {
        return ring_type::slots_of(tiles, stages + 1, ahead,
                                   resident_blocks * device_attribute<cudaDevAttrMultiProcessorCount>());
    }
    // Of a block: what its tiles take or, in ranges, all that is there.
    static std::size_t shared_bytes(const kernel_properties& facts) {
        if (!has_ranges || facts.has_fallback_shared) {
            return facts.has_fallback_shared ? stage_bytes : shared;
        }
        return detail::all_shared_bytes(facts, shared);
    }
    // Of a warp, for what it keeps; a part of its range fits.
    static unsigned kept_bytes_of(const kernel_properties& facts, unsigned most) {
        const auto all = static_cast<unsigned>(shared_bytes(facts) / warps / 16 * 16);
        return std::max(std::min(all, most / 16 * 16), warp::lanes * range_rows * 16 + 16);
    }
    static std::size_t workspace_bytes(unsigned slots) {
        return std::max(ring_type::bytes(slots), prefix_type::bytes(prefix_type::most_tiles, false));
    }

    [[nodiscard]] __device__ static add_counts op() { return {}; }
    [[nodiscard]] __device__ static no_initial first() { return {}; }

    Task task;
    Count count;
    Place place; // of the number of results
    persistent_grid grid;
    unsigned shift; // so many elements before the input it is aligned to a run
    // Ranges for so many elements, and where by a sample up to so many are selected.
    std::uint64_t most_kept, most_sampled;
    unsigned kept_bytes; // of shared memory, of a warp
};

} // namespace warpfold::detail

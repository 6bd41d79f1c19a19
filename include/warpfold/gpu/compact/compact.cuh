// SPDX-License-Identifier: MIT
// Compactions and reductions by key on a GPU: the launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/gpu/compact/kernel.cuh"
#include "warpfold/gpu/compact/keyed_fold.cuh"
#include "warpfold/gpu/compact/keyed_ranges.cuh"
#include "warpfold/gpu/compact/long_selection.cuh"
#include "warpfold/gpu/compact/run_lengths.cuh"
#include "warpfold/gpu/compact/selection.cuh"

namespace warpfold::detail {

// Whether the kernel of ranges is for this task: arrays that are read in vectors of 16 bytes.
template <class Task>
inline constexpr bool has_keyed_ranges_v = false;
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
inline constexpr bool has_keyed_ranges_v<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>> =
    in_vectors_v<Keys> && (in_vectors_v<Values> || std::is_same_v<Values, all_ones>)&&sizeof(A) <= 16;

// Whether so many have the kernel of ranges.
template <class Plan, class Policy>
bool in_ranges(const Policy& policy, std::uint64_t n) {
    return n >= (Plan::has_values ? policy.ranges_min_bytes : policy.ranges_min_key_bytes) / Plan::read_bytes;
}

// Bytes of workspace that are enough for any such task of up to n elements.
template <class Task, class Policy>
std::size_t compact_workspace_bytes(const Policy& policy, std::uint64_t n) {
    using Layout = compact_layout<Task>;
    using Short = compact_plan<kernels_of<Policy>, Task, known_count, std::uint64_t*, tile_range::of_short>;
    using Few = compact_plan<kernels_of<Policy>, Task, known_count, std::uint64_t*, tile_range::few>;
    using Huge = compact_plan<kernels_of<Policy>, Task, known_count, std::uint64_t*, tile_range::huge>;
    const std::uint64_t tiles = Huge::shape::tiles_of(n);
    std::size_t bytes =
        std::max(Few::prefix_bytes(tiles),
                 Short::prefix_bytes(std::min<std::uint64_t>(Short::shape::tiles_of(n), policy.short_max_tiles)));
    if (tiles > Few::most_tiles) {
        bytes = std::max(bytes, Huge::prefix_bytes(tiles));
    }
    if constexpr (has_long_selection_v<Task>) {
        // With the largest stencil.
        if (n >= std::min(policy.persistent_min_bytes, policy.kept_min_bytes) / (sizeof(typename Layout::T) + 16)) {
            using Plan = long_selection_plan<kernels_of<Policy>, Task, known_count, std::uint64_t*>;
            bytes = std::max(bytes, Plan::workspace_bytes(Plan::slots_of(~std::uint64_t{0}))); // for any tiles
        }
    }
    if constexpr (has_keyed_ranges_v<Task>) {
        using Plan = keyed_ranges_plan<kernels_of<Policy>, Task, known_count, std::uint64_t*>;
        if (Plan::fits && detail::in_ranges<Plan>(policy, n)) {
            bytes = std::max(bytes, Plan::exchange_bytes);
        }
    }
    return (bytes + 15) / 16 * 16 + sizeof(std::uint64_t);
}

template <gpu_target On>
struct compact_engine<On> {
    using policy = policy_t<tuning::compact_policy<>, On>;

    template <class Task, class Count>
    static std::uint64_t value(const On& on, const Task& task, const Count& count, const char* call) {
        std::uint64_t number = 0;
        launch(on, task, count, static_cast<std::uint64_t*>(nullptr), &number, call);
        return number;
    }
    template <class Task, class Count, class Place>
    static void into(const On& on, const Task& task, const Count& count, const Place& place, const char* call) {
        launch(on, task, count, place, nullptr, call);
    }

private:
    // Writes the number of results to *place or, if `got` is not null, to *got.
    template <class Task, class Count, class Place>
    static void launch(const On& on, const Task& task, const Count& count, const Place& place, std::uint64_t* got,
                       const char* call) {
        const call_device scope;
        if constexpr (has_long_selection_v<Task>) {
            using Plan = long_selection_plan<kernels_of<policy>, Task, Count, Place>;
            const unsigned shift = shift_of<Plan::run>(task.in);
            const auto& chosen = detail::policy_of<tuning::compact_policy<>>(on);
            const std::uint64_t bytes = count.most * Plan::read_bytes;
            if (bytes >= std::min(chosen.persistent_min_bytes, chosen.kept_min_bytes) && is_aligned(task.in, shift) &&
                is_test_aligned(task.test, shift)) {
                const kernel_properties facts = persistent_properties<&long_selection_kernel<Plan>, Plan>();
                Plan plan{task, count, place, {}, shift, 0, 0, Plan::kept_bytes_of(facts, chosen.kept_warp_bytes)};
                constexpr std::size_t element = sizeof(typename Plan::layout::T);
                if (Plan::has_ranges && !task.is_in_place() && count.most >> 32 == 0 &&
                    (element == 1 ? bytes / 2 : bytes) >= chosen.kept_min_bytes) {
                    const std::uint64_t kept =
                        std::uint64_t{plan.kept_bytes} * Plan::warps * facts.resident_blocks / element;
                    plan.most_kept = kept * chosen.kept_percent / 100;
                    plan.most_sampled = kept * chosen.sampled_percent / 100;
                }
                if (bytes >= chosen.persistent_min_bytes || count.most <= plan.most_kept) {
                    launch_long(on, plan, facts, got, call);
                    return;
                }
            }
        }
        if constexpr (has_keyed_ranges_v<Task>) {
            using Plan = keyed_ranges_plan<kernels_of<policy>, Task, Count, Place>;
            if constexpr (Plan::fits) {
                const unsigned shift = shift_of<Plan::run>(task.keys);
                if (detail::in_ranges<Plan>(detail::policy_of<tuning::compact_policy<>>(on), count.most) &&
                    is_aligned(task.keys, shift) && are_values_aligned(task.values, shift)) {
                    launch_ranges<Plan>(on, task, count, place, shift, got, call);
                    return;
                }
            }
        }
        using Short = compact_plan<kernels_of<policy>, Task, Count, Place, tile_range::of_short>;
        using Few = compact_plan<kernels_of<policy>, Task, Count, Place, tile_range::few>;
        using Many = compact_plan<kernels_of<policy>, Task, Count, Place, tile_range::many>;
        using Huge = compact_plan<kernels_of<policy>, Task, Count, Place, tile_range::huge>;
        if constexpr (Short::shape::tile < Many::shape::tile) {
            if (Short::shape::tiles_of(count.most) <= detail::policy_of<tuning::compact_policy<>>(on).short_max_tiles) {
                launch_tiles<Short>(on, task, count, place, got, call);
                return;
            }
        }
        if (Few::shape::tiles_of(count.most) <= Few::most_tiles) {
            launch_tiles<Few>(on, task, count, place, got, call);
        } else if (count.most >> 31 == 0) {
            launch_tiles<Many>(on, task, count, place, got, call);
        } else {
            launch_tiles<Huge>(on, task, count, place, got, call);
        }
    }
    template <class Plan, class Task, class Count, class Place>
    static void launch_tiles(const On& on, const Task& task, const Count& count, const Place& place, std::uint64_t* got,
                             const char* call) {
        using Layout = typename Plan::layout;
        using Shape = typename Plan::shape;
        const unsigned shift = shift_of<Shape::vector>(Layout::first_input(task));
        const unsigned tiles = checked_tiles(Shape::tiles_of(count.most, shift), call);
        const call_memory memory(on, Plan::prefix_bytes(tiles), got != nullptr ? sizeof(std::uint64_t) : 0, call);
        const unsigned ahead = device_attribute<cudaDevAttrMultiProcessorCount>() * Plan::least_blocks;
        Plan plan{task, count, place, memory.slots(), ahead, shift, task.is_in_place()};
        place_number(plan, memory, got);
        pdl_launch(properties_of<&compact_kernel<Plan>>(), &compact_kernel<Plan>, tiles, Shape::threads, 0, on.stream,
                   plan);
        fetch_number(on, memory, got);
    }
    template <class Plan>
    static void launch_long(const On& on, Plan& plan, const kernel_properties& facts, std::uint64_t* got,
                            const char* call) {
        const unsigned tiles = checked_tiles(Plan::tiles_of(plan.count.most, plan.shift), call);
        const unsigned slots = Plan::slots_of(tiles);
        const call_memory memory(on, Plan::workspace_bytes(slots), got != nullptr ? sizeof(std::uint64_t) : 0, call);
        plan.grid = detail::grid_of<Plan>(facts, memory.slots(), slots, plan.task.is_in_place());
        place_number(plan, memory, got);
        launch_persistent_blocks<&long_selection_kernel<Plan>>(facts, tiles, on.stream, plan);
        fetch_number(on, memory, got);
    }

    template <class Plan, class Task, class Count, class Place>
    static void launch_ranges(const On& on, const Task& task, const Count& count, const Place& place, unsigned shift,
                              std::uint64_t* got, const char* call) {
        constexpr auto kernel = &keyed_ranges_kernel<Plan>;
        const kernel_properties facts = persistent_properties<kernel, Plan>();
        const unsigned warps = detail::threads_of<Plan>(facts) / warp::lanes;
        const unsigned blocks = Plan::blocks_of(Plan::tiles_of(count.most, shift), warps, Plan::most_blocks);
        const call_memory memory(on, Plan::exchange_bytes, got != nullptr ? sizeof(std::uint64_t) : 0, call);
        const std::size_t room = std::min<std::size_t>(Plan::shared_bytes(facts) / warps - Plan::warp_bytes,
                                                       detail::policy_of<tuning::compact_policy<>>(on).kept_warp_bytes);
        const auto kept = static_cast<unsigned>(room / 16 * 4);
        Plan plan{task, count, place, memory.slots(), shift, kept};
        place_number(plan, memory, got);
        launch_persistent_blocks<kernel>(facts, blocks, on.stream, plan);
        fetch_number(on, memory, got);
    }

    // Where the kernel writes the number of results that the call returns, and its way back.
    template <class Plan>
    static void place_number(Plan& plan, const call_memory& memory, const std::uint64_t* got) {
        if constexpr (std::is_same_v<decltype(plan.place), std::uint64_t*>) {
            if (got != nullptr) {
                plan.place = static_cast<std::uint64_t*>(memory.data());
            }
        }
    }
    static void fetch_number(const On& on, const call_memory& memory, std::uint64_t* got) {
        if (got != nullptr) {
            WARPFOLD_CHECK_CUDA(
                cudaMemcpyAsync(got, memory.data(), sizeof(std::uint64_t), cudaMemcpyDeviceToHost, on.stream));
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        }
    }

    // Whether vectors of 16 bytes from `shift` elements before an array on are aligned.
    template <class T>
    static bool is_aligned(const T* in, unsigned shift) {
        return (reinterpret_cast<std::uintptr_t>(in) - shift * sizeof(T)) % 16 == 0;
    }
    template <class Values>
    static bool are_values_aligned(const Values& values, unsigned shift) {
        if constexpr (std::is_pointer_v<Values>) {
            return is_aligned(values, shift);
        }
        return true;
    }
    template <class Test>
    static bool is_test_aligned(const Test& test, unsigned shift) {
        if constexpr (is_stencil_test_v<Test>) {
            return is_aligned(test.stencil, shift);
        }
        return true;
    }
    // How many elements before `in` an address is aligned to a run.
    template <unsigned Run, class In>
    static unsigned shift_of(const In& in) {
        if constexpr (std::is_pointer_v<In>) {
            const auto address = reinterpret_cast<std::uintptr_t>(in);
            return address % sizeof(*in) == 0 ? static_cast<unsigned>(address / sizeof(*in) % Run) : 0;
        }
        return 0;
    }
};

} // namespace warpfold::detail

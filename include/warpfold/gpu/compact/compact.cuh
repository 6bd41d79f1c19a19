// SPDX-License-Identifier: MIT
// Compactions and reductions by key on a GPU: the launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/compact/kernel.cuh"
#include "warpfold/gpu/compact/keyed_fold.cuh"
#include "warpfold/gpu/compact/run_lengths.cuh"
#include "warpfold/gpu/compact/selection.cuh"

namespace warpfold::detail {

template <class Policy, class Layout>
using compact_shape_of = compact_shape<kernels_of<Policy>, Layout>;

// Bytes of workspace that are enough for any such task of up to n elements.
template <class Policy, class Layout>
std::size_t compact_workspace_bytes(std::uint64_t n) {
    using Prefix = grouped_prefix<typename Layout::total_type, false>;
    return (Prefix::bytes(compact_shape_of<Policy, Layout>::tiles_of(n)) + 15) / 16 * 16 + sizeof(std::uint64_t);
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
        using Plan = compact_plan<kernels_of<policy>, Task, Count, Place>;
        using Layout = typename Plan::layout;
        using Shape = typename Plan::shape;
        const unsigned shift = shift_of<Shape::run>(Layout::first_input(task));
        const std::uint64_t tiles = Shape::tiles_of(count.most, shift);
        if (tiles > 0x7fffffffu) {
            throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has blocks for");
        }
        const call_memory memory(on, grouped_prefix<typename Layout::total_type, false>::bytes(tiles),
                                 got != nullptr ? sizeof(std::uint64_t) : 0, call);
        const unsigned ahead = device_attribute<cudaDevAttrMultiProcessorCount>() * Plan::least_blocks;
        Plan plan{task, count, place, memory.slots(), ahead, shift, task.is_in_place()};
        if constexpr (std::is_same_v<Place, std::uint64_t*>) {
            if (got != nullptr) {
                plan.place = static_cast<std::uint64_t*>(memory.data());
            }
        }
        pdl_launch(properties_of<&compact_kernel<Plan>>(), &compact_kernel<Plan>, static_cast<unsigned>(tiles),
                   Shape::threads, 0, on.stream, plan);
        if (got != nullptr) {
            WARPFOLD_CHECK_CUDA(
                cudaMemcpyAsync(got, memory.data(), sizeof(std::uint64_t), cudaMemcpyDeviceToHost, on.stream));
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        }
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

// SPDX-License-Identifier: MIT
// Exact sums along axes on a GPU. A block sums the elements of one result at a time. If results have many elements, or
// there are few results, each is a call of exact_sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/exact_sum.cuh"
#include "warpfold/tuning/exact_sum.hpp"

namespace warpfold::detail {

// Elements of one result, as an array.
template <class T>
struct axis_elements {
    __device__ const T& operator[](std::uint64_t k) const { return from[reduced.at(k).in]; }

    const T* from;
    axis_indices reduced;
};

// The terms of a block alone, in the form of terms.cuh: element by element.
template <class T, class Read>
struct block_terms {
    static constexpr unsigned width = 8, count = width;

    __device__ block_terms(const Read& read_, std::uint64_t n_)
        : read(read_), n(n_), first(threadIdx.x - threadIdx.x % warp::lanes) {}

    __device__ bool done() const { return first >= n; }

    __device__ T number(unsigned, unsigned j) const {
        const std::uint64_t k = first + threadIdx.x % warp::lanes + j * blockDim.x;
        return k < n ? read(k) : T(0);
    }
    template <class To>
    __device__ void feed(To& to) {
        while (!done()) {
            T x[1][count];
#pragma unroll
            for (unsigned j = 0; j < count; ++j) {
                x[0][j] = number(0, j);
            }
            if (!to.template add<width>(x)) {
                return;
            }
            first += width * blockDim.x;
        }
    }

    Read read;
    std::uint64_t n, first;
};

template <class Kernels, class R>
__global__ void __launch_bounds__(exact_threads<Kernels::value.max_block_threads, computed_t<R>, 1>,
                                  Kernels::value.resident_blocks)
    exact_axes_kernel(const R* in, R* out, std::uint64_t results, std::uint64_t length, axis_indices kept,
                      axis_indices reduced) {
    using T = computed_t<R>;
    constexpr unsigned levels = window_parameters<T, 1>::levels;
    __shared__ block_accumulator<T, 1> outliers;
    __shared__ sum_storage<levels> storage;

    pdl_trigger();
    pdl_wait();
    for (std::uint64_t which = blockIdx.x; which < results; which += gridDim.x) {
        const axis_place at = kept.at(which);
        const R* const from = in + at.in;
        const auto read = [&](std::uint64_t k) { return static_cast<T>(from[reduced.at(k).in]); };
        const bool remaining = detail::add_terms(&outliers, &storage, block_terms<T, decltype(read)>(read, length));
        const level_sums<levels> sums = sum_of_block(storage);
        if (threadIdx.x == 0) {
            const auto halves = in_halves<T, 1>(sums);
            out[at.role] =
                remaining && outliers.touched != 0 ? rounded_sums<R>(halves, outliers) : rounded_sums<R, T, 1>(halves);
        }
        __syncthreads();
    }
}

template <gpu_target On>
struct axis_exact_engine<On> {
    using policy = policy_t<tuning::exact_sum_policy<>, On>;

    template <class R>
    static void into(const On& on, const R* in, const axis_plan& plan, R* out, const char* call) {
        using T = computed_t<R>;
        constexpr std::uint64_t long_elements = std::uint64_t{1} << 18, elements_of_few = std::uint64_t{1} << 14;
        constexpr std::uint64_t few = 32; // results
        const std::uint64_t results = plan.kept.size, length = plan.reduced.size;
        if (length >= long_elements || (length >= elements_of_few && results <= few)) {
            for (std::uint64_t which = 0; which < results; ++which) {
                const auto at = plan.kept.of(which);
                const R* const from = in + at.in;
                const auto sum = [&](const auto& elements) {
                    exact_engine<On>::template into<T, R>(on, length, out + at.role, call,
                                                          detail::converted<T>(elements));
                };
                if (plan.reduced.count == 1 && plan.reduced.at[0].in == 1) {
                    sum(from + plan.reduced.in_begin);
                } else {
                    sum(axis_elements<R>{from, axis_indices(plan.reduced)});
                }
            }
            return;
        }
        constexpr unsigned most_threads = exact_threads<policy::kernels.max_block_threads, T, 1>;
        constexpr std::uint64_t blocks_of_grid = 1u << 20;
        const std::uint64_t threads = std::clamp<std::uint64_t>((length / 8 + 31) / 32 * 32, 32, most_threads);
        constexpr auto kernel = &exact_axes_kernel<kernels_of<policy>, R>;
        pdl_launch(properties_of<kernel>(), kernel, static_cast<unsigned>(std::min(results, blocks_of_grid)),
                   static_cast<unsigned>(threads), 0, on.stream, in, out, results, length, axis_indices(plan.kept),
                   axis_indices(plan.reduced));
    }
};

} // namespace warpfold::detail

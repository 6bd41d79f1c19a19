// SPDX-License-Identifier: MIT
// Results of exact sums and sums of squares on a GPU (detail/exact/exact_finish.hpp): one launch for each sum that the result
// needs, which adds to limbs in global memory, and one block that computes the result from the limbs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_complex.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/gpu/exact_sum/exact_sum.cuh"
#include "warpfold/tuning/exact_sum.hpp"

namespace warpfold::detail {

// In global memory, zero between calls: the block that computes the result leaves it so.
template <class T>
struct exact_finish_memory {
    exact_limbs<T, 1> sum[2]; // of each part of complex numbers
    exact_limbs<T, 2> squares;
};

inline constexpr unsigned exact_finish_threads = 128;

template <class T, class Count, class Finish, class Out>
__global__ void __launch_bounds__(exact_finish_threads)
    exact_finish_kernel(exact_finish_memory<T>* memory, Count count, Finish finish, Out out) {
    using totals = exact_totals<T>;
    __shared__ std::int64_t sum[Finish::sums != 0 ? Finish::sums * totals::sum_limbs : 1];
    __shared__ std::int64_t squares[totals::square_limbs + totals::more_limbs];
    unsigned sum_met = 0;
    if constexpr (Finish::sums != 0) {
        for (unsigned part = 0; part < Finish::sums; ++part) {
            for (unsigned k = threadIdx.x; k < totals::sum_limbs; k += exact_finish_threads) {
                sum[part * totals::sum_limbs + k] = memory->sum[part].limb[k];
            }
            sum_met |= static_cast<unsigned>(memory->sum[part].met);
        }
    }
    if constexpr (Finish::squares) {
        for (unsigned k = threadIdx.x; k < totals::square_limbs; k += exact_finish_threads) {
            squares[k] = memory->squares.limb[k];
        }
    }
    const auto squares_met = static_cast<unsigned>(memory->squares.met);
    __syncthreads();
    static_assert(sizeof(*memory) % sizeof(long long) == 0);
    for (unsigned k = threadIdx.x; k < sizeof(*memory) / sizeof(long long); k += exact_finish_threads) {
        reinterpret_cast<long long*>(memory)[k] = 0;
    }
    if (threadIdx.x == 0) {
        const totals all{sum, squares, sum_met, squares_met};
        *out = detail::finish_of(finish, count.value())(all);
    }
}

template <gpu_target On>
struct exact_finish_engine<On> {
    using policy = policy_t<tuning::exact_sum_policy<>, On>;

    template <class T, class In, class N, class Finish>
    static typename Finish::result value(const On& on, const In& in, const N& n, const Finish& finish,
                                         const char* call) {
        using R = typename Finish::result;
        const call_memory memory(on, sizeof(exact_finish_memory<T>), sizeof(R), call);
        R* const out = static_cast<R*>(memory.data());
        run(on, in, n, static_cast<exact_finish_memory<T>*>(memory.slots()), out, finish, call);
        R got;
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(&got, out, sizeof(R), cudaMemcpyDeviceToHost, on.stream));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        return got;
    }
    template <class T, class In, class N, class Out, class Finish>
    static void into(const On& on, const In& in, const N& n, const Out& out, const Finish& finish, const char* call) {
        detail::check_array(out, 1, call);
        const call_memory memory(on, sizeof(exact_finish_memory<T>), 0, call);
        run(on, in, n, static_cast<exact_finish_memory<T>*>(memory.slots()), out, finish, call);
    }

private:
    template <class T, class In, class N, class Out, class Finish>
    static void run(const On& on, const In& in, const N& n, exact_finish_memory<T>* memory, const Out& out,
                    const Finish& finish, const char* call) {
        if constexpr (Finish::sums != 0) {
            for (unsigned part = 0; part < Finish::sums; ++part) {
                add<T>(on, n, call, &memory->sum[part], detail::part_of_elements<T, Finish::parts>(in, part));
            }
        }
        if constexpr (Finish::squares) {
            const auto numbers = detail::all_parts<T, Finish::parts>(in);
            add<T>(on, detail::multiplied<Finish::parts>(n), call, &memory->squares, numbers, numbers);
        }
        exact_finish_kernel<T>
            <<<1, exact_finish_threads, 0, on.stream>>>(memory, detail::checked_count(n, call), finish, out);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
    template <class T, class N, class... Ins>
    static void add(const On& on, const N& n, const char* call, exact_limbs<T, sizeof...(Ins)>* to, const Ins&... ins) {
        const auto count = detail::checked_count(n, call);
        if (count.most != 0) {
            const exact_shape shape =
                shape_of_exact<T, sizeof...(Ins)>(policy_of<tuning::exact_sum_policy<>>(on), count.most);
            exact_add_kernel<kernels_of<policy>, T><<<shape.blocks, shape.threads, 0, on.stream>>>(count, to, ins...);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }
};

} // namespace warpfold::detail

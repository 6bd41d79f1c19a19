// SPDX-License-Identifier: MIT
// Exact sums over ranks of NCCL, added and rounded on the devices.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/ranks/exact_sum.hpp"
#include "warpfold/ranks/nccl/frames.cuh"

namespace warpfold {

class nccl_communicator;

namespace detail {

// Carries, and writes the rank's frame.
template <class T, unsigned Factors>
__global__ void frame_of_limbs_kernel(const exact_limbs<T, Factors>* of, rank_frame head, rank_frame* mine) {
    carried_limbs<T, Factors> record{};
    std::int64_t carry = 0;
    for (unsigned k = 0; k + 1 < record.limbs; ++k) {
        const std::int64_t limb = of->limb[k], low = (limb & 0xffffffff) + carry;
        record.low[k] = static_cast<std::uint32_t>(low & 0xffffffff);
        carry = (limb >> 32) + (low >> 32);
    }
    record.highest = of->limb[record.limbs - 1] + carry;
    record.met = static_cast<std::uint32_t>(of->met);
    *mine = head;
    *reinterpret_cast<carried_limbs<T, Factors>*>(mine->values) = record;
}

template <class T, unsigned Factors>
struct round_sum_of_frames {
    __device__ T operator()(const rank_frame* frames, int ranks) const {
        constexpr unsigned limbs = exact_layout<T, Factors>::limbs;
        __shared__ std::int64_t sum[limbs];
        const auto of = [&](int r) -> const carried_limbs<T, Factors>& {
            return *reinterpret_cast<const carried_limbs<T, Factors>*>(frames[r].values);
        };
        for (unsigned k = threadIdx.x; k < limbs; k += fold_frames_threads) {
            std::int64_t total = 0;
            for (int r = 0; r < ranks; ++r) {
                total += k + 1 == limbs ? of(r).highest : static_cast<std::int64_t>(of(r).low[k]);
            }
            sum[k] = total;
        }
        __syncthreads();
        if (threadIdx.x != 0) {
            return T{};
        }
        unsigned met = 0;
        for (int r = 0; r < ranks; ++r) {
            met |= of(r).met;
        }
        return rounded<T>(sum, limbs, exact_layout<T, Factors>::lowest, met);
    }
};

template <gpu_target On>
struct exact_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;
    using staged = staged_exact<On, nccl_communicator>;

    template <class T, class... Ins>
    static constexpr bool fits = sizeof(carried_limbs<T, sizeof...(Ins)>) <= rank_frame::room;

    template <class T, class... Ins>
    static T value(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        if constexpr (!fits<T, Ins...>) {
            return staged::template value<T>(on, n, call, ins...);
        } else {
            return call_frame<target>::run(on, call, [&] {
                return detail::fold_waiting<T>(on, writer<T>(on, n, call, ins...),
                                               round_sum_of_frames<T, sizeof...(Ins)>{}, false, call);
            });
        }
    }
    template <class T, class Out, class... Ins>
    static void into(const target& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        if constexpr (!fits<T, Ins...>) {
            staged::template into<T>(on, n, out, call, ins...);
        } else {
            call_frame<target>::run(on, call, [&] {
                if (on.has_result()) {
                    detail::check_array(out, 1, call);
                }
                detail::fold_enqueued(on, writer<T>(on, n, call, ins...), round_sum_of_frames<T, sizeof...(Ins)>{},
                                      on.has_result() ? out : nullptr, nullptr, call);
            });
        }
    }

private:
    template <class T, class... Ins>
    static auto writer(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        detail::check_root(on, call);
        return [&on, n, call, ins...](rank_frame* mine) {
            using record = carried_limbs<T, sizeof...(Ins)>;
            const gpu own{on.on.stream, nullptr};
            const call_memory memory(own, 0, sizeof(exact_limbs<T, sizeof...(Ins)>), call);
            auto* const limbs = static_cast<exact_limbs<T, sizeof...(Ins)>*>(memory.data());
            rank_target<On>::template enqueue_exact<T>(on.on, limbs, n, ins...);
            frame_of_limbs_kernel<<<1, 1, 0, on.on.stream>>>(
                limbs, detail::frame_of(detail::signature_of<T, record>(call, on.root), n, sizeof(record)), mine);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        };
    }
};

} // namespace detail
} // namespace warpfold

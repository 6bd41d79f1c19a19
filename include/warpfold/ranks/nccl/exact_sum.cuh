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

// The frame of a sum in device memory: carries, and leaves the limbs zero.
template <class T, unsigned Factors>
struct frame_of_limbs {
    using record_type = carried_limbs<T, Factors>;

    // By a whole block; the frame is in its shared memory.
    __device__ const rank_frame* operator()() const {
        constexpr unsigned limbs = record_type::limbs, words = sizeof(rank_frame) / 4;
        static_assert(sizeof(rank_frame) % 4 == 0);
        __shared__ std::int64_t limb[limbs];
        __shared__ alignas(32) std::uint32_t memory[words];
        for (unsigned k = threadIdx.x; k < limbs; k += blockDim.x) {
            limb[k] = of->limb[k];
            of->limb[k] = 0;
        }
        for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
            memory[k] = reinterpret_cast<const std::uint32_t*>(&head)[k];
        }
        __syncthreads();
        auto* const frame = reinterpret_cast<rank_frame*>(memory);
        if (threadIdx.x == 0) {
            auto& record = *reinterpret_cast<record_type*>(frame->values);
            std::int64_t carry = 0;
#pragma unroll 8
            for (unsigned k = 0; k + 1 < limbs; ++k) {
                const std::int64_t low = (limb[k] & 0xffffffff) + carry;
                record.low[k] = static_cast<std::uint32_t>(low & 0xffffffff);
                carry = (limb[k] >> 32) + (low >> 32);
            }
            record.highest = limb[limbs - 1] + carry;
            record.met = static_cast<std::uint32_t>(of->met);
            of->met = 0;
        }
        __syncthreads();
        return frame;
    }

    exact_limbs<T, Factors>* of;
    rank_frame head;
};

template <class Source>
__global__ void __launch_bounds__(fold_frames_threads) write_source_kernel(Source source, rank_frame* mine) {
    const auto* const from = reinterpret_cast<const std::uint32_t*>(source());
    for (unsigned k = threadIdx.x; k < sizeof(rank_frame) / 4; k += fold_frames_threads) {
        reinterpret_cast<std::uint32_t*>(mine)[k] = from[k];
    }
}

// How an exact sum becomes the rank's frame. enqueue(): adds the terms to the limbs, and returns the source.
template <class Enqueue>
struct limbs_writer {
    auto source() const { return enqueue(); }
    void operator()(rank_frame* mine) const {
        write_source_kernel<<<1, fold_frames_threads, 0, stream>>>(enqueue(), mine);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }

    Enqueue enqueue;
    cudaStream_t stream;
};

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
        const auto enqueue = [&on, n, call, ins...] {
            using record = carried_limbs<T, sizeof...(Ins)>;
            using limbs = exact_limbs<T, sizeof...(Ins)>;
            static_assert(sizeof(limbs) <= sizeof(nccl_scratch::zero));
            auto* const sums = reinterpret_cast<limbs*>(on.comm->scratch().zero);
            rank_target<On>::template enqueue_exact<T>(on.on, sums, n, ins...);
            return frame_of_limbs<T, sizeof...(Ins)>{
                sums, detail::frame_of(detail::signature_of<T, record>(call, on.root), n, sizeof(record))};
        };
        return limbs_writer<std::remove_const_t<decltype(enqueue)>>{enqueue, on.on.stream};
    }
};

} // namespace detail
} // namespace warpfold

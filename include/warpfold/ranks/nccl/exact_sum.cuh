// SPDX-License-Identifier: MIT
// Exact sums over ranks of NCCL, added and rounded on the devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/gpu/exact_sum/finish.cuh"
#include "warpfold/ranks/exact_sum.hpp"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/nccl/long_values.cuh"

namespace warpfold {

class nccl_communicator;

namespace detail {

// By a whole block: the limbs after their carries, in shared memory or another array that only this block writes.
template <class T, unsigned Factors>
__device__ void carry_limbs(const exact_limbs<T, Factors>& of, carried_limbs<T, Factors>& to) {
    constexpr unsigned limbs = carried_limbs<T, Factors>::limbs;
    __shared__ std::int64_t limb[limbs];
    for (unsigned k = threadIdx.x; k < limbs; k += blockDim.x) {
        limb[k] = of.limb[k];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        std::int64_t carry = 0;
#pragma unroll 8
        for (unsigned k = 0; k + 1 < limbs; ++k) {
            const std::int64_t low = (limb[k] & 0xffffffff) + carry;
            to.low[k] = static_cast<std::uint32_t>(low & 0xffffffff);
            carry = (limb[k] >> 32) + (low >> 32);
        }
        to.highest = limb[limbs - 1] + carry;
        to.met = static_cast<std::uint32_t>(of.met);
    }
    __syncthreads();
}

// The frame of a sum in device memory: carries, and leaves the limbs zero.
template <class T, unsigned Factors>
struct frame_of_limbs {
    using record_type = carried_limbs<T, Factors>;

    // By a whole block; the frame is in its shared memory.
    __device__ const rank_frame* operator()() const {
        constexpr unsigned words = sizeof(rank_frame) / 4;
        static_assert(sizeof(rank_frame) % 4 == 0);
        __shared__ alignas(32) std::uint32_t memory[words];
        for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
            memory[k] = reinterpret_cast<const std::uint32_t*>(&head)[k];
        }
        __syncthreads();
        auto* const frame = reinterpret_cast<rank_frame*>(memory);
        detail::carry_limbs(*of, *reinterpret_cast<record_type*>(frame->values));
        for (unsigned k = threadIdx.x; k < record_type::limbs; k += blockDim.x) {
            of->limb[k] = 0;
        }
        if (threadIdx.x == 0) {
            of->met = 0;
        }
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

// By a whole block: sum[k] = limb k over all ranks. of(r): the record of rank r. Returns the special values that were met.
template <class T, unsigned Factors, class Of>
__device__ unsigned add_records(int ranks, const Of& of, std::int64_t* sum) {
    constexpr unsigned limbs = carried_limbs<T, Factors>::limbs;
    for (unsigned k = threadIdx.x; k < limbs; k += fold_frames_threads) {
        std::int64_t total = 0;
        for (int r = 0; r < ranks; ++r) {
            total += k + 1 == limbs ? of(r).highest : static_cast<std::int64_t>(of(r).low[k]);
        }
        sum[k] = total;
    }
    __syncthreads();
    unsigned met = 0;
    for (int r = 0; r < ranks && threadIdx.x == 0; ++r) {
        met |= of(r).met;
    }
    return met;
}

template <class T, unsigned Factors>
struct round_sum_of_frames {
    __device__ T operator()(const rank_frame* frames, int ranks) const {
        using record = carried_limbs<T, Factors>;
        __shared__ std::int64_t sum[record::limbs];
        const auto of = [&](int r) -> const record& { return *reinterpret_cast<const record*>(frames[r].values); };
        const unsigned met = detail::add_records<T, Factors>(ranks, of, sum);
        return threadIdx.x != 0 ? T{} : rounded<T>(sum, record::limbs, exact_layout<T, Factors>::lowest, met);
    }
};

// A sum of products, rounded.
template <class R>
struct finish_squares {
    using result = R;
    static constexpr unsigned parts = 1, sums = 0;
    static constexpr bool squares = true;

    template <class T>
    WARPFOLD_HD constexpr R operator()(const exact_totals<T>& of) const {
        return rounded<R>(of.squares, of.square_limbs, exact_layout<T, 2>::lowest, of.squares_met);
    }
};

// By one block. Leaves the limbs zero, and takes the agreement back.
template <class T, class Finish>
__global__ void __launch_bounds__(fold_frames_threads)
    carry_sums_kernel(exact_finish_memory<T>* of, rank_sums<T, Finish>* to, agreement_of_ranks* agreement) {
    if constexpr (Finish::sums != 0) {
        for (unsigned part = 0; part < Finish::sums; ++part) {
            detail::carry_limbs(of->sum[part], to->sum[part]);
        }
    }
    if constexpr (Finish::squares) {
        detail::carry_limbs(of->squares, to->squares);
    }
    for (unsigned k = threadIdx.x; k < sizeof(*of) / sizeof(std::uint64_t); k += fold_frames_threads) {
        reinterpret_cast<std::uint64_t*>(of)[k] = 0;
    }
    if (threadIdx.x == 0) {
        *agreement = {};
    }
}
template <class T, class Finish, class Out>
__global__ void __launch_bounds__(fold_frames_threads)
    finish_slots_kernel(const agreement_of_ranks* agreement, const unsigned char* slots, int ranks, Finish finish,
                        Out out) {
    using totals = exact_totals<T>;
    __shared__ std::int64_t sum[Finish::sums != 0 ? Finish::sums * totals::sum_limbs : 1];
    __shared__ std::int64_t squares[totals::square_limbs + totals::more_limbs];
    if (agreement->is_there == 0) {
        return;
    }
    const auto of = [slots](int r) -> const rank_sums<T, Finish>& {
        return *reinterpret_cast<const rank_sums<T, Finish>*>(slots + static_cast<std::size_t>(r) * second_slot);
    };
    totals all{sum, squares, 0, 0};
    if constexpr (Finish::sums != 0) {
        for (unsigned part = 0; part < Finish::sums; ++part) {
            all.sum_met |= detail::add_records<T, 1>(
                ranks, [&](int r) -> const auto& { return of(r).sum[part]; }, sum + part * totals::sum_limbs);
        }
    }
    if constexpr (Finish::squares) {
        all.squares_met = detail::add_records<T, 2>(
            ranks, [&](int r) -> const auto& { return of(r).squares; }, squares);
    }
    if (threadIdx.x == 0) {
        *out = detail::finish_of(finish, agreement->n)(all);
    }
}

// *out = finish(the sums over all ranks), unless `out` is null. add(memory) enqueues what adds this rank's terms.
template <class T, class On, class Finish, class Out, class Add>
void finish_slots(const over_ranks<On, nccl_communicator>& on, const rank_signature& signature, std::uint64_t n,
                  const Finish& finish, const Out& out, const char* call, const Add& add) {
    using record = rank_sums<T, Finish>;
    static_assert(sizeof(record) <= second_slot && sizeof(exact_finish_memory<T>) <= sizeof(nccl_scratch::zero));
    detail::check_root(on, call);
    const slots_of_ranks slots = on.comm->slots();
    slots.gather(on, signature, n, sizeof(record), call, [&](unsigned char* mine) {
        auto* const sums = reinterpret_cast<exact_finish_memory<T>*>(on.comm->scratch().zero);
        add(sums);
        carry_sums_kernel<T, Finish>
            <<<1, fold_frames_threads, 0, on.on.stream>>>(sums, reinterpret_cast<record*>(mine), slots.agreement());
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    });
    if (out != nullptr) {
        finish_slots_kernel<T><<<1, fold_frames_threads, 0, on.on.stream>>>(slots.agreement(), slots.of_rank(0),
                                                                            on.comm->size(), finish, out);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
}
template <class T, class On, class Finish, class Out, class Add>
void finish_enqueued(const over_ranks<On, nccl_communicator>& on, const rank_signature& signature, std::uint64_t n,
                     const Finish& finish, const Out& out, const char* call, const Add& add) {
    static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
    call_scope<over_ranks<On, nccl_communicator>>::run(on, call, [&] {
        if (on.has_result()) {
            detail::check_array(out, 1, call);
        }
        detail::finish_slots<T>(on, signature, n, finish, on.has_result() ? out : nullptr, call, add);
    });
}
template <class T, class On, class Finish, class Add>
typename Finish::result finish_waiting(const over_ranks<On, nccl_communicator>& on, const rank_signature& signature,
                                       std::uint64_t n, const Finish& finish, const char* call, const Add& add) {
    using R = typename Finish::result;
    return call_scope<over_ranks<On, nccl_communicator>>::run(on, call, [&] {
        R* const out = new (on.comm->pinned_result(sizeof(R), on.on.stream, call)) R{};
        detail::finish_slots<T>(on, signature, n, finish, out, call, add);
        on.comm->check_enqueued(on.on.stream, call);
        return *out;
    });
}

template <gpu_target On>
struct exact_finish_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;

    template <class T, class In, class Finish>
    static typename Finish::result value(const target& on, const In& in, std::uint64_t n, const Finish& finish,
                                         const char* call) {
        return detail::finish_waiting<T>(on, detail::signature_of_finish<T>(call, on.root, finish), n, finish, call,
                                         adder<T, Finish>(on, in, n, call));
    }
    template <class T, class In, class Out, class Finish>
    static void into(const target& on, const In& in, std::uint64_t n, const Out& out, const Finish& finish,
                     const char* call) {
        detail::finish_enqueued<T>(on, detail::signature_of_finish<T>(call, on.root, finish), n, finish, out, call,
                                   adder<T, Finish>(on, in, n, call));
    }

private:
    template <class T, class Finish, class In>
    static auto adder(const target& on, const In& in, std::uint64_t n, const char* call) {
        return [&on, in, n, call](exact_finish_memory<T>* sums) {
            const auto enqueue = [&](auto* to, std::uint64_t count, const auto&... ins) {
                (detail::check_array(ins, count, call), ...);
                rank_target<On>::template enqueue_exact<T>(on.on, to, count, ins...);
            };
            if constexpr (Finish::sums != 0) {
                for (unsigned p = 0; p < Finish::sums; ++p) {
                    enqueue(&sums->sum[p], n, detail::part_of_elements<T, Finish::parts>(in, p));
                }
            }
            if constexpr (Finish::squares) {
                const auto numbers = detail::all_parts<T, Finish::parts>(in);
                enqueue(&sums->squares, Finish::parts * n, numbers, numbers);
            }
        };
    }
};

template <gpu_target On>
struct exact_engine<over_ranks<On, nccl_communicator>> {
    using target = over_ranks<On, nccl_communicator>;

    template <class T, class... Ins>
    static constexpr bool fits = sizeof(carried_limbs<T, sizeof...(Ins)>) <= rank_frame::room;

    template <class T, class... Ins>
    static T value(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        if constexpr (!fits<T, Ins...>) {
            return detail::finish_waiting<T>(on, signature<T, Ins...>(on, call), n, finish_squares<T>{}, call,
                                             adder<T>(on, n, call, ins...));
        } else {
            return call_scope<target>::run(on, call, [&] {
                return detail::fold_waiting<T>(on, writer<T>(on, n, call, ins...),
                                               round_sum_of_frames<T, sizeof...(Ins)>{}, false, call);
            });
        }
    }
    template <class T, class Out, class... Ins>
    static void into(const target& on, std::uint64_t n, const Out& out, const char* call, const Ins&... ins) {
        static_assert(std::is_pointer_v<Out>, "over ranks of GPUs an output is a pointer");
        if constexpr (!fits<T, Ins...>) {
            detail::finish_enqueued<T>(on, signature<T, Ins...>(on, call), n, finish_squares<T>{}, out, call,
                                       adder<T>(on, n, call, ins...));
        } else {
            call_scope<target>::run(on, call, [&] {
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
    static rank_signature signature(const target& on, const char* call) {
        return detail::signature_of<T, carried_limbs<T, sizeof...(Ins)>>(call, on.root);
    }
    template <class T, class... Ins>
    static auto adder(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        static_assert(sizeof...(Ins) == 2);
        return [&on, n, call, ins...](exact_finish_memory<T>* sums) {
            (detail::check_array(ins, n, call), ...);
            rank_target<On>::template enqueue_exact<T>(on.on, &sums->squares, n, ins...);
        };
    }
    template <class T, class... Ins>
    static auto writer(const target& on, std::uint64_t n, const char* call, const Ins&... ins) {
        (detail::check_array(ins, n, call), ...);
        detail::check_root(on, call);
        const auto enqueue = [&on, n, call, ins...] {
            using limbs = exact_limbs<T, sizeof...(Ins)>;
            static_assert(sizeof(limbs) <= sizeof(nccl_scratch::zero));
            auto* const sums = reinterpret_cast<limbs*>(on.comm->scratch().zero);
            rank_target<On>::template enqueue_exact<T>(on.on, sums, n, ins...);
            return frame_of_limbs<T, sizeof...(Ins)>{
                sums, detail::frame_of(signature<T, Ins...>(on, call), n, sizeof(carried_limbs<T, sizeof...(Ins)>))};
        };
        return limbs_writer<std::remove_const_t<decltype(enqueue)>>{enqueue, on.on.stream};
    }
};

} // namespace detail
} // namespace warpfold

// SPDX-License-Identifier: MIT
// One step of communication on the devices: a kernel writes the rank's frame, the frames are gathered, and a block
// compares and folds them in rank order. That block gathers them itself where NVLink connects all GPUs (mailboxes.cuh);
// elsewhere NCCL does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/nccl/mailboxes.cuh"
#include "warpfold/ranks/nccl/staging.cuh"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

// True if a rank failed or makes another call than rank 0: the words of the head differ, the number of elements apart.
__device__ inline bool differs(const rank_frame& frame, const rank_frame& first) {
    const auto* const a = reinterpret_cast<const std::uint64_t*>(&frame);
    const auto* const b = reinterpret_cast<const std::uint64_t*>(&first);
    constexpr unsigned words = offsetof(rank_frame, values) / sizeof(std::uint64_t);
    constexpr unsigned elements = offsetof(rank_frame, n) / sizeof(std::uint64_t);
    bool different = frame.failed != 0;
    for (unsigned k = 0; k < words; ++k) {
        different = different || (k != elements && a[k] != b[k]);
    }
    return different;
}

// What one block makes of the frames. fold(frames, ranks) returns the result in thread 0; `out` may be null. `all`:
// elements of all ranks, or null. Where ranks differ *out is Fold::refused(), if a fold has that, and is not written
// otherwise.
template <class Fold, class Out>
struct folded_frames {
    Fold fold;
    Out out;
    std::uint64_t* all;
    enqueued_fault* fault;
    gather_place place;
};

// Keeps the frames for the host: those of the first fault that it has not seen. By a whole block.
__device__ inline void report_fault(const rank_frame* frames, int ranks, enqueued_fault* fault, std::uint64_t number) {
    __shared__ bool is_first;
    if (threadIdx.x == 0) {
        is_first = *static_cast<volatile int*>(&fault->there) == 0;
    }
    __syncthreads();
    if (is_first) {
        for (int r = static_cast<int>(threadIdx.x); r < ranks; r += fold_frames_threads) {
            fault->first()[r] = frames[r];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            fault->number = number;
            __threadfence_system();
            *static_cast<volatile int*>(&fault->there) = 1;
        }
    }
}

template <class Fold, class Out>
__device__ void fold_frames(const rank_frame* frames, int ranks, const folded_frames<Fold, Out>& to) {
    const auto& [fold, out, all, fault, place] = to;
    bool different = false;
    for (int r = static_cast<int>(threadIdx.x); r < ranks; r += fold_frames_threads) {
        different = different || detail::differs(frames[r], frames[0]);
    }
    if (__syncthreads_or(different) != 0) {
        if (place.order != gather_order::second || *place.first_refused == 0) {
            detail::report_fault(frames, ranks, fault, place.number);
        }
        if (threadIdx.x == 0) {
            if constexpr (requires { Fold::refused(); }) {
                *out = Fold::refused();
            }
            if (place.order == gather_order::first_of_two) {
                *place.first_refused = 1;
            }
        }
        return;
    }
    if (place.order == gather_order::first_of_two && threadIdx.x == 0) {
        *place.first_refused = 0;
    }
    const auto result = fold(frames, ranks);
    if (threadIdx.x == 0) {
        if (out != nullptr) {
            *out = result;
        }
        if (all != nullptr) {
            std::uint64_t n = 0;
            for (int r = 0; r < ranks; ++r) {
                n += frames[r].n;
            }
            *all = n;
        }
    }
}

template <class Fold, class Out>
__global__ void __launch_bounds__(fold_frames_threads)
    fold_frames_kernel(const rank_frame* frames, int ranks, folded_frames<Fold, Out> to) {
    detail::fold_frames(frames, ranks, to);
}

// Bytes of a rank in a second gather that needs no more: ranks that gather other things there still gather the same, and
// their frames say in what they differ.
inline constexpr std::size_t second_slot = 2048;

// A frame that a kernel before has written.
struct written_frame {
    __device__ const rank_frame* operator()() const { return at; }

    const rank_frame* at;
};

// source(), called by the whole block, is this rank's frame.
template <class Source, class Fold, class Out>
__global__ void __launch_bounds__(fold_frames_threads)
    exchange_frames_kernel(mailbox_addresses boxes, Source source, folded_frames<Fold, Out> to) {
    __shared__ alignas(32) unsigned char memory[most_mailboxes * sizeof(rank_frame)];
    auto* const frames = reinterpret_cast<rank_frame*>(memory);
    pdl_wait();
    if (detail::gather_from_mailboxes(boxes, source, frames, to.fault)) {
        detail::fold_frames(frames, boxes.ranks, to);
    }
}

template <class V>
__device__ V value_in(const rank_frame& frame) {
    static_assert(sizeof(V) <= rank_frame::room && alignof(V) <= 32);
    return *reinterpret_cast<const V*>(frame.values);
}

// `result` of a fold, in a frame.
template <class Result>
struct in_frame {
    WARPFOLD_CALLS_ANY
    template <class A>
    WARPFOLD_HD constexpr rank_frame operator()(const A& total) const {
        using V = std::remove_cvref_t<decltype(result(total))>;
        rank_frame frame = head;
        const V value = result(total);
        __builtin_memcpy(frame.values, &value, sizeof(V));
        return frame;
    }

    rank_frame head;
    Result result;
};

// Gathers by mailboxes the frame that source(), called by a block, returns, and folds the frames, in one kernel.
template <class On, class Comm, class Source, class Fold, class Out>
void exchange_enqueued(const over_ranks<On, Comm>& on, const Source& source, const folded_frames<Fold, Out>& to,
                       const char* call) {
    on.comm->begin_gather(on.on.stream, call);
    constexpr auto kernel = &exchange_frames_kernel<Source, Fold, Out>;
    detail::pdl_launch(properties_of<kernel>(), kernel, 1, fold_frames_threads, 0, on.on.stream,
                       on.comm->boxes().addresses(), source, to);
}

// write(mine) enqueues what writes this rank's frame, with everything in it. Then *out = fold(frames, ranks), at the
// root or at every rank. write.source(), if it has that, enqueues what comes before and returns a frame that the
// exchanging kernel makes itself.
template <class On, class Comm, class Write, class Fold, class Out>
void fold_enqueued(const over_ranks<On, Comm>& on, const Write& write, const Fold& fold, const Out& out,
                   std::uint64_t* all, const char* call, gather_order order = gather_order::only) {
    const folded_frames<Fold, Out> to{fold, out, all, on.comm->fault(), on.comm->next_place(on.on.stream, order)};
    if (on.comm->boxes().is_open()) {
        if constexpr (requires { write.source(); }) {
            detail::exchange_enqueued(on, write.source(), to, call);
        } else {
            rank_frame* const mine = on.comm->boxes().own_frame();
            write(mine);
            detail::exchange_enqueued(on, written_frame{mine}, to, call);
        }
        return;
    }
    const auto ranks = static_cast<std::size_t>(on.comm->size());
    const stream_ordered_memory memory(on.on.stream, ranks * sizeof(rank_frame), on.on.resource);
    auto* const frames = static_cast<rank_frame*>(memory.data());
    rank_frame* const mine = frames + on.comm->rank();
    write(mine);
    on.comm->gather_frames(mine, frames, on.on.stream, call);
    fold_frames_kernel<<<1, fold_frames_threads, 0, on.on.stream>>>(frames, static_cast<int>(ranks), to);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// The same for a call that waits and returns an R at every rank. `needs_elements`: throws if no rank has any.
template <class R, class On, class Comm, class Write, class Fold>
R fold_waiting(const over_ranks<On, Comm>& on, const Write& write, const Fold& fold, bool needs_elements,
               const char* call) {
    struct returned {
        std::uint64_t all;
        alignas(16) unsigned char value[sizeof(R)];
    };
    // Pinned: a copy to other memory of the host would wait for other ranks without a time limit.
    auto* const place = new (on.comm->pinned_result(sizeof(returned), on.on.stream, call)) returned{};
    detail::fold_enqueued(on, write, fold, reinterpret_cast<R*>(place->value), &place->all, call);
    on.comm->check_enqueued(on.on.stream, call);
    if (needs_elements) {
        detail::require_elements(place->all, call);
    }
    R result;
    std::memcpy(static_cast<void*>(&result), place->value, sizeof(R));
    return result;
}

} // namespace warpfold::detail

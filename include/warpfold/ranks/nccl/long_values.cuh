// SPDX-License-Identifier: MIT
// Values that do not fit a frame, in device memory of every rank, without a wait of the host. By mailboxes that is one exchange, of
// frames and values; elsewhere the values are gathered behind the frames.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/nccl/frames.cuh"

namespace warpfold::detail {

// The frame of a rank, and lines of 8 bytes on their way to all ranks, which belong to it.
struct frame_and_lines {
    // By a whole block; the frame is in its shared memory.
    __device__ const rank_frame* operator()() const {
        constexpr unsigned words = sizeof(rank_frame) / 4;
        __shared__ alignas(32) std::uint32_t memory[words];
        for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
            memory[k] = reinterpret_cast<const std::uint32_t*>(&head)[k];
        }
        const unsigned gather = boxes.gathers() + 1;
        const std::size_t to = boxes.layout().counts(gather, boxes.rank);
        for (unsigned k = threadIdx.x; k < lines; k += blockDim.x) {
            const uint2 word = mine[k];
            for (int r = 0; r < boxes.ranks; ++r) {
                detail::put_line(boxes.of[r] + to + k, word, gather);
            }
        }
        __syncthreads();
        return reinterpret_cast<const rank_frame*>(memory);
    }

    mailbox_addresses boxes;
    const uint2* mine;
    unsigned lines;
    rank_frame head;
};

// As the fold of frames that agree, by a whole block: copies the lines of all ranks to slots of second_slot bytes.
struct lines_to_slots {
    __device__ int operator()(const rank_frame* /*frames*/, int ranks) const {
        const unsigned gather = boxes.gathers();
        bool missing = false;
        for (unsigned k = threadIdx.x; k < lines * static_cast<unsigned>(ranks); k += fold_frames_threads) {
            const unsigned r = k / lines, line = k % lines;
            const uint4* const from = boxes.own + boxes.layout().counts(gather, static_cast<int>(r)) + line;
            uint2 word{};
            missing = !detail::wait_for_lines(fault, [&] { return detail::take_line(from, word, gather); }) || missing;
            reinterpret_cast<uint2*>(slots + r * second_slot)[line] = word;
        }
        const bool any = __syncthreads_or(missing) != 0;
        if (any && threadIdx.x == 0) {
            boxes.stop(fault, 0);
        }
        return any ? 0 : 1;
    }
    __device__ static int refused() { return 0; }

    mailbox_addresses boxes;
    enqueued_fault* fault;
    unsigned char* slots;
    unsigned lines;
};

struct frames_agree {
    __device__ int operator()(const rank_frame* /*frames*/, int /*ranks*/) const { return 1; }
    __device__ static int refused() { return 0; }
};

// What the ranks have in common, in device memory.
struct agreement_of_ranks {
    std::uint64_t n; // elements of all parts
    int is_there;    // other than 0: no rank differs
};

// Slots of second_slot bytes, one of each rank, in memory of the communicator.
class slots_of_ranks {
public:
    static constexpr std::size_t bytes_for(int ranks) { return (static_cast<std::size_t>(ranks) + 2) * second_slot; }

    explicit slots_of_ranks(unsigned char* memory) : memory_(memory) {}

    // work(mine) enqueues what sets this rank's value of `bytes` bytes and takes the agreement back. Kernels behind the gather
    // look at the agreement.
    template <class On, class Comm, class Work>
    void gather(const over_ranks<On, Comm>& on, const rank_signature& signature, std::uint64_t n, std::size_t bytes,
                const char* call, const Work& work) const {
        unsigned char* const mine = memory_ + second_slot;
        work(mine);
        int* const agree = &agreement()->is_there;
        if (on.comm->boxes().is_open()) {
            const mailbox_addresses boxes = on.comm->boxes().addresses();
            const auto lines = static_cast<unsigned>((bytes + 7) / 8);
            detail::exchange_enqueued(
                on,
                frame_and_lines{boxes, reinterpret_cast<const uint2*>(mine), lines,
                                detail::frame_of(signature, n, bytes)},
                folded_frames<lines_to_slots, int*>{{boxes, on.comm->fault(), of_rank(0), lines},
                                                    agree,
                                                    &agreement()->n,
                                                    on.comm->fault(),
                                                    on.comm->next_place(on.on.stream, gather_order::only)},
                call);
            return;
        }
        const rank_frame head = detail::frame_of(signature, n, bytes, second_slot);
        detail::fold_enqueued(on, known_frame{head, on.on.stream}, frames_agree{}, agree, &agreement()->n, call);
        on.comm->gather_on_device(mine, of_rank(0), second_slot, on.on.stream, call);
    }
    [[nodiscard]] agreement_of_ranks* agreement() const { return reinterpret_cast<agreement_of_ranks*>(memory_); }
    [[nodiscard]] unsigned char* of_rank(int r) const {
        return memory_ + (static_cast<std::size_t>(r) + 2) * second_slot;
    }

private:
    unsigned char* memory_;
};

} // namespace warpfold::detail

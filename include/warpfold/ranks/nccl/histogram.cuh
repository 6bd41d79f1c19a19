// SPDX-License-Identifier: MIT
// Histograms of few bins over ranks of NCCL: the counts are gathered and added in rank order on the devices, without a wait of
// the host. By mailboxes that is one exchange, of frames and counts; elsewhere the counts are gathered behind the frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/histogram.hpp"
#include "warpfold/ranks/nccl/first_index.cuh"
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/sum_in_order.hpp"

namespace warpfold {

class nccl_communicator;

namespace detail {

inline constexpr unsigned counts_in_line = 16; // bytes

template <class Count>
struct alignas(counts_in_line) line_of_counts {
    Count at[counts_in_line / sizeof(Count)];
};

// Where the sums go: to counts of the user, or, at a rank without a result, nowhere.
template <class Count>
struct summed_counts {
    __device__ void put(std::uint64_t k, const Count& sum) const {
        out[k] = add ? detail::wrapping_sum(out[k], sum) : sum;
    }

    Count* out;
    std::uint64_t bins;
    bool add;
};

// The frame of a rank, whose counts other ranks read.
template <class Count>
struct frame_of_counts {
    // By a whole block; the frame is in its shared memory.
    __device__ const rank_frame* operator()() const {
        constexpr unsigned words = sizeof(rank_frame) / 4;
        __shared__ alignas(32) std::uint32_t memory[words];
        for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
            memory[k] = reinterpret_cast<const std::uint32_t*>(&head)[k];
        }
        uint4* const to = boxes.shown(boxes.rank, boxes.gathers() + 1);
        for (unsigned k = threadIdx.x; k < lines; k += blockDim.x) {
            to[k] = reinterpret_cast<const uint4*>(mine)[k];
        }
        __syncthreads();
        __threadfence_system(); // the frame, which this thread writes in part, comes after all counts
        return reinterpret_cast<const rank_frame*>(memory);
    }

    mailbox_addresses boxes;
    const line_of_counts<Count>* mine;
    unsigned lines;
    rank_frame head;
};

// As the fold of frames: the frames are there, so the counts are. By a whole block.
template <class Count>
struct add_counts_behind_frames {
    __device__ int operator()(const rank_frame* /*frames*/, int ranks) const {
        __threadfence_system();
        constexpr int at_once = 8; // loads from other GPUs in flight
        constexpr unsigned each = counts_in_line / sizeof(Count);
        const unsigned gather = boxes.gathers();
        for (std::uint64_t line = threadIdx.x; to.out != nullptr && line * each < to.bins;
             line += fold_frames_threads) {
            line_of_counts<Count> total{};
            for (int first = 0; first < ranks; first += at_once) {
                uint4 words[at_once];
#pragma unroll
                for (int r = 0; r < at_once; ++r) {
                    if (first + r < ranks) {
                        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                                     : "=r"(words[r].x), "=r"(words[r].y), "=r"(words[r].z), "=r"(words[r].w)
                                     : "l"(__cvta_generic_to_global(boxes.shown(first + r, gather) + line))
                                     : "memory");
                    }
                }
#pragma unroll
                for (int r = 0; r < at_once; ++r) {
                    if (first + r < ranks) {
                        line_of_counts<Count> counts;
                        __builtin_memcpy(&counts, &words[r], sizeof(counts));
                        for (unsigned k = 0; k < each; ++k) {
                            total.at[k] =
                                first + r == 0 ? counts.at[k] : detail::wrapping_sum(total.at[k], counts.at[k]);
                        }
                    }
                }
            }
            for (unsigned k = 0; k < each && line * each + k < to.bins; ++k) {
                to.put(line * each + k, total.at[k]);
            }
        }
        return 0;
    }

    mailbox_addresses boxes;
    summed_counts<Count> to;
};

struct frames_agree {
    __device__ int operator()(const rank_frame* /*frames*/, int /*ranks*/) const { return 1; }
    __device__ static int refused() { return 0; }
};

// slots: those of all ranks, second_slot bytes each.
template <class Count>
__global__ void add_gathered_counts_kernel(const int* agree, const unsigned char* slots, int ranks,
                                           summed_counts<Count> to) {
    const std::uint64_t k = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
    if (*agree == 0 || k >= to.bins) {
        return;
    }
    const auto of = [&](int r) {
        return reinterpret_cast<const Count*>(slots + static_cast<std::size_t>(r) * second_slot)[k];
    };
    Count total = of(0);
    for (int r = 1; r < ranks; ++r) {
        total = detail::wrapping_sum(total, of(r));
    }
    to.put(k, total);
}

template <gpu_target On>
struct enqueued_counts<On, nccl_communicator> {
    using target = over_ranks<On, nccl_communicator>;
    using memory = rank_target<On>;

    [[nodiscard]] static bool fits(const target& on, std::size_t bytes) {
        return bytes <= (on.comm->boxes().is_open() ? shown_bytes : second_slot);
    }
    // work(mine) enqueues the counts of this rank's part. counts[k] = the sum over all ranks, or is increased by it.
    template <class Count, class Work>
    static void run(const target& on, const rank_signature& signature, std::uint64_t n, Count* counts,
                    std::uint64_t bins, bool add, const char* call, const Work& work) {
        detail::check_root(on, call);
        const summed_counts<Count> to{on.has_result() ? counts : nullptr, bins, add};
        if (on.comm->boxes().is_open()) {
            const auto lines = static_cast<unsigned>((bins * sizeof(Count) + counts_in_line - 1) / counts_in_line);
            const auto mine = memory::template allocate<line_of_counts<Count>>(on.on, lines);
            work(mine.data()->at);
            const mailbox_addresses boxes = on.comm->boxes().addresses();
            const rank_frame head = detail::frame_of(signature, n, sizeof(no_value));
            detail::exchange_enqueued(on, frame_of_counts<Count>{boxes, mine.data(), lines, head},
                                      folded_frames<add_counts_behind_frames<Count>, int*>{
                                          {boxes, to},
                                          nullptr,
                                          nullptr,
                                          on.comm->fault(),
                                          on.comm->next_place(on.on.stream, gather_order::only)},
                                      call);
            return;
        }
        const int ranks = on.comm->size();
        const auto slots =
            memory::template allocate<unsigned char>(on.on, static_cast<std::size_t>(ranks) * second_slot);
        const auto agree = memory::template allocate<int>(on.on, 1);
        unsigned char* const mine = slots.data() + static_cast<std::size_t>(on.comm->rank()) * second_slot;
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(mine, 0, second_slot, on.on.stream));
        work(reinterpret_cast<Count*>(mine));
        const rank_frame head = detail::frame_of(signature, n, sizeof(no_value), second_slot);
        detail::fold_enqueued(on, known_frame{head, on.on.stream}, frames_agree{}, agree.data(), nullptr, call);
        on.comm->gather_on_device(mine, slots.data(), second_slot, on.on.stream, call);
        if (to.out != nullptr) {
            const auto blocks = static_cast<unsigned>((bins + 127) / 128);
            add_gathered_counts_kernel<<<blocks, 128, 0, on.on.stream>>>(agree.data(), slots.data(), ranks, to);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }
};

} // namespace detail
} // namespace warpfold

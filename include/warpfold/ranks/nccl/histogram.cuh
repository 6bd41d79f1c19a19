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
#include "warpfold/ranks/nccl/frames.cuh"
#include "warpfold/ranks/nccl/long_values.cuh"
#include "warpfold/ranks/sum_in_order.hpp"

namespace warpfold {

class nccl_communicator;

namespace detail {

// What a line of a mailbox holds.
template <class Count>
struct alignas(8) line_of_counts {
    Count at[8 / sizeof(Count)];
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

// As the fold of frames that agree: every rank has sent its counts, or will. By a whole block.
template <class Count>
struct add_counts_behind_frames {
    __device__ int operator()(const rank_frame* /*frames*/, int ranks) const {
        constexpr int at_once = 8;
        constexpr unsigned each = sizeof(line_of_counts<Count>) / sizeof(Count);
        const unsigned gather = boxes.gathers();
        for (std::uint64_t k = threadIdx.x; to.out != nullptr && k * each < to.bins; k += fold_frames_threads) {
            line_of_counts<Count> total{};
            for (int first = 0; first < ranks; first += at_once) {
                uint2 words[at_once];
                const bool there = detail::wait_for_lines(fault, [&] {
                    bool all = true;
#pragma unroll
                    for (int r = 0; r < at_once; ++r) {
                        if (first + r < ranks) {
                            const uint4* const from = boxes.own + boxes.layout().counts(gather, first + r);
                            all = detail::take_line(from + k, words[r], gather) && all;
                        }
                    }
                    return all;
                });
                if (!there) {
                    boxes.stop(fault, 0);
                    return 0;
                }
#pragma unroll
                for (int r = 0; r < at_once; ++r) {
                    if (first + r < ranks) {
                        line_of_counts<Count> counts;
                        __builtin_memcpy(&counts, &words[r], sizeof(counts));
                        for (unsigned c = 0; c < each; ++c) {
                            total.at[c] =
                                first + r == 0 ? counts.at[c] : detail::wrapping_sum(total.at[c], counts.at[c]);
                        }
                    }
                }
            }
            for (unsigned c = 0; c < each && k * each + c < to.bins; ++c) {
                to.put(k * each + c, total.at[c]);
            }
        }
        return 0;
    }

    mailbox_addresses boxes;
    enqueued_fault* fault;
    summed_counts<Count> to;
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
        return bytes <= (on.comm->boxes().is_open() ? longest_counts : second_slot);
    }
    // work(mine) enqueues the counts of this rank's part. counts[k] = the sum over all ranks, or is increased by it.
    template <class Count, class Work>
    static void run(const target& on, const rank_signature& signature, std::uint64_t n, Count* counts,
                    std::uint64_t bins, bool add, const char* call, const Work& work) {
        detail::check_root(on, call);
        const summed_counts<Count> to{on.has_result() ? counts : nullptr, bins, add};
        if (on.comm->boxes().is_open()) {
            const auto lines = static_cast<unsigned>((bins * sizeof(Count) + 7) / 8);
            const auto mine = memory::template allocate<line_of_counts<Count>>(on.on, lines);
            work(mine.data()->at);
            const mailbox_addresses boxes = on.comm->boxes().addresses();
            const rank_frame head = detail::frame_of(signature, n, sizeof(no_value));
            const auto* const words = reinterpret_cast<const uint2*>(mine.data());
            detail::exchange_enqueued(on, frame_and_lines{boxes, words, lines, head},
                                      folded_frames<add_counts_behind_frames<Count>, int*>{
                                          {boxes, on.comm->fault(), to},
                                          nullptr,
                                          nullptr,
                                          on.comm->fault(),
                                          on.comm->next_place(on.on.stream, gather_order::only)},
                                      call);
            return;
        }
        const slots_of_ranks slots = on.comm->slots();
        slots.gather(on, signature, n, sizeof(no_value), call, [&](unsigned char* mine) {
            WARPFOLD_CHECK_CUDA(cudaMemsetAsync(slots.agreement(), 0, sizeof(agreement_of_ranks), on.on.stream));
            work(reinterpret_cast<Count*>(mine));
        });
        if (to.out != nullptr) {
            const auto blocks = static_cast<unsigned>((bins + 127) / 128);
            add_gathered_counts_kernel<<<blocks, 128, 0, on.on.stream>>>(&slots.agreement()->is_there, slots.of_rank(0),
                                                                         on.comm->size(), to);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }
};

} // namespace detail
} // namespace warpfold

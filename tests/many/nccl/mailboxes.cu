// SPDX-License-Identifier: MIT
// Frames and counts through mailboxes, whose ranks are the blocks of a grid, and the streams of their gathers.
#include "warpfold/ranks/nccl/mailboxes.cuh"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "warpfold/histogram.cuh"
#include "warpfold/nccl.cuh"
#include "warpfold/ranks/nccl/gather_streams.cuh"

namespace warpfold {
namespace {

constexpr int ranks = 3;
const std::size_t lines = detail::mailbox_layout{ranks}.lines(); // of a mailbox

__device__ detail::mailbox_addresses addresses_in(uint4* boxes, int rank) {
    detail::mailbox_addresses of{};
    of.rank = rank;
    of.ranks = ranks;
    for (int r = 0; r < ranks; ++r) {
        of.of[r] = boxes + r * detail::mailbox_layout{ranks}.lines();
    }
    of.own = of.of[rank];
    return of;
}

// Block r has mine[r], and gathers into all[r * ranks ...]; whole[r]: whether it has all frames.
__global__ void gather_kernel(uint4* boxes, const detail::rank_frame* mine, detail::rank_frame* all, int* whole,
                              detail::enqueued_fault* fault) {
    const int rank = static_cast<int>(blockIdx.x);
    const bool got = detail::gather_from_mailboxes(
        addresses_in(boxes, rank), [&] { return mine + rank; }, all + rank * ranks, fault);
    if (threadIdx.x == 0) {
        whole[rank] = got ? 1 : 0;
    }
}

std::vector<detail::rank_frame> frames_of(unsigned seed) {
    std::vector<detail::rank_frame> frames(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        std::vector<unsigned char> bytes(sizeof(detail::rank_frame));
        for (std::size_t k = 0; k < bytes.size(); ++k) {
            bytes[k] = static_cast<unsigned char>(seed * 101 + r * 57 + k);
        }
        std::memcpy(static_cast<void*>(&frames[r]), bytes.data(), bytes.size());
    }
    return frames;
}

TEST(Mailboxes, EveryRankGetsTheFramesOfAll) {
    const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
    const tests::on_device<int> whole(std::vector<int>(ranks, -1));
    const tests::on_device<detail::enqueued_fault> fault(std::vector<detail::enqueued_fault>(1));
    for (unsigned gather = 1; gather <= 5; ++gather) {
        const auto frames = frames_of(gather);
        const tests::on_device<detail::rank_frame> mine(frames), all(ranks * ranks);
        gather_kernel<<<ranks, detail::fold_frames_threads>>>(boxes.data(), mine.data(), all.data(), whole.data(),
                                                              fault.data());
        CUDA(cudaGetLastError());
        EXPECT_EQ(whole.read(), std::vector<int>(ranks, 1));
        const auto got = all.read();
        for (std::size_t k = 0; k < got.size(); ++k) {
            EXPECT_EQ(std::memcmp(&got[k], &frames[k % ranks], sizeof(got[k])), 0) << gather << " " << k;
        }
    }
    for (const uint4& line : {boxes.read()[0], boxes.read()[lines]}) {
        EXPECT_EQ(line.x, 5u);
    }
}

// The host's word ends them, or the time limit. Who has waited in vain names the ranks, and touches no mailbox afterwards.
TEST(Mailboxes, RanksThatWaitInVainEnd) {
    for (const bool by_host : {true, false}) {
        const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
        const tests::on_device<int> whole(std::vector<int>(ranks, -1));
        const tests::on_device<detail::enqueued_fault> fault(
            std::vector<detail::enqueued_fault>{{.stop = by_host ? 1 : 0, .limit = by_host ? 0u : 1'000'000u}});
        const tests::on_device<detail::rank_frame> mine(frames_of(1)), all(ranks * ranks);
        const auto gather = [&](unsigned blocks) {
            gather_kernel<<<blocks, detail::fold_frames_threads>>>(boxes.data(), mine.data(), all.data(), whole.data(),
                                                                   fault.data());
            CUDA(cudaGetLastError());
        };
        gather(1); // rank 0 alone
        EXPECT_EQ(whole.read(), (std::vector<int>{0, -1, -1}));
        EXPECT_EQ(fault.read()[0].late, 1);
        EXPECT_EQ(fault.read()[0].missing, 0b110u);
        const auto after = boxes.read();
        EXPECT_EQ(after[0].x, 0u); // the gather does not count
        gather(1);
        EXPECT_EQ(std::memcmp(boxes.read().data(), after.data(), after.size() * sizeof(after[0])), 0);
        EXPECT_EQ(whole.read(), (std::vector<int>{0, -1, -1}));
    }
}

// As a communicator that gives up: before a kernel of its stream begins.
TEST(Mailboxes, AClosedMailboxEndsKernelsBeforeTheyTouchOthers) {
    const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
    const tests::on_device<int> whole(std::vector<int>(ranks, -1));
    const tests::on_device<detail::enqueued_fault> fault(std::vector<detail::enqueued_fault>{{.limit = 1'000'000u}});
    const tests::on_device<detail::rank_frame> mine(frames_of(1)), all(ranks * ranks);
    std::vector<uint4> closed(ranks * lines);
    closed[0].y = 1;
    CUDA(cudaMemcpy(boxes.data(), closed.data(), closed.size() * sizeof(uint4), cudaMemcpyHostToDevice));
    gather_kernel<<<1, detail::fold_frames_threads>>>(boxes.data(), mine.data(), all.data(), whole.data(),
                                                      fault.data());
    CUDA(cudaGetLastError());
    EXPECT_EQ(whole.read(), (std::vector<int>{0, -1, -1}));
    EXPECT_EQ(std::memcmp(boxes.read().data(), closed.data(), closed.size() * sizeof(uint4)), 0);
    EXPECT_EQ(fault.read()[0].late, 0);
}

// Block r has the counts of rank r, and writes the sums over all ranks.
template <class Count>
__global__ void counts_kernel(uint4* boxes, const detail::line_of_counts<Count>* mine, Count* sums, std::uint64_t bins,
                              bool add, detail::enqueued_fault* fault) {
    __shared__ detail::rank_frame frames[ranks];
    const auto rank = static_cast<int>(blockIdx.x);
    const detail::mailbox_addresses of = addresses_in(boxes, rank);
    const auto of_rank = static_cast<unsigned>((bins * sizeof(Count) + 7) / 8);
    const detail::frame_and_lines frame{of, reinterpret_cast<const uint2*>(mine + blockIdx.x * of_rank), of_rank, {}};
    if (detail::gather_from_mailboxes(of, frame, frames, fault)) {
        __syncthreads();
        detail::add_counts_behind_frames<Count>{of, fault, {rank == 1 ? nullptr : sums + blockIdx.x * bins, bins, add}}(
            frames, ranks);
    }
}

template <class Count>
void expect_counts_are_added(std::uint64_t bins) {
    constexpr std::uint64_t each = 8 / sizeof(Count);
    const std::uint64_t padded = (bins + each - 1) / each * each;
    const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
    const tests::on_device<detail::enqueued_fault> fault(std::vector<detail::enqueued_fault>(1));
    const tests::on_device<Count> sums(std::vector<Count>(ranks * bins, Count{7}));
    std::vector<Count> expected(ranks * bins, Count{7});
    for (unsigned gather = 1; gather <= 5; ++gather) {
        const bool add = gather % 2 == 0;
        std::vector<Count> all(ranks * padded);
        for (std::size_t k = 0; k < all.size();
             ++k) { // large enough to wrap, and of floats such that the order matters
            all[k] = static_cast<Count>(0xfedcba98u / (k + gather));
        }
        for (std::size_t k = 0; k < bins; ++k) {
            Count sum = all[k];
            for (std::size_t r = 1; r < ranks; ++r) {
                sum = detail::wrapping_sum(sum, all[r * padded + k]);
            }
            for (const std::size_t r : {0, 2}) { // rank 1 has no result
                Count& at = expected[r * bins + k];
                at = add ? detail::wrapping_sum(at, sum) : sum;
            }
        }
        const tests::on_device<Count> mine(all);
        counts_kernel<<<ranks, detail::fold_frames_threads>>>(
            boxes.data(), reinterpret_cast<const detail::line_of_counts<Count>*>(mine.data()), sums.data(), bins, add,
            fault.data());
        CUDA(cudaGetLastError());
        EXPECT_EQ(sums.read(), expected) << bins << " bins, gather " << gather;
    }
}

TEST(Mailboxes, CountsOfAllRanksAreAdded) {
    for (const std::uint64_t bins : {1, 2, 3, 255, 256, 257, 2048}) {
        expect_counts_are_added<std::uint32_t>(bins);
        expect_counts_are_added<std::uint64_t>(bins);
        expect_counts_are_added<float>(bins);
    }
    expect_counts_are_added<std::uint32_t>(detail::longest_counts / sizeof(std::uint32_t));
}

// Block r has values of one rank, of which every rank gets those of all.
__global__ void values_kernel(uint4* boxes, const uint2* mine, unsigned of_rank, unsigned char* slots, int* there,
                              detail::enqueued_fault* fault) {
    __shared__ detail::rank_frame frames[ranks];
    const auto rank = static_cast<int>(blockIdx.x);
    const detail::mailbox_addresses of = addresses_in(boxes, rank);
    const detail::frame_and_lines frame{of, mine + blockIdx.x * of_rank, of_rank, {}};
    if (detail::gather_from_mailboxes(of, frame, frames, fault)) {
        __syncthreads();
        const int whole =
            detail::lines_to_slots{of, fault, slots + blockIdx.x * ranks * detail::second_slot, of_rank}(frames, ranks);
        if (threadIdx.x == 0) {
            there[rank] = whole;
        }
    }
}

TEST(Mailboxes, EveryRankGetsTheLongValuesOfAll) {
    for (const unsigned of_rank : {1u, 69u, static_cast<unsigned>(detail::second_slot / 8)}) {
        const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
        const tests::on_device<detail::enqueued_fault> fault(std::vector<detail::enqueued_fault>(1));
        const tests::on_device<unsigned char> slots(ranks * ranks * detail::second_slot);
        for (unsigned gather = 1; gather <= 3; ++gather) {
            std::vector<uint2> all(ranks * of_rank);
            for (unsigned k = 0; k < all.size(); ++k) {
                all[k] = {k * 7 + gather, ~k};
            }
            const tests::on_device<uint2> mine(all);
            const tests::on_device<int> there(std::vector<int>(ranks, -1));
            values_kernel<<<ranks, detail::fold_frames_threads>>>(boxes.data(), mine.data(), of_rank, slots.data(),
                                                                  there.data(), fault.data());
            CUDA(cudaGetLastError());
            EXPECT_EQ(there.read(), std::vector<int>(ranks, 1));
            const auto got = slots.read();
            for (std::size_t k = 0; k < ranks * ranks; ++k) {
                EXPECT_EQ(std::memcmp(&got[k * detail::second_slot], &all[k % ranks * of_rank], of_rank * 8), 0) << k;
            }
        }
    }
}

// Holds a stream until the host opens it, or for ten seconds.
struct gate {
    std::atomic<bool> open{false}, over{false};

    static void hold(void* user) {
        auto& at = *static_cast<gate*>(user);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!at.open && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        at.over = true;
    }
};

TEST(GatherStreams, TheHostWaitsOnlyWhereTheStreamChanges) {
    std::vector<cudaStream_t> streams(2);
    for (cudaStream_t& stream : streams) {
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    detail::gather_streams of;
    gate held;
    CUDA(cudaLaunchHostFunc(streams[0], gate::hold, &held));
    const auto wait = [] { CUDA(cudaDeviceSynchronize()); };
    of.order(streams[0], wait); // the first gather of all
    of.order(streams[0], wait);
    EXPECT_FALSE(held.over);
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        held.open = true;
    });
    of.order(streams[1], wait);
    EXPECT_TRUE(held.over);
    opener.join();
    for (const cudaStream_t stream : streams) {
        CUDA(cudaStreamDestroy(stream));
    }
}

} // namespace
} // namespace warpfold

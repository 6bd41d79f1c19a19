// SPDX-License-Identifier: MIT
// Frames through mailboxes, whose ranks are the blocks of a grid, and the streams of their gathers.
#include "warpfold/ranks/nccl/mailboxes.cuh"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "warpfold/ranks/nccl/gather_streams.cuh"

namespace warpfold {
namespace {

constexpr int ranks = 3;
constexpr std::size_t lines = 1 + 2 * ranks * detail::frame_lines; // of a mailbox

// Block r has mine[r], and gathers into all[r * ranks ...]; whole[r]: whether it has all frames.
__global__ void gather_kernel(uint4* boxes, const detail::rank_frame* mine, detail::rank_frame* all, int* whole,
                              const int* stop) {
    const int rank = static_cast<int>(blockIdx.x);
    detail::mailbox_addresses of{};
    of.rank = rank;
    of.ranks = ranks;
    for (int r = 0; r < ranks; ++r) {
        of.of[r] = boxes + r * lines;
    }
    const bool got = detail::gather_from_mailboxes(of, mine + rank, all + rank * ranks, stop);
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
    const tests::on_device<int> whole(std::vector<int>(ranks, -1)), stop(std::vector<int>{0});
    for (unsigned gather = 1; gather <= 5; ++gather) {
        const auto frames = frames_of(gather);
        const tests::on_device<detail::rank_frame> mine(frames), all(ranks * ranks);
        gather_kernel<<<ranks, detail::fold_frames_threads>>>(boxes.data(), mine.data(), all.data(), whole.data(),
                                                              stop.data());
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

TEST(Mailboxes, AStopEndsRanksThatWaitInVain) {
    const tests::on_device<uint4> boxes(std::vector<uint4>(ranks * lines));
    const tests::on_device<int> whole(std::vector<int>(ranks, -1)), stop(std::vector<int>{1});
    const tests::on_device<detail::rank_frame> mine(frames_of(1)), all(ranks * ranks);
    gather_kernel<<<1, detail::fold_frames_threads>>>(boxes.data(), mine.data(), all.data(), whole.data(), stop.data());
    CUDA(cudaGetLastError());
    EXPECT_EQ(whole.read(), (std::vector<int>{0, -1, -1}));
    EXPECT_EQ(boxes.read()[0].x, 0u); // the gather does not count
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
    of.order(streams[0]); // the first gather of all
    of.order(streams[0]);
    EXPECT_FALSE(held.over);
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        held.open = true;
    });
    of.order(streams[1]);
    EXPECT_TRUE(held.over);
    opener.join();
    for (const cudaStream_t stream : streams) {
        CUDA(cudaStreamDestroy(stream));
    }
}

} // namespace
} // namespace warpfold

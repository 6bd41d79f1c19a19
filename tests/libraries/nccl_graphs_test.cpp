// SPDX-License-Identifier: MIT
// Calls of the software GPU's libnccl.so.2 in graphs.
#include "tests/libraries/nccl_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace softgpu::runtime {
namespace {

using nccl_capture_test = nccl_fixture;

// One thread, one capture over the streams of all devices: the group becomes one node.
TEST_F(nccl_capture_test, a_capture_over_all_devices) {
    std::vector<std::uint32_t*> data;
    std::vector<event*> joined;
    for (int rank = 0; rank < ranks; ++rank) {
        data.push_back(on_device(rank, std::vector<std::uint32_t>(2, 0)));
        joined.push_back(make_event());
    }
    use(0);
    event* const forked = make_event();
    ASSERT_EQ(cudaStreamBeginCapture(streams_[0], capture_mode::this_thread), error::success);
    ASSERT_EQ(cudaEventRecord(forked, streams_[0]), error::success);
    for (int rank = 1; rank < ranks; ++rank) {
        use(rank);
        ASSERT_EQ(cudaStreamWaitEvent(streams_[static_cast<std::size_t>(rank)], forked, 0), error::success);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        use(rank);
        ASSERT_EQ(cudaMemsetAsync(data[static_cast<std::size_t>(rank)], rank + 1, 8,
                                  streams_[static_cast<std::size_t>(rank)]),
                  error::success);
    }
    together([&](int rank) {
        std::uint32_t* const p = data[static_cast<std::size_t>(rank)];
        return ncclAllReduce(p, p, 2, ncclUint32, ncclSum, comm(rank), on(rank));
    });
    for (int rank = 1; rank < ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        use(rank);
        ASSERT_EQ(cudaEventRecord(joined[r], streams_[r]), error::success);
        use(0);
        ASSERT_EQ(cudaStreamWaitEvent(streams_[0], joined[r], 0), error::success);
    }
    graph* captured = nullptr;
    executable_graph* made = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(streams_[0], &captured), error::success);
    ASSERT_EQ(cudaGraphInstantiate(&made, captured, 0), error::success);
    std::size_t nodes = 0;
    ASSERT_EQ(cudaGraphGetNodes(captured, nullptr, &nodes), error::success);
    EXPECT_EQ(nodes, ranks + 1u);
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(cudaGraphLaunch(made, streams_[0]), error::success);
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(read_after(0, data[static_cast<std::size_t>(rank)], 2),
                      std::vector<std::uint32_t>(2, 0x01010101u * 6));
        }
    }
    EXPECT_EQ(cudaGraphExecDestroy(made), error::success);
    EXPECT_EQ(cudaGraphDestroy(captured), error::success);
}

// A graph for each rank, with a sum of all ranks' words.
class nccl_graph_of_each_rank_test : public nccl_fixture {
protected:
    void SetUp() override {
        nccl_fixture::SetUp();
        for (int rank = 0; rank < ranks; ++rank) {
            data_.push_back(on_device(rank, std::vector<std::uint32_t>(1, 5)));
        }
        for (int rank = 0; rank < ranks; ++rank) {
            use(rank);
            ASSERT_EQ(cudaStreamBeginCapture(streams_[static_cast<std::size_t>(rank)], capture_mode::this_thread),
                      error::success);
        }
        together([&](int rank) {
            std::uint32_t* const p = data_[static_cast<std::size_t>(rank)];
            return ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(rank), on(rank));
        });
        for (int rank = 0; rank < ranks; ++rank) {
            graph* captured = nullptr;
            use(rank);
            ASSERT_EQ(cudaStreamEndCapture(streams_[static_cast<std::size_t>(rank)], &captured), error::success);
            ASSERT_EQ(cudaGraphInstantiate(&made_.emplace_back(), captured, 0), error::success);
            ASSERT_EQ(cudaGraphDestroy(captured), error::success);
        }
    }
    void TearDown() override {
        for (executable_graph* const g : made_) {
            (void)cudaGraphExecDestroy(g); // of a device that has failed, too
        }
        nccl_fixture::TearDown();
    }

    void launch(int rank) {
        use(rank);
        EXPECT_EQ(cudaGraphLaunch(made_[static_cast<std::size_t>(rank)], streams_[static_cast<std::size_t>(rank)]),
                  error::success);
    }
    // Without the word of rank 1 nothing is added.
    void expect_unchanged(ncclResult_t state_of_others) {
        for (const int rank : {0, 2}) {
            use(rank);
            EXPECT_EQ(read_after(rank, data_[static_cast<std::size_t>(rank)], 1), std::vector<std::uint32_t>(1, 5));
            ncclResult_t state = ncclSuccess;
            EXPECT_EQ(ncclCommGetAsyncError(comm(rank), &state), ncclSuccess);
            EXPECT_EQ(state, state_of_others);
        }
    }

    std::vector<std::uint32_t*> data_;
    std::vector<executable_graph*> made_;
};

TEST_F(nccl_graph_of_each_rank_test, a_device_that_fails_ends_the_waits_of_all) {
    launch(0);
    launch(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // both wait
    use(1);
    ASSERT_EQ(fill(nullptr, 1), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    expect_unchanged(ncclRemoteError);
    launch(0);
    expect_unchanged(ncclRemoteError);
}

TEST_F(nccl_graph_of_each_rank_test, an_abort_ends_the_waits_of_all) {
    launch(0);
    launch(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(ncclCommAbort(comm(1)), ncclSuccess);
    expect_unchanged(ncclInternalError);
    comms_.erase(comms_.begin() + 1);
}

TEST_F(nccl_graph_of_each_rank_test, launches_meet_each_other) {
    for (std::uint32_t expected = 15; expected != 135; expected *= 3) {
        for (const int rank : {2, 0, 1}) {
            launch(rank);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(read_after(rank, data_[static_cast<std::size_t>(rank)], 1),
                      std::vector<std::uint32_t>(1, expected));
        }
    }
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The software GPU's libnccl.so.2, with three devices.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/runtime/nccl/nccl.h"
#include "tests/runtime/devices.hpp"

namespace softgpu::runtime {
namespace {

constexpr int ranks = device_count;

class nccl_test : public devices_test {
protected:
    void SetUp() override {
        devices_test::SetUp();
        for (int device = 0; device < ranks; ++device) {
            use(device);
            streams_.push_back(make_stream());
        }
        comms_.resize(ranks);
        ASSERT_EQ(ncclCommInitAll(comms_.data(), ranks, nullptr), ncclSuccess);
    }
    void TearDown() override {
        for (auto* const c : comms_) {
            EXPECT_EQ(ncclCommDestroy(c), ncclSuccess);
        }
        devices_test::TearDown();
    }

    [[nodiscard]] cudaStream_t on(int rank) const {
        return reinterpret_cast<cudaStream_t>(streams_[static_cast<std::size_t>(rank)]);
    }
    [[nodiscard]] ncclComm_t comm(int rank) const { return comms_[static_cast<std::size_t>(rank)]; }

    // call(rank) for each rank in a group of this thread.
    static void together(const std::function<ncclResult_t(int)>& call) {
        ASSERT_EQ(ncclGroupStart(), ncclSuccess);
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(call(rank), ncclSuccess);
        }
        ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    }

    template <class T>
    static T* on_device(int device, const std::vector<T>& values) {
        use(device);
        void* p = nullptr;
        EXPECT_EQ(cudaMalloc(&p, std::max<std::size_t>(values.size() * sizeof(T), 1)), error::success);
        EXPECT_EQ(cudaMemcpy(p, values.data(), values.size() * sizeof(T), copy_kind::automatic), error::success);
        return static_cast<T*>(p);
    }
    template <class T>
    std::vector<T> read_after(int rank, const T* p, std::size_t count) {
        EXPECT_EQ(cudaStreamSynchronize(streams_[static_cast<std::size_t>(rank)]), error::success);
        std::vector<T> values(count);
        EXPECT_EQ(cudaMemcpy(values.data(), p, count * sizeof(T), copy_kind::automatic), error::success);
        return values;
    }

    // Each rank's word is of `in`; all get `expected`.
    template <class T>
    void expect_reduced(ncclDataType_t type, ncclRedOp_t op, const std::vector<T>& in, T expected) {
        std::vector<T*> data;
        data.reserve(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            data.push_back(on_device(rank, std::vector<T>(5, in[static_cast<std::size_t>(rank)])));
        }
        together([&](int rank) {
            T* const p = data[static_cast<std::size_t>(rank)];
            return ncclAllReduce(p, p, 5, type, op, comm(rank), on(rank)); // in place
        });
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(read_after(rank, data[static_cast<std::size_t>(rank)], 5), std::vector<T>(5, expected))
                << "type " << type << ", operation " << op << ", rank " << rank;
        }
    }

    std::vector<stream*> streams_;
    std::vector<ncclComm_t> comms_;
};

TEST_F(nccl_test, all_types_and_operations) {
    expect_reduced<std::int8_t>(ncclInt8, ncclSum, {100, 27, -7}, 120);
    expect_reduced<std::int8_t>(ncclInt8, ncclMin, {100, 27, -7}, -7);
    expect_reduced<std::uint8_t>(ncclUint8, ncclSum, {200, 100, 1}, 45); // wraps round
    expect_reduced<std::int32_t>(ncclInt32, ncclProd, {-3, 5, 7}, -105);
    expect_reduced<std::int32_t>(ncclInt32, ncclAvg, {-3, 5, 5}, 2);
    expect_reduced<std::uint32_t>(ncclUint32, ncclMax, {3, 0xFFFFFFFFu, 7}, 0xFFFFFFFFu);
    expect_reduced<std::int64_t>(ncclInt64, ncclSum, {std::int64_t{1} << 40, -1, 5}, (std::int64_t{1} << 40) + 4);
    expect_reduced<std::uint64_t>(ncclUint64, ncclMin, {9, ~0ull, 8}, 8);
    expect_reduced<float>(ncclFloat32, ncclSum, {0.5F, 0.25F, 1.0F}, 1.75F);
    expect_reduced<float>(ncclFloat32, ncclAvg, {1.0F, 2.0F, 6.0F}, 3.0F);
    expect_reduced<double>(ncclFloat64, ncclProd, {1.5, 2.0, -3.0}, -9.0);
    expect_reduced<double>(ncclFloat64, ncclMax, {1.5, 2.0, -3.0}, 2.0);
    expect_reduced<std::uint16_t>(ncclFloat16, ncclSum, {0x3C00, 0x4000, 0x3800}, 0x4300); // 1 + 2 + 0.5 = 3.5
    expect_reduced<std::uint16_t>(ncclFloat16, ncclSum, {0x6800, 0x3C00, 0x3C00}, 0x6800); // 2048 + 1 + 1, each rounded
    expect_reduced<std::uint16_t>(ncclBfloat16, ncclProd, {0x4000, 0x4040, 0xBF80}, 0xC0C0); // 2 * 3 * -1
    expect_reduced<std::uint8_t>(ncclFloat8e4m3, ncclSum, {0x38, 0x40, 0x30}, 0x46);         // 1 + 2 + 0.5
    expect_reduced<std::uint8_t>(ncclFloat8e5m2, ncclMax, {0x3C, 0x40, 0xBC}, 0x40);
}

TEST_F(nccl_test, each_collective) {
    std::vector<std::uint32_t*> in, out;
    const auto at = [](const std::vector<std::uint32_t*>& list, int rank) {
        return list[static_cast<std::size_t>(rank)];
    };
    for (int rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<std::uint32_t>(rank);
        in.push_back(on_device<std::uint32_t>(rank, {10 * r + 1, 10 * r + 2, 10 * r + 3}));
        out.push_back(on_device<std::uint32_t>(rank, std::vector<std::uint32_t>(9, 77)));
    }
    together([&](int r) { return ncclAllGather(at(in, r), at(out, r), 3, ncclUint32, comm(r), on(r)); });
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, at(out, r), 9), (std::vector<std::uint32_t>{1, 2, 3, 11, 12, 13, 21, 22, 23}));
    }
    together([&](int r) { return ncclReduceScatter(at(in, r), at(out, r), 1, ncclUint32, ncclSum, comm(r), on(r)); });
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, at(out, r), 2),
                  (std::vector<std::uint32_t>{33 + 3 * static_cast<std::uint32_t>(r), 2}));
    }
    together([&](int r) { return ncclBroadcast(at(in, r), at(out, r), 3, ncclUint32, 2, comm(r), on(r)); });
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, at(out, r), 3), (std::vector<std::uint32_t>{21, 22, 23}));
    }
    together([&](int r) { return ncclReduce(at(in, r), at(out, r), 2, ncclUint32, ncclMax, 1, comm(r), on(r)); });
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, at(out, r), 1)[0], 21u);
    }
    EXPECT_EQ(read_after(1, at(out, 1), 2)[1], 22u);
    together([&](int r) { return ncclBcast(at(in, r), 3, ncclUint32, 0, comm(r), on(r)); });
    EXPECT_EQ(read_after(2, at(in, 2), 3), (std::vector<std::uint32_t>{1, 2, 3}));
}

// Round a ring: each rank sends to the next and receives from the one before.
TEST_F(nccl_test, sends_and_receives) {
    std::vector<std::uint32_t*> in, out;
    for (int rank = 0; rank < ranks; ++rank) {
        in.push_back(
            on_device<std::uint32_t>(rank, std::vector<std::uint32_t>(4, 5 + static_cast<std::uint32_t>(rank))));
        out.push_back(on_device<std::uint32_t>(rank, std::vector<std::uint32_t>(4)));
    }
    together([&](int r) {
        const auto rank = static_cast<std::size_t>(r);
        EXPECT_EQ(ncclSend(in[rank], 4, ncclUint32, (r + 1) % ranks, comm(r), on(r)), ncclSuccess);
        return ncclRecv(out[rank], 4, ncclUint32, (r + ranks - 1) % ranks, comm(r), on(r));
    });
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, out[static_cast<std::size_t>(r)], 4)[3],
                  5u + static_cast<std::uint32_t>((r + ranks - 1) % ranks));
    }
}

// In stream order at every rank, without a wait of the host.
TEST_F(nccl_test, a_collective_waits_for_all_streams_and_they_for_it) {
    std::vector<std::uint32_t*> data;
    data.reserve(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        data.push_back(allocate(rank, 32));
    }
    use(1);
    held_stream held(streams_[1]);
    ASSERT_EQ(fill(data[1], 100, streams_[1]), error::success);
    together([&](int r) {
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 32, ncclUint32, ncclSum, comm(r), on(r));
    });
    EXPECT_EQ(cudaStreamQuery(streams_[0]), error::not_ready) << "rank 1 is not there yet";
    held.release();
    for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(read_after(r, data[static_cast<std::size_t>(r)], 32)[31], 131u);
    }
}

TEST_F(nccl_test, ranks_are_threads) {
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    std::vector<std::thread> threads;
    threads.reserve(ranks);
    std::vector<std::uint32_t> got(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            use(rank);
            ncclComm_t c = nullptr;
            ASSERT_EQ(ncclCommInitRank(&c, ranks, id, rank), ncclSuccess);
            int number = -1;
            ASSERT_EQ(ncclCommUserRank(c, &number), ncclSuccess);
            EXPECT_EQ(number, rank);
            ASSERT_EQ(ncclCommCuDevice(c, &number), ncclSuccess);
            EXPECT_EQ(number, rank);
            auto* const p = on_device<std::uint32_t>(rank, {1u << rank});
            for (int times = 0; times < 20; ++times) {
                ASSERT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, c, nullptr), ncclSuccess);
            }
            got[static_cast<std::size_t>(rank)] = read(p);
            EXPECT_EQ(ncclCommDestroy(c), ncclSuccess);
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    std::uint32_t expected = 7;
    for (int times = 1; times < 20; ++times) {
        expected *= 3;
    }
    EXPECT_EQ(got, std::vector<std::uint32_t>(ranks, expected));
}

// One thread, one capture over the streams of all devices: the group becomes one node.
TEST_F(nccl_test, a_capture_over_all_devices) {
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

TEST_F(nccl_test, a_split_orders_by_key) {
    std::vector<ncclComm_t> parts(ranks, nullptr);
    together([&](int rank) { // ranks 0 and 2, in reversed order; rank 1 gets none
        return ncclCommSplit(comm(rank), rank == 1 ? NCCL_SPLIT_NOCOLOR : 5, -rank,
                             &parts[static_cast<std::size_t>(rank)], nullptr);
    });
    EXPECT_EQ(parts[1], nullptr);
    for (const int rank : {0, 2}) {
        int own = -1, count = 0, device = -1;
        ASSERT_EQ(ncclCommUserRank(parts[static_cast<std::size_t>(rank)], &own), ncclSuccess);
        ASSERT_EQ(ncclCommCount(parts[static_cast<std::size_t>(rank)], &count), ncclSuccess);
        ASSERT_EQ(ncclCommCuDevice(parts[static_cast<std::size_t>(rank)], &device), ncclSuccess);
        EXPECT_EQ(own, rank == 0 ? 1 : 0);
        EXPECT_EQ(count, 2);
        EXPECT_EQ(device, rank);
    }
    int* const first = on_device(0, std::vector<int>{0, 0, 7});
    int* const third = on_device(2, std::vector<int>{0, 0, 9});
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllGather(first + 2, first, 1, ncclInt, parts[0], on(0)), ncclSuccess);
    EXPECT_EQ(ncclAllGather(third + 2, third, 1, ncclInt, parts[2], on(2)), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(read_after(0, first, 2), (std::vector<int>{9, 7}));
    EXPECT_EQ(ncclCommDestroy(parts[0]), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(parts[2]), ncclSuccess);
    ncclComm_t none = nullptr;
    EXPECT_EQ(ncclCommSplit(comm(0), -3, 0, &none, nullptr), ncclInvalidArgument);
}

TEST_F(nccl_test, each_rank_has_a_factor) {
    std::vector<float*> data;
    std::vector<ncclRedOp_t> ops(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        data.push_back(on_device(rank, std::vector<float>{1, 2}));
        float factor = static_cast<float>(rank + 2);
        if (rank == 1) { // on the device
            float* const at = on_device(1, std::vector<float>{factor});
            ASSERT_EQ(ncclRedOpCreatePreMulSum(&ops[r], at, ncclFloat, ncclScalarDevice, comm(rank)), ncclSuccess);
        } else {
            ASSERT_EQ(ncclRedOpCreatePreMulSum(&ops[r], &factor, ncclFloat, ncclScalarHostImmediate, comm(rank)),
                      ncclSuccess);
        }
    }
    EXPECT_EQ(ncclAllReduce(data[0], data[0], 2, ncclInt, ops[0], comm(0), on(0)), ncclInvalidArgument) << "its type";
    together([&](int rank) {
        const auto r = static_cast<std::size_t>(rank);
        return ncclAllReduce(data[r], data[r], 2, ncclFloat, ops[r], comm(rank), on(rank));
    });
    for (int rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        EXPECT_EQ(read_after(rank, data[r], 2), (std::vector<float>{9, 18}));
        EXPECT_EQ(ncclRedOpDestroy(ops[r], comm(rank)), ncclSuccess);
        EXPECT_EQ(ncclRedOpDestroy(ops[r], comm(rank)), ncclInvalidArgument);
    }
}

TEST_F(nccl_test, memory_and_configurations) {
    use(1);
    void* p = nullptr;
    void* handle = nullptr;
    ASSERT_EQ(ncclMemAlloc(&p, 1000), ncclSuccess);
    EXPECT_EQ(ncclCommRegister(comm(1), p, 1000, &handle), ncclSuccess);
    EXPECT_EQ(ncclCommRegister(comm(1), p, 100000, &handle), ncclInvalidArgument) << "longer than the memory";
    EXPECT_EQ(ncclCommDeregister(comm(1), handle), ncclSuccess);
    EXPECT_EQ(cudaMemset(p, 0, 1000), error::success);
    EXPECT_EQ(ncclMemFree(p), ncclSuccess);
    EXPECT_EQ(ncclMemFree(p), ncclInvalidArgument);
    EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
    EXPECT_EQ(ncclMemAlloc(nullptr, 8), ncclInvalidArgument);
    EXPECT_EQ(ncclMemAlloc(&p, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclMemAlloc(&p, std::size_t{1} << 60), ncclUnhandledCudaError);
    EXPECT_EQ(ncclCommRegister(comm(1), nullptr, 8, &handle), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDeregister(nullptr, handle), ncclInvalidArgument);
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t alone = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&alone, 1, id, 0, &config), ncclSuccess);
    int* const one = on_device(1, std::vector<int>{3});
    EXPECT_EQ(ncclAllReduce(one, one, 1, ncclInt, ncclSum, alone, on(1)), ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(alone), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(alone), ncclSuccess);
    config.magic = 0;
    EXPECT_EQ(ncclCommInitRankConfig(&alone, 1, id, 0, &config), ncclInvalidArgument);
}

TEST_F(nccl_test, an_abort_ends_waits) {
    std::atomic<int> result{-1};
    std::uint32_t* const p = allocate(0, 1);
    std::thread waits([&] { result = ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(0)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(result, -1);
    EXPECT_EQ(ncclCommAbort(comms_[1]), ncclSuccess);
    waits.join();
    EXPECT_EQ(result, ncclInternalError);
    ncclResult_t state = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm(0), &state), ncclSuccess);
    EXPECT_EQ(state, ncclInternalError);
    comms_.erase(comms_.begin() + 1);
}

// A graph for each rank, with a sum of all ranks' words.
class nccl_graphs_test : public nccl_test {
protected:
    void SetUp() override {
        nccl_test::SetUp();
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
        nccl_test::TearDown();
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

TEST_F(nccl_graphs_test, a_device_that_fails_ends_the_waits_of_all) {
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

TEST_F(nccl_graphs_test, an_abort_ends_the_waits_of_all) {
    launch(0);
    launch(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(ncclCommAbort(comm(1)), ncclSuccess);
    expect_unchanged(ncclInternalError);
    comms_.erase(comms_.begin() + 1);
}

TEST_F(nccl_graphs_test, launches_meet_each_other) {
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

TEST_F(nccl_test, a_device_that_fails_ends_the_calls_of_all) {
    const std::vector<std::uint32_t*> data{allocate(0, 32), allocate(1, 32), allocate(2, 32)};
    use(0);
    ASSERT_EQ(fill(data[0], 5), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    const auto sum = [&](int r) {
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    };
    // Of the call behind it: rank 1's device fails in its stream.
    use(1);
    void* wild = nullptr;
    void* arguments[] = {&wild};
    ASSERT_EQ(cudaLaunchKernel(&program().wild, {1, 1, 1}, {1, 1, 1}, arguments, 0, streams_[1]), error::success);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < ranks; ++rank) {
        (void)sum(rank); // the device may have failed already
    }
    (void)ncclGroupEnd();
    use(1);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    for (const int rank : {0, 2}) {
        use(rank);
        EXPECT_EQ(cudaDeviceSynchronize(), error::success);
        ncclResult_t state = ncclSuccess;
        EXPECT_EQ(ncclCommGetAsyncError(comm(rank), &state), ncclSuccess);
        EXPECT_EQ(state, ncclRemoteError);
        EXPECT_EQ(sum(rank), ncclRemoteError) << "nobody waits";
    }
    EXPECT_EQ(read(data[0]), 5u) << "no garbage is added";
    EXPECT_EQ(sum(1), ncclUnhandledCudaError);
}

TEST_F(nccl_test, a_device_that_fails_ends_waits) {
    std::uint32_t* const p = allocate(0, 1);
    std::atomic<int> result{-1};
    std::thread waits([&] { result = ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(0)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(result, -1);
    use(2);
    ASSERT_EQ(fill(nullptr, 1), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    waits.join();
    EXPECT_EQ(result, ncclRemoteError);
}

TEST_F(nccl_test, wrong_calls) {
    std::uint32_t* const p = allocate(0, 4);
    EXPECT_EQ(ncclAllReduce(p, p, 5, ncclUint32, ncclSum, comm(0), on(0)), ncclInvalidArgument) << "20 bytes of 16";
    EXPECT_EQ(ncclAllReduce(p, p, 1, static_cast<ncclDataType_t>(12), ncclSum, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, static_cast<ncclRedOp_t>(5), comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclBroadcast(p, p, 1, ncclUint32, 3, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(p, 1, ncclUint32, -1, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, nullptr, on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(1)), ncclInvalidArgument) << "of another device";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    std::vector<std::uint32_t*> data{p, allocate(1, 4), allocate(2, 4)};
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int r = 0; r < 2; ++r) { // another count
        EXPECT_EQ(ncclAllReduce(data[static_cast<std::size_t>(r)], data[static_cast<std::size_t>(r)],
                                static_cast<std::size_t>(r) + 1, ncclUint32, ncclSum, comm(r), on(r)),
                  ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclAllReduce: rank 1 has 2 elements, rank 0 has 1"),
              std::string::npos);
    EXPECT_EQ(ncclAllReduce(data[2], data[2], 1, ncclUint32, ncclSum, comm(2), on(2)), ncclInvalidUsage)
        << "the rank that had not come learns of it";
    EXPECT_EQ(ncclAllReduce(p, p, std::size_t{1} << 62, ncclUint32, ncclSum, comm(0), on(0)), ncclInvalidArgument)
        << "0 bytes modulo 2^64";
    ncclUniqueId id{};
    ncclComm_t c = nullptr;
    EXPECT_EQ(ncclCommInitRank(&c, 1, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCount(comm(0), nullptr), ncclInvalidArgument);
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ASSERT_EQ(ncclCommInitRank(&c, 2, id, 1), ncclSuccess);
    ncclComm_t twice = nullptr;
    EXPECT_EQ(ncclCommInitRank(&twice, 2, id, 1), ncclInvalidArgument) << "the rank is taken";
    EXPECT_EQ(ncclCommDestroy(c), ncclSuccess);
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ++id.internal[32]; // the host
    testing::internal::CaptureStderr();
    EXPECT_EQ(ncclCommInitRank(&c, 1, id, 0), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("the id is of another host"), std::string::npos);
}

// What each rank calls, one of them differently: every rank gets the error, and one line says what differs.
TEST_F(nccl_test, what_differs_is_named) {
    const std::vector<std::uint32_t*> data{allocate(0, 64), allocate(1, 64), allocate(2, 64)};
    const auto expect_named = [&](const std::string& words, const std::function<ncclResult_t(int, void*)>& call) {
        testing::internal::CaptureStderr();
        std::vector<std::thread> threads;
        std::vector<ncclResult_t> results(ranks, ncclSuccess);
        for (int r = 0; r < ranks; ++r) {
            threads.emplace_back([&, r] {
                use(r);
                results[static_cast<std::size_t>(r)] = call(r, data[static_cast<std::size_t>(r)]);
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(10)); // rank 0 comes first
        }
        for (std::thread& t : threads) {
            t.join();
        }
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find(words), std::string::npos) << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_EQ(results, std::vector<ncclResult_t>(ranks, ncclInvalidUsage)) << words;
    };
    expect_named("ncclAllReduce: rank 2 has elements of ncclFloat32, rank 0 of ncclUint32", [&](int r, void* p) {
        return ncclAllReduce(p, p, 4, r == 2 ? ncclFloat : ncclUint32, ncclSum, comm(r), on(r));
    });
    expect_named("ncclAllGather: rank 1 has 5 elements, rank 0 has 4",
                 [&](int r, void* p) { return ncclAllGather(p, p, r == 1 ? 5 : 4, ncclUint32, comm(r), on(r)); });
    expect_named("ncclReduceScatter: rank 1 has the operation ncclMax, rank 0 has ncclSum", [&](int r, void* p) {
        return ncclReduceScatter(p, p, 4, ncclUint32, r == 1 ? ncclMax : ncclSum, comm(r), on(r));
    });
    expect_named("ncclBroadcast: rank 1 has root 1, rank 0 has root 0",
                 [&](int r, void* p) { return ncclBroadcast(p, p, 4, ncclUint32, r == 1 ? 1 : 0, comm(r), on(r)); });
    std::vector<ncclComm_t> parts(ranks);
    expect_named("ncclCommSplit: rank 1 calls ncclBroadcast, rank 0 calls ncclCommSplit", [&](int r, void* p) {
        return r == 1 ? ncclBroadcast(p, p, 4, ncclUint32, 0, comm(r), on(r))
                      : ncclCommSplit(comm(r), 0, r, &parts[static_cast<std::size_t>(r)], nullptr);
    });
    EXPECT_EQ(parts, std::vector<ncclComm_t>(ranks)) << "none was made";
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclRecv(data[0], 4, ncclUint32, 1, comm(0), on(0)), ncclSuccess);
    EXPECT_EQ(ncclSend(data[1], 8, ncclUint32, 0, comm(1), on(1)), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclRecv: rank 1 sends 32 bytes, rank 0 receives 16"),
              std::string::npos);
    together([&](int r) { // the communicator is of use
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    });
}

// A rank whose group ended in an error gets no communicator, and the others the error.
TEST_F(nccl_test, a_split_that_was_given_up_makes_nothing) {
    auto given_up = std::make_unique<ncclComm_t>(nullptr);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(comm(0), 0, 0, given_up.get(), nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(comm(0), -3, 0, given_up.get(), nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    given_up.reset(); // nothing may be written there
    for (const int r : {1, 2}) {
        ncclComm_t none = nullptr;
        EXPECT_EQ(ncclCommSplit(comm(r), 0, 0, &none, nullptr), ncclInvalidArgument);
        EXPECT_EQ(none, nullptr);
    }
}

TEST_F(nccl_test, an_abort_ends_the_waits_of_its_own_rank) {
    std::uint32_t* const p = allocate(0, 1);
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    for (const bool all_have_joined : {false, true}) {
        ncclComm_t first = nullptr, second = nullptr;
        use(0);
        ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
        ASSERT_EQ(ncclCommInitRank(&first, 2, id, 0), ncclSuccess);
        if (all_have_joined) {
            ASSERT_EQ(ncclCommInitRank(&second, 2, id, 1), ncclSuccess);
        }
        std::atomic<int> result{-1};
        std::thread waits([&] { result = ncclAllReduce(p, p, 1, ncclUint32, ncclSum, first, on(0)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(result, -1);
        EXPECT_EQ(ncclCommAbort(first), ncclSuccess);
        waits.join();
        EXPECT_EQ(result, all_have_joined ? ncclInternalError : ncclInvalidUsage);
        if (all_have_joined) {
            EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, second, on(0)), ncclInvalidUsage);
            EXPECT_EQ(ncclCommAbort(second), ncclSuccess);
        }
    }
}

// A rank of a lower number than all who are there.
TEST_F(nccl_test, another_count_is_found_in_any_order) {
    const std::vector<std::uint32_t*> data{allocate(0, 8), allocate(1, 8), allocate(2, 8)};
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (const int r : {1, 0, 2}) {
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        EXPECT_EQ(ncclAllReduce(p, p, r == 1 ? 4 : 8, ncclUint32, ncclSum, comm(r), on(r)), ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclAllReduce: rank 0 has 8 elements, rank 1 has 4"),
              std::string::npos);
    together([&](int r) { // the next call is not affected
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    });
}

TEST_F(nccl_test, a_group_with_a_wrong_call_ends_for_all) {
    const std::vector<std::uint32_t*> data{allocate(0, 8), allocate(1, 8), allocate(2, 8)};
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(data[0], 8, ncclUint32, 1, comm(0), on(0)), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(data[0], data[0], 8, ncclUint32, 7, comm(0), on(0)), ncclInvalidArgument) << "no such root";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(ncclRecv(data[1], 8, ncclUint32, 0, comm(1), on(1)), ncclInvalidArgument) << "the sender gave up";
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Calls of the software GPU's libnccl.so.2.
#include "tests/libraries/nccl_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace softgpu::runtime {
namespace {

class nccl_test : public nccl_fixture {
protected:
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

} // namespace
} // namespace softgpu::runtime

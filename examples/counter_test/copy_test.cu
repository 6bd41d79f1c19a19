// SPDX-License-Identifier: MIT
// A coalesced copy and a strided one: 32-byte sectors of global memory, and how long they take on a card by the model.
#include <gtest/gtest.h>

#include <warpfold/testing/counters.hpp>

namespace {

using warpfold::testing::bound;
using warpfold::testing::options;
using warpfold::testing::predict;
using warpfold::testing::record;

constexpr int n = 4096;

__global__ void copy_rows(const int* in, int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = in[i];
}

__global__ void copy_columns(const int* in, int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int count = static_cast<int>(gridDim.x * blockDim.x);
    out[i] = in[i % (count / 64) * 64 + i / (count / 64)];
}

TEST(copies, are_coalesced_or_not) {
    if (!warpfold::testing::is_software_gpu()) {
        GTEST_SKIP() << "counters need the software GPU";
    }
    const auto both = record(
        [] {
            int* data = nullptr;
            ASSERT_EQ(cudaMalloc(&data, 2 * n * sizeof(int)), cudaSuccess);
            ASSERT_EQ(cudaMemset(data, 1, n * sizeof(int)), cudaSuccess);
            copy_rows<<<n / 256, 256>>>(data, data + n);
            copy_columns<<<n / 256, 256>>>(data, data + n);
            ASSERT_EQ(cudaFree(data), cudaSuccess);
        },
        options().check("all"));
    EXPECT_TRUE(both.findings().empty()) << testing::PrintToString(both.findings());
    ASSERT_EQ(both.launches().size(), 2u);
    EXPECT_EQ(both.launches()[0].block.count(), 256);

    const auto rows = both.of("copy_rows").total();
    EXPECT_EQ(rows.global_load_sectors, 4 * rows.global_load_requests); // 128 bytes a warp
    const auto columns = both.of("copy_columns").total();
    EXPECT_EQ(columns.global_load_sectors, 32 * columns.global_load_requests); // a sector a lane
    EXPECT_EQ(columns.global_store_sectors, 4 * columns.global_store_requests);
    EXPECT_EQ(rows.thread_instructions % n, 0); // no lane is left out
}

TEST(copies, take_longer_with_a_stride) {
    if (!warpfold::testing::is_software_gpu()) {
        GTEST_SKIP() << "predictions need the software GPU";
    }
    constexpr int many = 1 << 20;
    int* data = nullptr;
    ASSERT_EQ(cudaMalloc(&data, 2 * many * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMemset(data, 1, many * sizeof(int)), cudaSuccess);
    const auto rows = predict([&] { copy_rows<<<many / 256, 256>>>(data, data + many); }).on("h200");
    const auto columns = predict([&] { copy_columns<<<many / 256, 256>>>(data, data + many); }).on("h200");
    EXPECT_LT(rows.cold_microseconds, 8) << rows;
    EXPECT_GT(columns.cold_microseconds, 1.5 * rows.cold_microseconds) << columns;
    EXPECT_EQ(columns.bound, bound::l2) << columns;
    EXPECT_EQ(cudaFree(data), cudaSuccess);
}

} // namespace

// SPDX-License-Identifier: MIT
// A transpose through shared memory. A tile of 32 columns has a whole column in one bank; a tile of 33 does not.
#include <gtest/gtest.h>

#include <warpfold/testing/counters.hpp>

namespace {

constexpr int n = 64;

template <int columns>
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][columns];
    tile[threadIdx.y][threadIdx.x] = in[(32 * blockIdx.y + threadIdx.y) * n + 32 * blockIdx.x + threadIdx.x];
    __syncthreads();
    out[(32 * blockIdx.x + threadIdx.y) * n + 32 * blockIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

class transposes : public testing::Test {
protected:
    void SetUp() override {
        if (!warpfold::testing::is_software_gpu()) {
            GTEST_SKIP() << "counters need the software GPU";
        }
        ASSERT_EQ(cudaMalloc(&in_, n * n * sizeof(float)), cudaSuccess);
        ASSERT_EQ(cudaMalloc(&out_, n * n * sizeof(float)), cudaSuccess);
        ASSERT_EQ(cudaMemset(in_, 0, n * n * sizeof(float)), cudaSuccess);
    }
    void TearDown() override {
        cudaFree(in_);
        cudaFree(out_);
    }

    float* in_ = nullptr;
    float* out_ = nullptr;
};

TEST_F(transposes, a_padded_tile_has_no_bank_conflicts) {
    const auto counters = warpfold::testing::count([&] { transpose<33><<<dim3(2, 2), dim3(32, 32)>>>(in_, out_); });
    EXPECT_EQ(counters.shared_load_bank_conflicts, 0);
    EXPECT_EQ(counters.shared_store_bank_conflicts, 0);
}

TEST_F(transposes, without_padding_every_load_of_a_column_takes_32_passes) {
    const auto counters = warpfold::testing::count([&] { transpose<32><<<dim3(2, 2), dim3(32, 32)>>>(in_, out_); });
    EXPECT_EQ(counters.shared_load_bank_conflicts, 31 * counters.shared_load_requests);
    EXPECT_EQ(counters.shared_store_bank_conflicts, 0);
}

} // namespace

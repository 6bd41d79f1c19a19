// SPDX-License-Identifier: MIT
// Batches of copies of boxes, and of hints about managed memory.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "softgpu/runtime/abi/batch.hpp"
#include "tests/runtime/api.hpp"

namespace softgpu::runtime {

extern "C" {
error cudaMemcpy3DBatchAsync(std::size_t count, batch_operation* operations, unsigned long long flags, stream* on);
}

namespace {

batch_operand at(void* p, std::size_t row_length = 0, std::size_t layer_height = 0) {
    batch_operand o{};
    o.type = operand_type::pointer;
    o.pointer.at = p;
    o.pointer.row_length = row_length;
    o.pointer.layer_height = layer_height;
    return o;
}

class batch_test : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(cudaStreamCreate(&on_), error::success); }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }

    stream* on_ = nullptr;
};

TEST_F(batch_test, boxes_of_bytes) {
    std::vector<std::uint8_t> from(10 * 8 * 4);
    std::iota(from.begin(), from.end(), std::uint8_t{0});
    void* device = nullptr;
    ASSERT_EQ(cudaMalloc(&device, 1000), error::success);
    ASSERT_EQ(cudaMemset(device, 0xFF, 1000), error::success);
    auto* const bytes = static_cast<std::uint8_t*>(device);
    // 5 x 3 x 2 out of rows of 10 and layers of 8, tightly packed; and one row elsewhere.
    batch_operation two[] = {{at(from.data() + 2, 10, 8), at(bytes), {5, 3, 2}, access_order::during_call, 0},
                             {at(from.data()), at(bytes + 100), {7, 1, 1}, access_order::stream, 0}};
    ASSERT_EQ(cudaMemcpy3DBatchAsync(2, two, 0, on_), error::success);
    ASSERT_EQ(cudaStreamSynchronize(on_), error::success);
    std::vector<std::uint8_t> seen(200);
    ASSERT_EQ(cudaMemcpy(seen.data(), device, 200, copy_kind::device_to_host), error::success);
    for (unsigned z = 0; z < 2; ++z) {
        for (unsigned y = 0; y < 3; ++y) {
            for (unsigned x = 0; x < 5; ++x) {
                EXPECT_EQ(seen[(z * 3 + y) * 5 + x], (z * 8 + y) * 10 + x + 2) << x << ' ' << y << ' ' << z;
            }
        }
    }
    EXPECT_EQ(seen[30], 0xFF);
    EXPECT_EQ(seen[106], 6);
    EXPECT_EQ(seen[107], 0xFF);
}

TEST_F(batch_test, what_makes_no_sense_copies_nothing) {
    void* device = nullptr;
    ASSERT_EQ(cudaMalloc(&device, 64), error::success);
    ASSERT_EQ(cudaMemset(device, 7, 64), error::success);
    std::array<std::uint8_t, 64> host{};
    const batch_operation right{at(host.data()), at(device), {8, 1, 1}, access_order::any, 0};
    const auto refused = [&](const batch_operation& wrong, error as) {
        batch_operation both[] = {right, wrong};
        EXPECT_EQ(cudaMemcpy3DBatchAsync(2, both, 0, on_), as);
        EXPECT_EQ(cudaStreamSynchronize(on_), error::success);
        std::uint8_t first = 0;
        EXPECT_EQ(cudaMemcpy(&first, device, 1, copy_kind::device_to_host), error::success);
        EXPECT_EQ(first, 7);
    };
    batch_operation wrong = right;
    wrong.extent.height = 0;
    refused(wrong, error::invalid_value);
    wrong = right;
    wrong.source.pointer.row_length = 7;
    refused(wrong, error::invalid_value);
    wrong = right;
    wrong.order = access_order{};
    refused(wrong, error::invalid_value);
    wrong = right;
    wrong.source.type = operand_type{};
    refused(wrong, error::invalid_value);
    batch_operation one = right;
    EXPECT_EQ(cudaMemcpy3DBatchAsync(0, &one, 0, on_), error::invalid_value);
    EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &one, 1, on_), error::invalid_value);
    EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &one, 0, nullptr), error::invalid_resource_handle);
}

TEST_F(batch_test, hints_for_managed_memory) {
    void* pieces[3] = {};
    for (void*& p : pieces) {
        ASSERT_EQ(cudaMallocManaged(&p, 4096, attach_global), error::success);
    }
    static_cast<int*>(pieces[2])[0] = 5;
    std::size_t sizes[3] = {4096, 4096, 1024};
    memory_location to[2] = {{location_type::device, 0}, {location_type::host, 0}};
    std::size_t indices[2] = {0, 2};
    ASSERT_EQ(cudaMemPrefetchBatchAsync(pieces, sizes, 3, to, indices, 2, 0, on_), error::success);
    const auto last = [&](const void* p) {
        int where = -7;
        EXPECT_EQ(cudaMemRangeGetAttribute(&where, sizeof where, range_attribute::last_prefetch_location, p, 1024),
                  error::success);
        return where;
    };
    EXPECT_EQ(last(pieces[0]), 0);
    EXPECT_EQ(last(pieces[1]), 0);
    EXPECT_EQ(last(pieces[2]), host_number);
    EXPECT_EQ(static_cast<int*>(pieces[2])[0], 5);
    EXPECT_EQ(cudaMemDiscardBatchAsync(pieces, sizes, 2, 0, on_), error::success);
    EXPECT_EQ(cudaMemDiscardAndPrefetchBatchAsync(pieces, sizes, 2, to, indices, 1, 0, on_), error::success);
    indices[1] = 3;
    EXPECT_EQ(cudaMemPrefetchBatchAsync(pieces, sizes, 3, to, indices, 2, 0, on_), error::invalid_value);
    indices[0] = 1;
    EXPECT_EQ(cudaMemPrefetchBatchAsync(pieces, sizes, 3, to, indices, 1, 0, on_), error::invalid_value);
    int on_the_stack = 0;
    void* none_of_ours = &on_the_stack;
    EXPECT_EQ(cudaMemDiscardBatchAsync(&none_of_ours, sizes, 1, 0, on_), error::invalid_value);
    EXPECT_EQ(cudaMemDiscardBatchAsync(pieces, sizes, 1, 0, nullptr), error::invalid_resource_handle);
}

} // namespace
} // namespace softgpu::runtime

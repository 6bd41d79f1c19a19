// SPDX-License-Identifier: MIT
// What device memory says is free.
#include "softgpu/memory/device_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softgpu::memory {
namespace {

constexpr std::uint64_t mebibyte = 1ull << 20;

// Of a card that has more memory than a usual host: nothing is touched, so the host gives nothing. Under the thread
// sanitizer a process has addresses for little more.
TEST(device_memory, unused_falls_by_each_allocation) {
    device_memory memory(1ull << 38);
    const std::uint64_t before = memory.unused();
    EXPECT_LE(before, memory.capacity());
    std::vector<address> held;
    for (int k = 1; k <= 4; ++k) {
        held.push_back(memory.allocate(64 * mebibyte, allocation_kind::device));
        EXPECT_EQ(memory.unused(), before - k * 64 * mebibyte);
    }
    for (const address a : held) {
        EXPECT_TRUE(memory.release(a));
    }
    EXPECT_EQ(memory.unused(), before);
}

TEST(device_memory, unused_is_the_capacity_of_a_small_card) {
    device_memory memory(64 * mebibyte);
    EXPECT_EQ(memory.unused(), 64 * mebibyte);
    (void)memory.allocate(48 * mebibyte, allocation_kind::device);
    EXPECT_EQ(memory.unused(), 16 * mebibyte);
    EXPECT_THROW((void)memory.allocate(17 * mebibyte, allocation_kind::device), out_of_memory);
}

} // namespace
} // namespace softgpu::memory

// SPDX-License-Identifier: MIT
// How many blocks the steps take, and how deep their trees are.
#include "ladder/reduce/definition/blocks.hpp"

#include <gtest/gtest.h>

namespace warpfold::ladder::reduce {
namespace {

TEST(Shapes, CeilingOfTheLogarithm) {
    EXPECT_EQ(log2_up(0), 0u);
    EXPECT_EQ(log2_up(1), 0u);
    EXPECT_EQ(log2_up(2), 1u);
    EXPECT_EQ(log2_up(3), 2u);
    EXPECT_EQ(log2_up(1024), 10u);
    EXPECT_EQ(log2_up(1025), 11u);
    EXPECT_EQ(log2_up((std::uint64_t{1} << 40) + 1), 41u);
}

TEST(Shapes, OneAndTwoElementsEach) {
    const shape device{.block = 256, .multiprocessors = 132, .resident_blocks = 1056};
    EXPECT_EQ(one_each(device, 100'000, 0), 391u); // 759, Multiple Kernel Calls
    EXPECT_EQ(one_each(device, 391, 1), 2u);
    EXPECT_EQ(one_each(device, 2, 2), 1u);
    EXPECT_EQ(two_each(device, 100'000, 0), 196u);
    EXPECT_EQ(two_each(device, 1, 0), 1u);
    EXPECT_EQ(one_each(device, (std::uint64_t{1} << 33) + 1, 0), (std::uint64_t{1} << 25) + 1);
}

TEST(Shapes, CascadingGivesEachThreadLogNElementsAndFillsNoMoreThanTheDevice) {
    for (const unsigned block : {1u, 32u, 100u, 256u, 1024u}) {
        const shape device{.block = block, .multiprocessors = 132, .resident_blocks = 1000};
        for (std::uint64_t n = 1; n < (std::uint64_t{1} << 36); n = n * 3 + 1) {
            const std::uint64_t blocks = many_each(device, n, 0);
            ASSERT_GE(blocks, 1u);
            ASSERT_LE(blocks, device.resident_blocks);
            if (blocks > 1) {
                ASSERT_GE(n / (blocks * block), log2_up(n)) << n << " " << block;
            }
            ASSERT_GE(elements_each(device, n, 0) * blocks * block, n);
            ASSERT_EQ(many_each(device, blocks, 1), 1u);
        }
    }
}

} // namespace
} // namespace warpfold::ladder::reduce

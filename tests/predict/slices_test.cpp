// SPDX-License-Identifier: MIT
// What slices of L2 have to do.
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "softgpu/predict/traffic.hpp"
#include "tests/predict/line_access.hpp"

namespace softgpu::predict {
namespace {

using machine::touch;

// Of each KiB two slices have 256 bytes in turn.
TEST(Slices, TwoShareTwiceTheirBytes) {
    const device_l2 l2(1 << 20, 32, {.bytes = 512});
    std::set<std::size_t> all;
    for (std::uint64_t line = 0; line < 64; line += 8) {
        const std::size_t one = l2.slice_of(line);
        const std::size_t other = l2.slice_of(line + 2);
        for (const std::uint64_t k : {0u, 1u, 4u, 5u}) {
            EXPECT_EQ(l2.slice_of(line + k), one) << line + k;
            EXPECT_EQ(l2.slice_of(line + 2 + k), other) << line + 2 + k;
        }
        all.insert({one, other});
    }
    EXPECT_EQ(all.size(), 16u);
}

TEST(Slices, ASliceOfL2DoesOneThingAtATime) {
    device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 1, .store = 2, .atomic = 10});
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    l1.touched(access(0, 0, 1, 3, touch::atomic));
    l1.touched(access(0, 5, 1, 0, touch::load)); // the last line of the same slice
    l1.touched(access(0, 5, 1, 0, touch::store));
    l1.touched(access(0, 2, 1, 3, touch::atomic)); // of another one
    static_cast<void>(l1.ended());
    EXPECT_DOUBLE_EQ(l2.warm().slice_cycles, 33);
    EXPECT_DOUBLE_EQ(l2.cold().slice_cycles, 33);
    l2.begin();
    EXPECT_DOUBLE_EQ(l2.warm().slice_cycles, 0);
}

TEST(Slices, AtomicsBehindTheLastBarrierAreTheLastOfTheirSlice) {
    device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 1, .store = 2, .atomic = 10});
    l2.begin();
    for (unsigned block = 0; block < 2; ++block) {
        block_l1 l1(l2, load_cache(0));
        l1.touched(access(0, 0, 1, 5, touch::atomic));
        l1.passed_barrier();
        l1.touched(access(0, 0, 1, 4, touch::atomic));
        l1.passed_barrier();
        l1.touched(access(0, 0, 1, 3, touch::atomic));
        l1.touched(access(0, 2, 1, 2, touch::atomic)); // of another slice
        l1.touched(access(0, 0, 1, 0, touch::store));
        static_cast<void>(l1.ended());
    }
    EXPECT_DOUBLE_EQ(l2.warm().last_slice_cycles, 60);
    EXPECT_DOUBLE_EQ(l2.cold().last_slice_cycles, 60);
    EXPECT_DOUBLE_EQ(l2.warm().slice_cycles, 244);
}

// Warps 0 and 1 load behind their first atomics, warp 2 does not.
TEST(Slices, WithoutABarrierAtomicsBehindTheLastLoadOfTheirWarpAreTheLast) {
    device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 1, .store = 2, .atomic = 10});
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    for (const std::uint32_t warp : {0u, 1u, 2u}) {
        l1.touched(access(warp, 0, 1, 5, touch::atomic));
        if (warp != 2) {
            l1.touched(access(warp, 50, 1, 1, touch::load));
        }
        l1.touched(access(warp, 60, 1, 1, touch::store));
        l1.touched(access(warp, 0, 1, 1, touch::atomic));
    }
    static_cast<void>(l1.ended());
    EXPECT_DOUBLE_EQ(l2.warm().last_slice_cycles, 10 + 10 + 60);
    EXPECT_DOUBLE_EQ(l2.warm().slice_cycles, 180);
    l2.begin();
    EXPECT_DOUBLE_EQ(l2.warm().last_slice_cycles, 0);
}

// By lines and sectors of one slice.
double cycles(touch how, std::initializer_list<std::pair<std::uint64_t, unsigned>> words) {
    device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 1, .store = 2, .atomic = 10, .floats = 25});
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    for (const auto& [line, sectors] : words) {
        l1.touched(access(0, line, sectors, 4, how));
    }
    static_cast<void>(l1.ended());
    return l2.warm().slice_cycles;
}

TEST(Slices, AnAdditionToAFloatWaitsForTheOneBeforeInItsSector) {
    EXPECT_DOUBLE_EQ(cycles(touch::atomic, {{0, 1}, {0, 1}, {0, 1}}), 120);
    EXPECT_DOUBLE_EQ(cycles(touch::atomic_of_floats, {{0, 1}, {0, 1}, {0, 1}}), 300);
    EXPECT_DOUBLE_EQ(cycles(touch::atomic_of_floats, {{0, 1}, {0, 2}, {1, 1}, {1, 2}}), 160); // others pass meanwhile
    EXPECT_DOUBLE_EQ(cycles(touch::atomic_of_floats, {{0, 1}, {0, 2}, {0, 1}, {0, 1}}), 300);
    EXPECT_DOUBLE_EQ(cycles(touch::atomic_of_floats, {{0, 15}, {0, 15}}), 80); // four sectors at a time
}

TEST(Slices, AdditionsToOneFloatBehindTheLastBarrierWaitForEachOther) {
    for (const touch how : {touch::atomic, touch::atomic_of_floats}) {
        device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 1, .store = 2, .atomic = 10, .floats = 25});
        l2.begin();
        for (unsigned block = 0; block < 3; ++block) {
            block_l1 l1(l2, load_cache(0));
            l1.passed_barrier();
            l1.touched(access(0, 0, 1, 1, how));
            static_cast<void>(l1.ended());
        }
        EXPECT_DOUBLE_EQ(l2.warm().last_slice_cycles, how == touch::atomic ? 30 : 75);
    }
}

} // namespace
} // namespace softgpu::predict

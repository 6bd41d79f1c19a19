// SPDX-License-Identifier: MIT
// Who asks for what is on its way to another warp waits for it as well.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/predict/traffic.hpp"
#include "tests/predict/line_access.hpp"

namespace softgpu::predict {
namespace {

constexpr std::uint64_t l1_bytes = 1 << 14;
constexpr load_latencies latencies{.l2 = 300, .dram = 600};
const std::vector<host_lines> no_host;

machine::line_access load(std::uint32_t warp, std::uint64_t line, unsigned sectors = 0b1111) {
    return access(warp, line, sectors, 1, machine::touch::load);
}

TEST(Waits, AWarpWaitsForALineThatL1HasAskedForForAnotherOne) {
    const auto waited = [](std::uint32_t second, double when) {
        device_l2 l2(1 << 20, 32, {}, 1, latencies);
        l2.begin();
        block_l1 l1(l2, load_cache(l1_bytes));
        l1.touched(load(0, 5), 1000);
        l1.touched(load(second, 5), when);
        const traffic t = l1.ended();
        EXPECT_EQ(t.l1_hits, 4u);
        EXPECT_EQ(t.load_requests_missed, 1u);
        return t.load_requests_waited - 1;
    };
    EXPECT_EQ(waited(1, 1000), 1u);
    EXPECT_EQ(waited(1, 1299), 1u);
    EXPECT_EQ(waited(1, 1300), 0u); // it is there
    EXPECT_EQ(waited(1, 701), 1u);  // the host has run the later one first
    EXPECT_EQ(waited(1, 700), 0u);
    EXPECT_EQ(waited(0, 1001), 0u); // its own, which it waits for anyway
}

TEST(Waits, ALoadOfSeveralLinesWaitsOnce) {
    device_l2 l2(1 << 20, 32, {}, 1, latencies);
    l2.begin();
    block_l1 l1(l2, load_cache(l1_bytes));
    for (std::uint32_t warp = 0; warp < 2; ++warp) {
        machine::line_access a = load(warp, 5);
        l1.touched(a);
        a.line = 6;
        a.passes = 0; // of the same load
        l1.touched(a);
    }
    const traffic t = l1.ended();
    EXPECT_EQ(t.load_requests, 2u);
    EXPECT_EQ(t.load_requests_missed, 1u);
    EXPECT_EQ(t.load_requests_waited, 2u);
}

// Blocks 0 and 1 are on one multiprocessor. Waves have no common clock.
TEST(Waits, ABlockWaitsForWhatAnotherOneOfItsWaveHasAskedFor) {
    const auto waited = [](std::uint32_t wave) {
        device_l2 l2(1 << 20, 32, {}, 1, latencies);
        l2.begin();
        l1_places places({l1_bytes, 2 * l1_bytes}, 2, 1);
        std::uint64_t all = 0;
        for (const std::uint32_t place : {0u, 1u}) {
            block_l1 l1(l2, places.take(place).cache, no_host, {.place = place, .wave = place * wave},
                        places.shared_by(place));
            l1.touched(load(0, 5), 1000);
            const traffic t = l1.ended();
            EXPECT_EQ(t.l1_hits, place == 0 ? 0u : 4u);
            all += t.load_requests_waited;
        }
        return all;
    };
    EXPECT_EQ(waited(0), 2u);
    EXPECT_EQ(waited(1), 1u);
}

std::uint64_t waited_in_l2(std::uint32_t first, std::uint32_t second, bool is_new_launch = false) {
    device_l2 l2(1 << 20, 32, {}, 1, latencies);
    l2.begin();
    l2.take({{.line = 5, .by = {.by = 2, .when = first}, .sectors = 0b0001}});
    if (is_new_launch) {
        l2.begin();
    }
    l2.take({{.line = 5, .by = {.by = 4, .when = second}, .sectors = 0b0001}});
    EXPECT_EQ(l2.warm().l2_read_hits, 1u);
    return l2.warm().l2_waited;
}

TEST(Waits, AMultiprocessorWaitsForASectorThatDramSendsToAnotherOne) {
    EXPECT_EQ(waited_in_l2(1000, 1000), 1u);
    EXPECT_EQ(waited_in_l2(1000, 1599), 1u);
    EXPECT_EQ(waited_in_l2(1000, 1600), 0u);
    EXPECT_EQ(waited_in_l2(1599, 1000), 1u);
    EXPECT_EQ(waited_in_l2(1000, 1000, true), 0u); // it was there before the launch
}

TEST(Waits, ASectorThatTheOtherPartitionWaitsForIsWaitedForHere) {
    device_l2 l2(1 << 20, 32, {}, 2, latencies);
    l2.begin();
    const unsigned home = l2.home_of(5);
    l2.take({{.line = 5, .by = {.by = static_cast<std::uint16_t>(2 | home)}, .sectors = 0b0001}});
    l2.take({{.line = 5, .by = {.by = static_cast<std::uint16_t>(4 | (home ^ 1))}, .sectors = 0b0001}});
    EXPECT_EQ(l2.cold().l2_far_hits, 1u);
    EXPECT_EQ(l2.cold().l2_waited, 1u);
    EXPECT_EQ(l2.cold().dram_reads, 1u);
}

TEST(Waits, NothingIsOnItsWayInNoTime) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    block_l1 l1(l2, load_cache(l1_bytes));
    l1.touched(load(0, 5));
    l1.touched(load(1, 5));
    const traffic t = l1.ended();
    EXPECT_EQ(t.load_requests_waited, 1u);
    EXPECT_EQ(l2.warm().l2_waited, 0u);
}

} // namespace
} // namespace softgpu::predict

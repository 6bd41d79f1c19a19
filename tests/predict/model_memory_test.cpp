// SPDX-License-Identifier: MIT
// Each bound of the memories alone: a launch that needs one thing only takes the time that its formula gives by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/predict/round_card.hpp"

namespace softgpu::predict {
namespace {

using observe::instruction_class;

// L2 takes 1000 bytes a cycle, so the share of one of ten multiprocessors is 100. Two blocks queue for it, each with 6400 bytes. A
// single one gets what one multiprocessor can take.
TEST(Model, ABlockAloneHasItsMultiprocessorsWayToL2) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    w.total.barriers = 1;
    w.warm = {.loads = 4000, .l2_reads = 4000, .l2_read_hits = 4000};
    card c = round_card();
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 64 * (1 + 64. / 1064), 1e-9);
    c.blocks = 1;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 10) + 300, 1e-9);
    c.l2_multiprocessor = 10; // slower than its share of L2
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 640) + 300, 1e-9);
    c.blocks = 2;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 640 * (1 + 640. / 1640), 1e-9);
    c = round_card();
    c.blocks = 1;
    w.warm.l2_writes = 2000;
    w.warm.l2_requests = w.warm.l2_store_requests = 500;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 10 + 32 + 5) + 300, 1e-9); // 5: their own way
}

// Likewise, but each block waits four times for a load: only the first time do all multiprocessors ask at once. Where blocks come
// after others, each load finds all of them.
TEST(Model, ResidentBlocksAskL2TogetherForTheirFirstDataOnly) {
    launch_work w = some_blocks(20);
    w.path_near = 200;
    w.path_far = 1800; // four loads by DRAM; 1000 by L2
    w.total.barriers = 1;
    w.warm = {.loads = 4000, .l2_reads = 4000, .l2_read_hits = 4000};
    card c = round_card();
    const double first = 1000 + 64 * (1 + 64. / 1064);
    const double later = 1000 + 10 * (1 + 10. / 1010);
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + first / 4 + later * 3 / 4, 1e-9);
    c.l2_bandwidth = 50; // the device's L2 takes longer, from the first load on
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2560 + 300, 1e-9);
    c = round_card();
    c.blocks = 2;
    w.shape.blocks = 40;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 32 * (1 + 32. / 1032) + 1300 + 32 * (1 + 32. / 1332), 1e-9);
}

// 20 blocks on ten multiprocessors: of one at a time half are the last. Meanwhile they go on behind the barrier.
TEST(Model, NothingHidesAtomicsBehindTheLastBarrier) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    w.total.barriers = 1;
    w.warm.slice_cycles = w.warm.last_slice_cycles = 800;
    card c = round_card();
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 1000 + 800); // two at a time: all are the last
    c.blocks = 1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 300 + 400);
    w.last_path_near = w.last_path_far = 100;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 300 + 300);
    w.last_path_near = w.last_path_far = 500;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 300);
    w.warm.slice_cycles = 5000; // the slice is slowest anyway
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 5000);
}

TEST(Model, SharedMemoryTakesItsWavefronts) {
    launch_work w = some_blocks(10);
    w.total.shared_load_wavefronts = 50'000;
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "shared"), 5'000);
}

TEST(Model, DramTakesItsBytesAndWarmOnesCostNothing) {
    launch_work w = some_blocks(10);
    w.total.global_load_requests = 1;
    w.cold = {.loads = 100'000, .l2_reads = 100'000, .dram_reads = 100'000};
    w.warm = w.cold;
    w.warm.dram_reads = 0;
    w.warm.l2_read_hits = 100'000;
    const auto p = predict(round_card(), w);
    // 3.2 MB at 50 GB/s, and the first of them.
    EXPECT_DOUBLE_EQ(p.cold_nanoseconds, 1000 + 64'000 + 500);
    EXPECT_DOUBLE_EQ(p.nanoseconds, 1000 + 3'200 + 300); // the first of them, and all
    EXPECT_EQ(p.bound, "l2");
    EXPECT_EQ(p.cold_dram_read_bytes, 3'200'000u);
    EXPECT_DOUBLE_EQ(p.l2_read_hit_rate, 1);
    EXPECT_DOUBLE_EQ(p.cold_l2_read_hit_rate, 0);
    EXPECT_DOUBLE_EQ(p.launch_nanoseconds, 1000);
    ASSERT_FALSE(p.cold_bounds.empty());
    EXPECT_EQ(p.cold_bounds[0].name, "dram");
    EXPECT_DOUBLE_EQ(p.cold_bounds[0].nanoseconds, 64'000);
}

// Reads of few bytes of many rows take as long as the rows do, lines of which a part is written as long as those.
TEST(Model, DramOpensRowsAndWritesLines) {
    launch_work w = some_blocks(10);
    w.warm = {.dram_reads = 2000, .dram_writes = 500};
    card c = round_card();
    const double bytes = 2500 * 32 / 50.;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "dram"), bytes);
    w.warm.dram_rows = 1000;
    c.dram_rows = 0.5;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "dram"), 2000 + 500 * 32 / 50.);
    w.warm.dram_part_lines = 200;
    w.warm.dram_part_sectors = 300;
    c.dram_part_writes = 0.1;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "dram"), 2000 + 200 * 32 / 50. + 2000);
    c.dram_rows = c.dram_part_writes = 1000;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "dram"), bytes);
}

// Shared memory lies in L1's banks.
TEST(Model, L1AndSharedMemoryTakeTurns) {
    launch_work w = some_blocks(10);
    w.met.load_turns = 40'000; // quarters
    card c = round_card();
    c.l1_sectors = 4;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 1000);
    w.total.shared_load_wavefronts = 5'000;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 1500);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "shared"), 500);
    w.total.shared_load_wavefronts = 20'000;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 1000);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "shared"), 3000);
}

// Lanes at one word of shared memory have a round each of an atomic that is a loop.
TEST(Model, LoopsOfExchangesTakeRounds) {
    launch_work w = some_blocks(10);
    w.shape.threads = 32;
    w.met.loop_rounds = 100; // ten of each block's warp
    w.met.loop_wavefronts = 2'000;
    card c = round_card();
    c.latency_shared_atomic = 20;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "latency"), 10 * 3.65 * 20);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "shared"), 100);
}

// What comes from DRAM is written into L2 before L2 gives it. The two together take no longer than a benchmark that reads at DRAM's
// rate. What is written back takes DRAM alone.
TEST(Model, L2FillsNoSlowerThanDramReads) {
    launch_work w = some_blocks(10);
    w.warm = {.loads = 1000, .l2_reads = 1000, .dram_reads = 1000};
    card c = round_card();
    c.dram_efficiency = 1;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 2 * 32); // 32,000 bytes at 1000 a cycle, twice
    c.dram_bandwidth = 800;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 40);
    c.dram_bandwidth = 2000; // L2 is slower
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 32);
    w.warm.dram_writes = 1000;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 32);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "dram"), 32);
}

// Atomics are no reads of the rate, as in Nsight Compute.
TEST(Model, HitsOfL2AreThoseOfLoads) {
    launch_work w = some_blocks(10);
    w.warm = w.cold = {.l2_reads = 100, .l2_read_hits = 70, .l2_atomics = 60, .l2_atomic_hits = 60};
    EXPECT_DOUBLE_EQ(predict(round_card(), w).l2_read_hit_rate, 0.25);
}

// Of 40 sectors ten are asked for together with a neighbour, ten others before it.
TEST(Model, SectorsThatWarpsAskForTogetherMissWhereTheMultiprocessorIsIdle) {
    launch_work w = some_blocks(10);
    w.warm = w.cold = {
        .loads = 40, .l2_reads = 40, .l2_read_hits = 30, .l2_late_hits = 20, .l2_together = 10, .l2_early_hits = 10};
    EXPECT_DOUBLE_EQ(predict(round_card(), w).l2_read_hit_rate, 0.25);
    w.path_far = w.path_near = 400;
    w.mix[instruction_class::integer] = 100;
    const auto p = predict(round_card(), w);
    const double idle = 1 - of(p, "integer") / (p.nanoseconds - 1000);
    EXPECT_GT(idle, 0.1);
    EXPECT_LT(idle, 0.9);
    EXPECT_DOUBLE_EQ(p.l2_read_hit_rate, (30 - 10 * idle * idle - 10 * (1 + idle * idle) / 2) / 40);
}

// What the multiprocessor's part of L2 does not have and the other one has is no load of DRAM.
TEST(Model, TheOtherPartOfL2IsNoDram) {
    launch_work w = some_blocks(1);
    w.path_near = 100;
    w.path_far = 500; // one load
    w.warm = {.loads = 8, .l2_reads = 8, .l2_read_hits = 4, .l2_far_hits = 4};
    w.cold = {.loads = 8, .l2_reads = 8, .l2_read_hits = 4, .dram_reads = 4};
    const auto p = predict(round_card(), w);
    EXPECT_DOUBLE_EQ(of(p, "latency"), 300);
    EXPECT_DOUBLE_EQ(p.l2_read_hit_rate, 0.5);
    EXPECT_EQ(p.cold_bounds[0].name, "latency");
    EXPECT_DOUBLE_EQ(p.cold_bounds[0].nanoseconds, 400);
}

TEST(Model, L2TakesARequestForOneSectorAsLongAsALine) {
    launch_work w = some_blocks(100);
    w.cold = w.warm = {.l2_reads = 4'000'000, .l2_read_hits = 4'000'000, .l2_requests = 1'000'000};
    card c = round_card();
    c.l2_requests = 8;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 128'000); // 1000 GB/s
    w.cold.l2_requests = w.warm.l2_requests = 4'000'000;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 500'000);
}

// 16 blocks on each of ten multiprocessors, eight at once.
TEST(Model, BlocksQueueForL2AndDramAsForTheirMultiprocessor) {
    launch_work w = some_blocks(160);
    w.total.global_load_requests = 1;
    w.path_near = w.path_far = 1000;
    w.cold = {.loads = 5000, .l2_reads = 5000, .dram_reads = 5000};
    w.warm = {.loads = 5000, .l1_hits = 5000};
    const auto p = predict(round_card(), w);
    EXPECT_DOUBLE_EQ(p.nanoseconds, 1000 + 1000 + 300 + 1000);
    // DRAM alone 3200, latency alone 2000: longer than each of them, shorter than both after one another.
    EXPECT_GT(p.cold_nanoseconds, 1000 + 3200);
    EXPECT_LT(p.cold_nanoseconds, 1000 + 3200 + 2000);
}

// Data of a block are in L2 and in DRAM at the same time, sector by sector: the slower of the two has the queue.
TEST(Model, DataAreInL2AndDramAtTheSameTime) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    w.total.barriers = 1;
    w.warm = {.loads = 4000, .l2_reads = 4000, .l2_read_hits = 3800, .dram_reads = 200};
    // A block takes 64 cycles of L2's share and 3.2 more, since 200 sectors are written first; of DRAM's 64.
    EXPECT_NEAR(predict(round_card(), w).nanoseconds, 1000 + 1000 + 67.2 * (1 + 67.2 / 1067.2), 1e-9);
}

// 100 lanes a cycle with words side by side are eight a pass.
TEST(Model, AtomicsTakePassesOfL2AndOfItsBusiestSlice) {
    launch_work w = some_blocks(10);
    w.warm = {.atomic_passes = 5000, .slice_cycles = 4000};
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "atomics"), 400);
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "slice"), 4000);
    EXPECT_EQ(predict(round_card(), w).bound, "slice");
}

TEST(Model, LanesThatMeetTakeTheirTurns) {
    launch_work w = some_blocks(10); // one a multiprocessor
    w.met = {.constant_words = 32'000, .matches = 1000, .match_values = 32'000};
    card c = round_card();
    c.constant_words = 0.5;
    c.throughput_match = 8;
    c.match_values = 0.5;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "constant"), 6'400);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "match"), 100 * 4 + 3100 * 2);
}

// A turn of L1 is a line of four sectors.
TEST(Model, LoadsTakeTurnsOfL1) {
    launch_work w = some_blocks(10);
    w.total.global_load_sectors = 1'000'000; // their turns count
    w.total.global_store_sectors = 4'000;
    w.met = {.load_turns = 12'000};
    card c = round_card();
    c.l1_sectors = 4;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 400);
    w.shared.emplace(); // a card with rules of its own
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 25'100);
}

// 1000 additions of 32 lanes at one word: a lane each cycle, or together where they count it.
TEST(Model, LanesThatCountAWordOfSharedMemoryGoTogether) {
    launch_work w = some_blocks(10);
    w.total.shared_atomic_wavefronts = 32'000;
    card c = round_card();
    c.shared_counts_one_word = 32;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "shared"), 3'200);
    w.met = {.shared_counts = 1000, .shared_counters = 32'000};
    EXPECT_DOUBLE_EQ(of(predict(c, w), "shared"), 100);
}

TEST(Model, MemoryOfTheHostTakesItsLink) {
    launch_work w = some_blocks(10);
    w.warm.host_sectors = 1000;
    card c = round_card();
    c.mapped_bandwidth = 16;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "link"), 2000);
}

TEST(Model, StoresTakeL2LongerThanLoads) {
    launch_work w = some_blocks(10);
    w.warm = {.l2_reads = 100'000,
              .l2_read_hits = 100'000,
              .l2_writes = 100'000,
              .l2_requests = 100'000,
              .l2_store_requests = 25'000};
    card c = round_card();
    c.l2_requests = 1000;
    c.l2_store_bandwidth = 500; // 0.256 ns a line
    c.l2_store_requests = 10;   // 0.1 ns a sector of a line
    EXPECT_NEAR(of(predict(c, w), "l2"), 3'200 + 6'400, 1e-6);
    w.warm.l2_store_requests = 100'000; // a sector of each line
    EXPECT_NEAR(of(predict(c, w), "l2"), 3'200 + 10'000, 1e-6);
    w.warm.l2_store_requests = 50'000;
    EXPECT_NEAR(of(predict(c, w), "l2"), 3'200 + 50'000 * (0.1 + 0.052), 1e-6);
}

// One block stores 10,000 lines: its multiprocessor sends 32 bytes a cycle, L2 would take 4,096.
TEST(Model, AMultiprocessorSendsItsStores) {
    launch_work w = some_blocks(1);
    w.warm = {.l2_writes = 40'000, .l2_requests = 10'000, .l2_store_requests = 10'000};
    card c = round_card();
    c.l2_store_bandwidth = 4096;
    c.l2_store_requests = 1e3 / 31.25;
    c.l2_store_multiprocessor = 32;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l1"), 40'000);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 312.5);
}

// Half of the loads miss L1, in two lines each; of their sectors half hit L2, so that a load has a quarter of a chance there.
TEST(Model, ALoadWaitsForTheSlowestOfItsLines) {
    launch_work w = some_blocks(10);
    w.path_near = 100;
    w.path_far = 500; // one load
    w.warm = {.loads = 200,
              .l1_hits = 100,
              .load_requests = 80,
              .load_requests_missed = 40,
              .load_requests_waited = 40,
              .load_lines_missed = 80};
    w.warm.load_lines_apart = 80;
    w.warm.l2_reads = 100;
    w.warm.l2_read_hits = 50;
    card c = round_card();
    c.latency_l2_lines = 50; // of 32 lines; a fifth of it for two
    c.latency_dram_lines = 100;
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.5 * 100 + 0.5 * (0.25 * 310 + 0.75 * 520), 1e-9);
    w.warm.load_lines_apart = 40; // side by side
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.5 * 100 + 0.5 * (0.5 * 300 + 0.5 * 500), 1e-9);
    w.warm.load_requests_waited = 60; // of what L1 has, half is on its way
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.25 * 100 + 0.75 * (0.5 * 300 + 0.5 * 500), 1e-9);
    w.warm.l2_waited = 25; // likewise in L2
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.25 * 100 + 0.75 * (0.25 * 300 + 0.75 * 500), 1e-9);
}

// Each warp has two loads on their way, of which half miss L1: in three of four rounds one does, and in a third of these both.
TEST(Model, AWarpWaitsForTheSlowestOfItsLoads) {
    launch_work w = some_blocks(10);
    w.path_near = 100;
    w.path_far = 500; // both wait once
    w.warm = {.loads = 160,
              .l1_hits = 80,
              .load_requests = 160,
              .load_requests_missed = 80,
              .load_requests_waited = 80,
              .load_lines_missed = 80};
    w.warm.load_lines_apart = 80;
    w.warm.l2_reads = 80;
    card c = round_card();
    c.latency_l2_lines = 50;
    c.latency_dram_lines = 150;
    const double missed = 4. / 3;
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.25 * 100 + 0.75 * (500 + std::log2(missed) / 5 * 100), 1e-9);
    w.warm.l2_read_hits = 80; // in L2 each comes when it has been asked for
    EXPECT_NEAR(of(predict(c, w), "latency"), 0.25 * 100 + 0.75 * 300, 1e-9);
    w.path_far = 900; // the second waits for the first
    EXPECT_NEAR(of(predict(c, w), "latency"), 100 + 800 * (0.5 * 200) / 400, 1e-9);
}

// Half of the sectors come with a neighbour that another warp has asked for: they take as long as DRAM.
TEST(Model, SectorsOnTheirWayTakeAsLongAsDram) {
    launch_work w = some_blocks(10);
    w.path_far = 1000;
    w.warm = {.loads = 100, .l2_reads = 100, .l2_read_hits = 50};
    const double hit = of(predict(round_card(), w), "latency");
    w.warm.l2_late_hits = 50;
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "latency"), 1000);
    EXPECT_LT(hit, 1000);
    w.warm = {.loads = 100, .l2_reads = 100, .l2_far_hits = 50, .l2_far_late = 50};
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "latency"), 1000);
}

} // namespace
} // namespace softgpu::predict

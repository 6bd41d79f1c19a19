// SPDX-License-Identifier: MIT
// Each bound alone: a launch that needs one thing only takes the time that its formula gives by hand.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/predict/model.hpp"

namespace softgpu::predict {
namespace {

using observe::instruction_class;

// Round figures: 1 GHz, so that a cycle is a nanosecond; 10 multiprocessors.
card round_card() {
    card c;
    c.key = "round";
#define SOFTGPU_FIGURE(field, unit, least, most) c.field = 1;
#include "softgpu/predict/figures.def"
#undef SOFTGPU_FIGURE
    c.multiprocessors = 10;
    c.issue = 4;
    c.warps = 64;
    c.blocks = 32;
    c.registers = 65536;
    c.register_partitions = 4;
    c.address_bits = 64;
    c.shared_bytes = 100 * 1024;
    c.reserved_shared_bytes = 1024;
    c.throughput_fp32 = 64;
    c.l1_bytes = 128 * 1024;
    c.l2_bytes = 1 << 20;
    c.l2_bandwidth = 1000;
    c.l2_store_bandwidth = 1000;
    c.dram_bandwidth = 100;
    c.dram_efficiency = 0.5;
    c.latency_l1 = 100;
    c.latency_l2 = 300;
    c.latency_dram = 500;
    c.atomics = 100;
    c.block_starts = 1e15; // all at once
    c.launch = 1000;
    return c;
}

launch_work some_blocks(std::uint64_t blocks) {
    launch_work w;
    w.shape = {.blocks = blocks, .threads = 256, .shared_bytes = 0, .registers = 32};
    return w;
}

double of(const observe::prediction& p, const std::string& bound) {
    for (const observe::bound_time& b : p.bounds) {
        if (b.name == bound) {
            return b.nanoseconds;
        }
    }
    return 0;
}

TEST(Model, ArithmeticTakesItsPipeOrTheIssueSlots) {
    launch_work w = some_blocks(100);
    w.mix[instruction_class::fp32] = 1'000'000; // 100,000 warp instructions of 32 lanes a multiprocessor
    const auto p = predict(round_card(), w);
    EXPECT_DOUBLE_EQ(of(p, "fp32"), 50'000);
    EXPECT_DOUBLE_EQ(of(p, "issue"), 25'000);
    EXPECT_EQ(p.bound, "fp32");
    EXPECT_EQ(p.next_bound, "issue");
    EXPECT_DOUBLE_EQ(p.nanoseconds, 51'000);
    EXPECT_DOUBLE_EQ(p.share_of_roof, 50.0 / 51);
}

TEST(Model, SecondHalvesOfAddressesCostNothingWhereAddressesAreShort) {
    launch_work w = some_blocks(100);
    w.mix[instruction_class::integer] = 1'000'000;
    w.mix[instruction_class::upper] = 1'000'000;
    card c = round_card();
    c.throughput_integer = 64;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "integer"), 100'000);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "issue"), 50'000);
    c.address_bits = 32;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "integer"), 50'000);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "issue"), 25'000);
}

// Products take the tensor cores for their work, and the issue slots for their instructions.
TEST(Model, ProductsOfMatricesTakeTheTensorCores) {
    launch_work w = some_blocks(100);
    w.mix[instruction_class::tensor] = 10'000;
    w.mix[instruction_class::tensor_products] = 640'000; // 2048 multiply-adds each
    card c = round_card();
    c.throughput_tensor = 512;
    const auto p = predict(c, w);
    EXPECT_DOUBLE_EQ(of(p, "tensor"), 4'000); // 1000 instructions of 2048 multiply-adds a multiprocessor
    EXPECT_DOUBLE_EQ(of(p, "issue"), 250);
    EXPECT_EQ(p.bound, "tensor");
    EXPECT_DOUBLE_EQ(of(p, "half"), 0);
}

// Two blocks wait 1000 cycles each, and need the adder for 500: the second finds a third of the first in the queue.
TEST(Model, BlocksQueueForTheMultiprocessor) {
    launch_work w = some_blocks(20);
    w.shape.threads = 32;
    w.path_near = 1500; // the chain of its only warp has the 500 cycles
    w.path_far = 1500;
    w.mix[instruction_class::fp32] = 20'000;
    card c = round_card();
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 500 * (1 + 500. / 1500), 1e-9);
    c.blocks = 1; // one after the other
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * 1500, 1e-9);
    EXPECT_EQ(predict(c, w).bound, "latency");
    w.path_near = w.path_far = 0; // nothing but the adder
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000, 1e-9);
}

// Two warps of a block wait 1000 cycles each, and need the adder for 500. A barrier makes one of them.
TEST(Model, WarpsWithoutABarrierQueueByThemselves) {
    launch_work w = some_blocks(10);
    w.shape.threads = 64;
    w.path_near = w.path_far = 1500;
    w.mix[instruction_class::fp32] = 20'000;
    EXPECT_NEAR(predict(round_card(), w).nanoseconds, 1000 + 1000 + 500 * (1 + 500. / 1500), 1e-9);
    w.total.barriers = 1;
    EXPECT_NEAR(predict(round_card(), w).nanoseconds, 1000 + 1000 + 1000, 1e-9);
}

// L2 takes 1000 bytes a cycle, so the share of one of ten multiprocessors is 100. Two blocks queue for it, each with 6400 bytes. A
// single one gets what one multiprocessor can take.
TEST(Model, ABlockAloneHasItsMultiprocessorsWayToL2) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    w.total.barriers = 1;
    w.warm = {.loads = 4000, .l2_reads = 4000, .l2_read_hits = 4000};
    card c = round_card();
    c.l2_multiprocessor = 640;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 64 * (1 + 64. / 1064), 1e-9);
    c.blocks = 1;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 10), 1e-9);
    c.l2_multiprocessor = 10; // L2 itself is slower
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 64), 1e-9);
    c.l2_multiprocessor = 640;
    w.warm.l2_writes = 2000; // stores take their share
    w.total.global_store_bytes = 64'000;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 10 + 32), 1e-9);
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
    c.l2_multiprocessor = 640;
    const double first = 1000 + 64 * (1 + 64. / 1064);
    const double later = 1000 + 10 * (1 + 10. / 1010);
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + first / 4 + later * 3 / 4, 1e-9);
    c.l2_bandwidth = 50; // the device's L2 takes longer, from the first load on
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2560 + 300, 1e-9);
    c = round_card();
    c.blocks = 2;
    w.shape.blocks = 40;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * (1000 + 32 * (1 + 32. / 1032)), 1e-9);
}

// Of 20 blocks 20 or ten fit: the last of them starts 200 or 100 cycles after the first.
TEST(Model, BlocksThatFitStartOneAfterTheOther) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    card c = round_card();
    c.block_starts = 0.1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 1000 + 200);
    c.blocks = 1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 100);
}

// Where all blocks are on the device at once, the launch ends with the one that ends last.
TEST(Model, TheBlockThatEndsLastEndsTheLaunch) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    w.end_near = w.end_far = 1700; // it starts 200 cycles after the first, and waits for others
    card c = round_card();
    c.block_starts = 0.1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 1700);
    c.blocks = 1; // blocks that follow others have no clock in common
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 100);
    EXPECT_DOUBLE_EQ(clock_of(c, 20).begins, 200);
    EXPECT_DOUBLE_EQ(clock_of(c, 20).hop, 450); // one and a half times the way to L2 and back
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
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 400);
    w.last_path_near = w.last_path_far = 100;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000 + 300);
    w.last_path_near = w.last_path_far = 500;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 2000);
    w.warm.slice_cycles = 5000; // the slice is slowest anyway
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 5000);
}

TEST(Model, TheBusiestMultiprocessorIsTheOneThatCounts) {
    launch_work w = some_blocks(11); // two blocks on one of the ten
    w.mix[instruction_class::fp32] = 11'000;
    EXPECT_NEAR(of(predict(round_card(), w), "fp32"), 1000, 1e-9);
    w = some_blocks(20);
    w.mix[instruction_class::fp32] = 20'000;
    EXPECT_NEAR(of(predict(round_card(), w), "fp32"), 1000, 1e-9);
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

// Of 40 sectors ten come with a neighbour that another warp has asked for. A round takes 2200 cycles, 500 of which wait for DRAM;
// warps ask in the other 1700.
TEST(Model, SectorsOnTheirWayAreHitsWhereWarpsAskLate) {
    launch_work w = some_blocks(10);
    w.path_far = 800; // two loads
    w.mix[instruction_class::integer] = 44'000;
    w.total.barriers = 1;
    w.warm = w.cold = {.loads = 40, .l2_reads = 40, .l2_read_hits = 30, .l2_late_hits = 10};
    card c = round_card();
    c.throughput_integer = 32;
    c.l2_bandwidth = c.dram_bandwidth = 1e9;
    c.latency_l2 = c.latency_l1;
    const auto p = predict(c, w);
    const double round = (p.nanoseconds - 1000) / 2;
    EXPECT_NEAR(round, 2200, 110);
    EXPECT_DOUBLE_EQ(p.l2_read_hit_rate, (20 + 10 * (1 - 500 / (round - 500))) / 40);
    w.path_far = 1600; // four loads, of which L1 has two
    w.warm.loads = w.cold.loads = 80;
    w.warm.l1_hits = w.cold.l1_hits = 40;
    const auto by_l1 = predict(c, w);
    EXPECT_DOUBLE_EQ(by_l1.l2_read_hit_rate, (20 + 10 * (1 - 500 / ((by_l1.nanoseconds - 1000) / 2 - 500))) / 40);
    w.mix[instruction_class::integer] = 10'000; // no warp asks so late
    EXPECT_DOUBLE_EQ(predict(c, w).l2_read_hit_rate, 0.5);
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
    EXPECT_DOUBLE_EQ(p.nanoseconds, 1000 + 2 * 1000);
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

TEST(Model, LatencyGoesByWavesOfResidentBlocks) {
    launch_work w = some_blocks(80); // eight of 256 threads on each of ten multiprocessors: one wave
    w.path_near = 1000;
    w.path_far = 5000;
    w.total.global_load_requests = 1;
    w.warm = {.loads = 100, .l1_hits = 100};
    w.cold = {.loads = 100, .l2_reads = 100, .dram_reads = 100};
    const auto one = predict(round_card(), w);
    EXPECT_EQ(one.bound, "latency");
    EXPECT_DOUBLE_EQ(of(one, "latency"), 1000);
    EXPECT_NEAR(one.cold_nanoseconds, 1000 + 5000, 10); // and what its few bytes take
    w.shape.blocks = 81;
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "latency"), 2000);
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

TEST(Model, ALaunchBehindAnotherOneIsShorter) {
    launch_work w = some_blocks(0);
    w.shape.follows_kernel = true;
    card c = round_card();
    c.launch_next = 600;
    c.launch_dependent = 50;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 600);
    w.shape.starts_early = true;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 50);
    EXPECT_DOUBLE_EQ(predict(c, w).launch_nanoseconds, 50);
}

TEST(Model, StoresTakeL2LongerThanLoads) {
    launch_work w = some_blocks(10);
    w.warm = {.l2_reads = 100'000, .l2_read_hits = 100'000, .l2_writes = 100'000};
    w.total.global_store_bytes = 3'200'000;
    card c = round_card();
    c.l2_store_bandwidth = 500;
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 3'200 + 6'400);
    w.total.global_store_bytes = 1'600'000; // half of each sector
    EXPECT_DOUBLE_EQ(of(predict(c, w), "l2"), 3'200 + 3'200);
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

TEST(Model, NothingTakesTheLaunchItself) {
    const auto p = predict(round_card(), some_blocks(0));
    EXPECT_DOUBLE_EQ(p.nanoseconds, 1000);
    EXPECT_EQ(p.bound, "launch");
}

TEST(Model, ResidentBlocksFollowEachLimit) {
    const card c = round_card();
    launch_shape s{.blocks = 1, .threads = 256, .shared_bytes = 0, .registers = 32};
    EXPECT_EQ(resident_blocks(c, s), 8u); // warps
    s.threads = 32;
    EXPECT_EQ(resident_blocks(c, s), 32u); // blocks
    s.threads = 256;
    s.registers = 128;
    EXPECT_EQ(resident_blocks(c, s), 2u);
    // Whole blocks of an even number of warps, 256 registers at a time: 8 warps of 40 registers take 10240 of 65536.
    card first = c;
    first.register_partitions = 0;
    s.registers = 40;
    EXPECT_EQ(resident_blocks(first, s), 6u);
    EXPECT_EQ(resident_blocks(c, s), 6u); // 2 warps more of each part would fit, but no block
    s.threads = 7 * 32;
    EXPECT_EQ(resident_blocks(first, s), 6u);
    EXPECT_EQ(resident_blocks(c, s), 6u);
    s.threads = 5 * 32;
    EXPECT_EQ(resident_blocks(first, s), 8u); // as six warps
    EXPECT_EQ(resident_blocks(c, s), 9u);
    first.address_bits = 32;
    s.registers_32 = 10;
    EXPECT_EQ(resident_blocks(first, s), 12u); // warps
    s.threads = 256;
    s.registers = 32;
    s.shared_bytes = 24 * 1024;
    EXPECT_EQ(resident_blocks(c, s), 4u); // with the reserved 1024 bytes each
    s.shared_bytes = 1 << 20;
    EXPECT_EQ(resident_blocks(c, s), 1u); // it ran, so it fits
}

} // namespace
} // namespace softgpu::predict

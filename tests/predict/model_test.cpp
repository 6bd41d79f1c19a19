// SPDX-License-Identifier: MIT
// Each bound of the multiprocessors alone: a launch that needs one thing only takes the time that its formula gives by hand.
#include <gtest/gtest.h>

#include "tests/predict/round_card.hpp"

namespace softgpu::predict {
namespace {

using observe::instruction_class;

TEST(Model, ArithmeticTakesItsPipeOrTheIssueSlots) {
    launch_work w = some_blocks(80);
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
    c.register_partitions = 1; // one scheduler
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 500 * (1 + 500. / 1500), 1e-9);
    c.blocks = 1; // one after the other
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1500 + 300 + 1500, 1e-9);
    EXPECT_EQ(predict(c, w).bound, "latency");
    w.path_near = w.path_far = 0; // nothing but the adder
    c.blocks = 32;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000, 1e-9);
}

// What hands out blocks hears of a block's end, and then starts the one that follows: a way to L2 and back, 300 cycles.
TEST(Model, ABlockStartsLaterThanTheOneBeforeEnds) {
    launch_work w = some_blocks(30);
    w.path_near = w.path_far = 1000;
    card c = round_card();
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 1000); // all fit
    c.blocks = 1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 3 * 1000 + 2 * 300);
    EXPECT_DOUBLE_EQ(of(predict(c, w), "latency"), 3 * 1000 + 2 * 300);
    c.l2_bytes = 0; // how far away is not known
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 3 * 1000);
}

// Of the two blocks of a multiprocessor one runs while the next one starts in the other's place: four blocks that need the adder
// for 500 cycles each, and nothing else.
TEST(Model, OtherBlocksRunWhileOneStarts) {
    launch_work w = some_blocks(40);
    w.total.barriers = 1;
    w.mix[instruction_class::fp32] = 40'000;
    card c = round_card();
    c.blocks = 2;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 2 * 500 + 300 + 500 * (1 + 500. / 800), 1e-9);
}

// Ten fit of 1000 blocks, which take 10,000 cycles to start. Then the last one has its chain before it.
TEST(Model, TheLastBlockToStartEndsLast) {
    launch_work w = some_blocks(1000);
    w.path_near = w.path_far = 50;
    card c = round_card();
    c.l2_bytes = 0;
    c.blocks = 1;
    c.block_starts = 0.1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 10'000 + 50);
}

// Two warps of a block wait 1000 cycles each, and need the adder for 500. A barrier makes one of them.
TEST(Model, WarpsWithoutABarrierQueueByThemselves) {
    launch_work w = some_blocks(10);
    w.shape.threads = 64;
    w.path_near = w.path_far = 1500;
    w.mix[instruction_class::fp32] = 20'000;
    card c = round_card();
    c.register_partitions = 1; // one scheduler
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 500 * (1 + 500. / 1500), 1e-9);
    w.total.barriers = 1;
    EXPECT_NEAR(predict(c, w).nanoseconds, 1000 + 1000 + 1000, 1e-9);
}

// A block of five warps on a multiprocessor of four schedulers: one has two of them.
TEST(Model, ASchedulerHasTheUnitsOfItsWarpsOnly) {
    launch_work w = some_blocks(10);
    w.shape.threads = 5 * 32;
    w.mix[instruction_class::fp32] = 20'000; // 2,000 of a block, a cycle each two of them
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "fp32"), 1000 * 8 / 5.);
    EXPECT_DOUBLE_EQ(predict(round_card(), w).nanoseconds, 1000 + 1000 * 8 / 5.);
    w.shape.threads = 8 * 32;
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "fp32"), 1000);
}

// A thousand blocks have little to do, one has much: the launch ends when it does.
TEST(Model, TheLongestBlockEndsBeforeTheLaunchDoes) {
    launch_work w = some_blocks(1000);
    w.path_near = w.path_far = 10;
    w.longest_near = w.longest_far = 100'000;
    EXPECT_DOUBLE_EQ(predict(round_card(), w).nanoseconds, 1000 + 100'000);
}

// Of 20 blocks 20 or ten fit: the last of them starts 200 or 100 cycles after the first.
TEST(Model, BlocksThatFitStartOneAfterTheOther) {
    launch_work w = some_blocks(20);
    w.path_near = w.path_far = 1000;
    card c = round_card();
    c.block_starts = 0.1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 1000 + 200);
    c.blocks = 1;
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 100 + 1000 + 300 + 1000);
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
    EXPECT_DOUBLE_EQ(predict(c, w).nanoseconds, 1000 + 100 + 1000 + 300 + 1000);
    EXPECT_DOUBLE_EQ(clock_of(c, 20).begins, 200);
    EXPECT_DOUBLE_EQ(clock_of(c, 20).hop, 450); // one and a half times the way to L2 and back
}

TEST(Model, TheBusiestMultiprocessorIsTheOneThatCounts) {
    launch_work w = some_blocks(11); // two blocks on one of the ten
    w.mix[instruction_class::fp32] = 11'000;
    EXPECT_NEAR(of(predict(round_card(), w), "fp32"), 1000, 1e-9);
    w = some_blocks(20);
    w.mix[instruction_class::fp32] = 20'000;
    EXPECT_NEAR(of(predict(round_card(), w), "fp32"), 1000, 1e-9);
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
    EXPECT_DOUBLE_EQ(of(predict(round_card(), w), "latency"), 1000 + 300 + 1000);
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

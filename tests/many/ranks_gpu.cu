// SPDX-License-Identifier: MIT
// Calls over ranks whose targets are GPUs; on a machine with one GPU they share it.
#include <cstdint>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/primitives.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/ranks.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {

namespace {

TEST(RanksOnGpus, EveryPrimitiveGivesTheWholeArraysResult) {
    thread_ranks group(2, std::chrono::seconds(100));
    group.run([](thread_communicator& comm) {
        unsigned seed = 0;
        for (const std::uint64_t n : {0, 1, 64, 1021}) {
            tests::check_primitives<tests::on_device>(gpu{}.over(comm), n, ++seed);
        }
    });
}

TEST(RanksOnGpus, ExactSumsOfAGpuAndAHostHaveTheSameBits) {
    const auto whole = tests::any_numbers<float>(999, 3);
    const float expected = exact_sum(host{1}, whole);
    thread_ranks group(2, std::chrono::seconds(100));
    group.run([&](thread_communicator& comm) {
        if (comm.rank() == 0) {
            EXPECT_TRUE(tests::same_bits(exact_sum(host{1}.over(comm), whole.data(), 500), expected));
        } else {
            const tests::on_device<float> mine(std::vector<float>(whole.begin() + 500, whole.end()));
            EXPECT_TRUE(tests::same_bits(exact_sum(gpu{}.over(comm), mine.data(), 499), expected));
        }
    });
}

} // namespace

} // namespace warpfold

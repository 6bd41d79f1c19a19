// SPDX-License-Identifier: MIT
// Calls over ranks that are threads: every primitive, and exact sums of random splits.
#include "warpfold/thread_communicator.hpp"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/library/cases.hpp"
#include "tests/many/on_host.hpp"
#include "tests/many/split.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold {

namespace {

constexpr time_limit limit = std::chrono::seconds(60); // a rank whose assertion fails leaves the others alone

TEST(Threads, EveryPrimitiveGivesTheWholeArraysResult) {
    for (const int ranks : {1, 2, 3, 8}) {
        thread_ranks group(ranks, limit);
        group.run([](thread_communicator& comm) {
            as_any any(comm);
            unsigned seed = 0;
            for (const std::uint64_t n : {0, 1, 2, 7, 31, 64, 65, 509, 1024, 4099}) {
                tests::check_host_primitives(any, n, ++seed);
            }
        });
    }
}

TEST(Threads, ChunkedCallsGiveTheWholeArraysResult) {
    for (const int ranks : {1, 2, 5}) {
        thread_ranks group(ranks, limit);
        group.run([](thread_communicator& comm) {
            as_any any(comm);
            unsigned seed = 0;
            for (const std::uint64_t n : {0, 1, 2, 31, 64, 65, 509, 4099}) {
                tests::check_host_chunked(any, n, ++seed);
            }
            tests::check_host_chunked_file(any,
                                           testing::TempDir() + "chunked_over_threads." + std::to_string(::getpid()));
        });
    }
}

TEST(Threads, FaultsOfChunkedCallsReachEveryRank) {
    thread_ranks group(3, limit);
    group.run([](thread_communicator& comm) {
        as_any any(comm);
        tests::check_host_chunked_faults(any);
    });
}

TEST(Threads, ExactSumsOfTenThousandSplitsHaveOneSetOfBits) {
    const auto whole = tests::any_numbers<double>(1000, 5);
    const auto floats = tests::any_numbers<float>(1000, 6);
    std::vector<double> lesser(whole);
    for (double& x : lesser) {
        x /= 4096; // no sum overflows
    }
    const double expected = exact_sum(host{1}, lesser);
    const float expected_float = exact_sum(host{1}, floats);
    constexpr unsigned splits = 2000; // for each number of ranks
    std::uint64_t compared = 0;
    for (const int ranks : {2, 3, 4, 5, 7}) {
        thread_ranks group(ranks, limit);
        group.run([&](thread_communicator& comm) {
            for (unsigned seed = 0; seed < splits; ++seed) {
                const auto split = tests::random_split(lesser.size(), ranks, seed);
                const auto r = static_cast<std::size_t>(comm.rank());
                const std::uint64_t n = split[r + 1] - split[r];
                const auto on = host{1}.over(comm);
                ASSERT_TRUE(tests::same_bits(exact_sum(on, lesser.data() + split[r], n), expected)) << seed;
                if (seed % 16 == 0) {
                    ASSERT_TRUE(tests::same_bits(exact_sum(on, floats.data() + split[r], n), expected_float)) << seed;
                }
            }
        });
        compared += splits;
    }
    EXPECT_EQ(compared, 10000u);
}

TEST(Threads, FloatingPointSumsDependOnTheSplitOnly) {
    const auto whole = tests::small_numbers<float>(100003, 9);
    std::vector<float> thirds(whole);
    for (float& x : thirds) {
        x /= 3;
    }
    std::set<float> sums;
    for (int run = 0; run < 5; ++run) {
        thread_ranks group(3, limit);
        std::vector<float> got(3);
        group.run([&](thread_communicator& comm) {
            const auto split = tests::random_split(thirds.size(), 3, 4);
            const auto r = static_cast<std::size_t>(comm.rank());
            got[r] = reduce(host{2}.over(comm), thirds.data() + split[r], split[r + 1] - split[r]);
        });
        sums.insert(got.begin(), got.end());
    }
    EXPECT_EQ(sums.size(), 1u);
}

} // namespace

} // namespace warpfold

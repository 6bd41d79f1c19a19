// SPDX-License-Identifier: MIT
#include "tests/many/reproducible.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/many/primitives.hpp"
#include "tests/message_of.hpp"
#include "warpfold/any_communicator.hpp"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {
namespace {

constexpr time_limit patience = std::chrono::seconds(60);

template <class A>
tests::reproducible_results<A> alone(const std::vector<A>& whole, unsigned seed) {
    thread_ranks group(1, patience);
    thread_communicator threads(group, 0);
    as_any any(threads);
    any_communicator& comm = any;
    return tests::reproducible_of<tests::on_host>(host{1}.over(comm).reproducible(), whole, {0, whole.size()}, seed);
}

template <class A>
void check_splits(std::uint64_t n, unsigned splits, unsigned arrays = 3) {
    for (unsigned seed = 0; seed < arrays; ++seed) {
        const auto whole = tests::awkward_numbers<A>(n, seed);
        const auto expected = alone(whole, seed);
        for (const int ranks : {2, 3, 5, 8}) {
            thread_ranks group(ranks, patience);
            group.run([&](thread_communicator& threads) {
                as_any any(threads);
                any_communicator& comm = any;
                for (unsigned s = 0; s < splits; ++s) {
                    const auto split = tests::random_split(n, ranks, s + 100 * seed);
                    const auto on = host{s % 3}.over(comm).reproducible();
                    tests::expect_part(tests::reproducible_of<tests::on_host>(on, whole, split, seed), expected, split,
                                       comm.rank());
                }
            });
            ASSERT_FALSE(testing::Test::HasFailure()) << n << " " << ranks << " " << seed;
        }
    }
}

TEST(Reproducible, OneSetOfBitsForAnySplit) {
    for (const std::uint64_t n : {0, 1, 2, 7, 64, 1000}) {
        check_splits<double>(n, 4);
        check_splits<float>(n, 1);
    }
}

TEST(Reproducible, LongArraysHaveSeveralBlocksAndPieces) {
    check_splits<double>(5000, 3);
    check_splits<float>((1u << 14) + 77, 2);
}

// Twelve levels a piece, ten a block.
TEST(Reproducible, SeveralBlocksAPiece) { check_splits<float>((1u << 23) + 5, 1, 1); }

TEST(Reproducible, TenThousandSplitsHaveOneSetOfBits) {
    const auto whole = tests::awkward_numbers<double>(1000, 0);
    const std::vector<std::uint64_t> begins{0, 1, 130, 700, 701};
    auto ends = begins;
    ends.push_back(whole.size());
    thread_ranks one(1, patience);
    thread_communicator comm_alone(one, 0);
    const auto on_one = host{1}.over(comm_alone).reproducible();
    const double total = reduce(on_one, whole);
    std::vector<double> scanned(whole.size()), totals(begins.size());
    inclusive_scan(on_one, whole, scanned, tests::half_and_twice{});
    segmented_reduce(on_one, whole, ends, totals);
    unsigned compared = 0;
    for (const int ranks : {2, 3, 4, 5, 7}) {
        thread_ranks group(ranks, patience);
        group.run([&](thread_communicator& comm) {
            const auto on = host{1}.over(comm).reproducible();
            const auto r = static_cast<std::size_t>(comm.rank());
            for (unsigned seed = 0; seed < 2000; ++seed) {
                const auto split = tests::random_split(whole.size(), ranks, seed);
                const auto part = tests::part_of(whole, split, comm.rank());
                ASSERT_TRUE(tests::same_bits(reduce(on, part.data(), part.size()), total)) << seed;
                if (seed % 16 != 0) {
                    continue;
                }
                std::vector<double> out(part.size());
                inclusive_scan(on, part.data(), part.size(), out.data(), tests::half_and_twice{});
                ASSERT_TRUE(tests::same_bits(out, tests::part_of(scanned, split, comm.rank()))) << seed;
                std::vector<std::uint64_t> mine;
                std::size_t before = 0;
                for (const std::uint64_t at : begins) {
                    before += at < split[r] ? 1 : 0;
                    if (at >= split[r] && at < split[r + 1]) {
                        mine.push_back(at - split[r]);
                    }
                }
                const std::size_t segments = mine.size();
                mine.push_back(part.size());
                std::vector<double> got(segments);
                segmented_reduce(on, part.data(), mine.data(), segments, got.data());
                for (std::size_t s = 0; s < segments; ++s) {
                    ASSERT_TRUE(tests::same_bits(got[s], totals[before + s])) << seed << " " << s;
                }
            }
        });
        compared += 2000;
    }
    EXPECT_EQ(compared, 10000u);
}

TEST(Reproducible, TheOrderIsTheDocumentedTree) {
    thread_ranks group(1, patience);
    thread_communicator comm(group, 0);
    const auto on = host{1}.over(comm).reproducible();
    const tests::half_and_twice op;
    for (const std::uint64_t n : {1u, 2u, 3u, 13u, 1000u, 4096u, 10007u}) {
        const auto x = tests::awkward_numbers<double>(n, 0);
        std::vector<double> out(n);
        inclusive_scan(on, x, out, op);
        for (std::uint64_t k = 0; k < n; k += 1 + n / 50) {
            ASSERT_TRUE(tests::same_bits(out[k], k == 0 ? x[0] : op(tests::folded(x, k, op), x[k]))) << n << " " << k;
        }
        EXPECT_TRUE(tests::same_bits(reduce(on, x, op, 3.0), op(3.0, tests::folded(x, n, op)))) << n;
        EXPECT_TRUE(tests::same_bits(reduce(on, x), tests::folded(x, n, sum{}))) << n;
        const std::vector<double> backwards(x.rbegin(), x.rend());
        inclusive_scan(on, x, out, op, reversed);
        const std::uint64_t before = n - 1 - n / 2; // visited before n / 2
        EXPECT_TRUE(
            tests::same_bits(out[n / 2], before == 0 ? x[n / 2] : op(tests::folded(backwards, before, op), x[n / 2])))
            << n;
    }
}

TEST(Reproducible, SegmentsAreSeparate) {
    thread_ranks group(1, patience);
    thread_communicator comm(group, 0);
    const auto on = host{1}.over(comm).reproducible();
    const auto whole = tests::small_numbers<double>(3000, 4);
    std::vector<std::uint8_t> flags(whole.size());
    for (std::size_t k = 0; k < flags.size(); ++k) {
        flags[k] = k % 7 == 3 || k % 1024 < 2;
    }
    std::vector<double> got(whole.size()), expected(whole.size());
    const auto check = [&](const auto&... how) {
        exclusive_scan(on, whole, got, sum{}, how...);
        exclusive_scan(host{1}, whole, expected, sum{}, how...);
        EXPECT_EQ(got, expected);
        inclusive_scan(on, whole, got, sum{}, how...);
        inclusive_scan(host{1}, whole, expected, sum{}, how...);
        EXPECT_EQ(got, expected);
    };
    check(heads(flags));
    check(heads(flags), reversed);
    check(2.0, heads(flags));
    check(2.0, heads(flags), reversed);
}

TEST(Reproducible, ArgResultsAndCountsAreThoseOfThePlainCall) {
    thread_ranks group(3, patience);
    const auto whole = tests::awkward_numbers<float>(999, 2);
    group.run([&](thread_communicator& comm) {
        const auto part = tests::part_of(whole, tests::random_split(999, 3, 8), comm.rank());
        const auto on = host{1}.over(comm).reproducible();
        const auto best = arg_max(on, part);
        EXPECT_EQ(best.index, arg_max(host{1}, whole).index);
        EXPECT_EQ(count_if(on, part, [](float x) { return x > 0; }),
                  count_if(host{1}, whole, [](float x) { return x > 0; }));
    });
}

struct throws_at_a_double_seven {
    double operator()(double x) const { return x == 7 ? throw std::runtime_error("seven is not allowed") : x; }
};

TEST(Reproducible, AnExceptionOfOneRankReachesAll) {
    thread_ranks group(3, patience);
    group.run([](thread_communicator& comm) {
        const auto on = host{1}.over(comm).reproducible();
        const std::vector<double> mine(50, comm.rank() == 1 ? 7.0 : 1.0);
        EXPECT_EQ(
            tests::message_of<std::exception>([&] { (void)transform_reduce(on, mine, throws_at_a_double_seven{}); }),
            comm.rank() == 1 ? "seven is not allowed"
                             : "warpfold: transform_reduce: rank 1 failed: seven is not allowed");
        EXPECT_EQ(reduce(on, mine), 450);
        EXPECT_THROW((void)min_max(on, mine.data(), 0), invalid_argument);
        if (comm.rank() == 0) {
            EXPECT_THROW((void)reduce(host{1}.over(comm), mine), rank_error);
        } else {
            EXPECT_THROW((void)reduce(on, mine), rank_error);
        }
    });
}

} // namespace
} // namespace warpfold

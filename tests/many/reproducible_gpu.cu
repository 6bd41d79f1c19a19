// SPDX-License-Identifier: MIT
// Reproducible calls on GPUs: the bits of one host, also where some ranks are hosts.
#include "tests/many/reproducible.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/primitives.hpp"
#include "warpfold/any_communicator.hpp"
#include "warpfold/nccl.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {
namespace {

// Rank r has device r of those there are; ranks whose bit is set in `hosts` are the host's.
void check(std::uint64_t n, int ranks, unsigned hosts, unsigned seed) {
    const auto whole = tests::awkward_numbers<double>(n, seed);
    thread_ranks one(1);
    thread_communicator alone(one, 0);
    as_any any_alone(alone);
    any_communicator& comm_alone = any_alone;
    const auto expected =
        tests::reproducible_of<tests::on_host>(host{1}.over(comm_alone).reproducible(), whole, {0, whole.size()}, seed);
    int devices = 1;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    thread_ranks group(ranks, std::chrono::seconds(100));
    group.run([&](thread_communicator& threads) {
        ASSERT_EQ(cudaSetDevice(threads.rank() % devices), cudaSuccess);
        const auto split = tests::random_split(n, ranks, seed);
        const auto compare = [&](any_communicator& comm) {
            tests::expect_part(
                (hosts >> comm.rank() & 1) != 0
                    ? tests::reproducible_of<tests::on_host>(host{1}.over(comm).reproducible(), whole, split, seed)
                    : tests::reproducible_of<tests::on_device>(gpu{}.over(comm).reproducible(), whole, split, seed),
                expected, split, comm.rank());
        };
        if (hosts == 0) {
            nccl_communicator nccl(threads);
            as_any any(nccl);
            compare(any);
        } else {
            as_any any(threads);
            compare(any);
        }
    });
    ASSERT_FALSE(testing::Test::HasFailure()) << n << " " << ranks << " " << hosts;
}

TEST(ReproducibleOnGpus, TheBitsOfOneHost) {
    check(0, 2, 0, 1);
    for (unsigned seed = 0; seed < 6; ++seed) {
        check(300, 3, 0, seed);
    }
    check(5000, 1, 0, 1);
    check(9001, 3, 0, 2);
}

TEST(ReproducibleOnGpus, RanksOfBothKinds) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        check(300, 3, 2, seed);
    }
    check(5001, 2, 1, 5);
}

// Pieces of several blocks.
TEST(ReproducibleOnGpus, ALongSum) {
    const std::uint64_t n = (1u << 22) + 3;
    const auto whole = tests::awkward_numbers<double>(n, 0);
    const tests::on_device<double> data(whole);
    thread_ranks group(1);
    thread_communicator comm(group, 0);
    const double expected = reduce(host{1}.over(comm).reproducible(), whole);
    EXPECT_TRUE(tests::same_bits(reduce(gpu{}.over(comm).reproducible(), data.data(), n), expected));
    std::vector<double> scanned(n);
    inclusive_scan(host{1}.over(comm).reproducible(), whole, scanned);
    inclusive_scan(gpu{}.over(comm).reproducible(), data.data(), n, data.data());
    EXPECT_TRUE(tests::same_bits(data.read(), scanned));
}

} // namespace
} // namespace warpfold

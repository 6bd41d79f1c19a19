// SPDX-License-Identifier: MIT
// Calls over ranks whose targets are GPUs. The ranks are threads that share a GPU, with the stand-in of NCCL.
#include "warpfold/nccl.cuh"

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/primitives.hpp"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {

namespace {

// Calls work(comm) in a thread for each rank.
template <class Work>
void with_ranks(int ranks, const Work& work) {
    thread_ranks group(ranks, std::chrono::seconds(100));
    group.run([&](thread_communicator& threads) {
        nccl_communicator comm(threads);
        work(comm);
    });
}

TEST(Nccl, EveryPrimitiveGivesTheWholeArraysResult) {
    with_ranks(3, [](nccl_communicator& comm) {
        unsigned seed = 0;
        for (const std::uint64_t n : {0, 1, 64, 1021}) {
            tests::check_primitives<tests::on_device, false>(gpu{}.over(comm), n, ++seed);
        }
    });
}

TEST(Nccl, EnqueuedCallsWriteTheirOutput) {
    const auto whole = tests::any_numbers<float>(999, 3);
    with_ranks(2, [&](nccl_communicator& comm) {
        const auto split = tests::random_split(whole.size(), 2, 5);
        const auto part = tests::part_of(whole, split, comm.rank());
        const tests::on_device<float> mine(part), out(std::vector<float>(2, -1.0f));
        exact_sum(gpu{}.over(comm), mine.data(), part.size(), out.data());
        reduce(gpu{}.over(comm).at_root(1), mine.data(), part.size(), out.data() + 1, maximum{});
        comm.check_enqueued(nullptr);
        EXPECT_TRUE(tests::same_bits(out.read()[0], exact_sum(host{1}, whole)));
        EXPECT_EQ(out.read()[1], comm.rank() == 1 ? reduce(host{1}, whole, maximum{}) : -1.0f);
    });
}

TEST(Nccl, AnEnqueuedCallThatDiffersWritesNothingAndIsReported) {
    with_ranks(2, [](nccl_communicator& comm) {
        const auto on = gpu{}.over(comm);
        const tests::on_device<float> mine(std::vector<float>{1, 2}), out(std::vector<float>(1, -1.0f));
        if (comm.rank() == 0) {
            reduce(on, mine.data(), 2, out.data());
        } else {
            exact_sum(on, mine.data(), 2, out.data());
        }
        try {
            comm.check_enqueued(nullptr);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const rank_error& e) {
            EXPECT_NE(std::string(e.what()).find("rank 1 calls exact_sum, rank 0 calls reduce"), std::string::npos)
                << e.what();
        }
        EXPECT_EQ(out.read()[0], -1.0f);
        EXPECT_EQ(reduce(on, mine.data(), 2), 6.0f);
        EXPECT_THROW((void)reduce(on, comm.rank() == 0 ? nullptr : mine.data(), 2), error);
        EXPECT_EQ(exact_sum(on, mine.data(), 2), 6.0f);
    });
}

TEST(RanksOnGpus, ValuesPassThroughTheHost) {
    thread_ranks group(2, std::chrono::seconds(100));
    group.run([](thread_communicator& comm) {
        const auto split = tests::random_split(500, 2, 1);
        tests::check_reductions<tests::on_device>(gpu{}.over(comm), split, 1);
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

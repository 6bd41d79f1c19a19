// SPDX-License-Identifier: MIT
// Calls over ranks whose targets are GPUs, with the stand-in of NCCL. The ranks are threads, which share the GPUs that there
// are.
#include "warpfold/nccl.cuh"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/nccl/ranks.cuh"
#include "tests/many/primitives.hpp"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {

namespace {

// Calls work(comm) in a thread for each rank, with the GPUs in turn.
template <class Work>
void with_ranks(int ranks, const Work& work) {
    tests::with_gpu_ranks(ranks, [&](thread_communicator& threads, cudaStream_t /*stream*/) {
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

TEST(Nccl, ScansKeepTheSignOfZero) {
    with_ranks(3, [](nccl_communicator& comm) {
        const std::uint64_t n = comm.rank() == 0 ? 0 : 2;
        const tests::on_device<float> mine(std::vector<float>{-0.0f, -0.0f}), out(std::vector<float>(2, 1.0f));
        inclusive_scan(gpu{}.over(comm), mine.data(), n, out.data());
        comm.check_enqueued(nullptr);
        EXPECT_EQ(std::signbit(out.read()[0]), comm.rank() == 1); // nothing precedes; the sum of rank 1 is +0
        exclusive_scan(gpu{}.over(comm), mine.data(), n, out.data(), minimum{}, reversed, 5.0f);
        comm.check_enqueued(nullptr);
        EXPECT_EQ(out.read()[1], comm.rank() == 0 ? 1.0f : comm.rank() == 1 ? -0.0f : 5.0f);
    });
}

TEST(Nccl, AScanThatDiffersWritesNothing) {
    with_ranks(2, [](nccl_communicator& comm) {
        const auto on = gpu{}.over(comm);
        for (const std::uint64_t n : {3u, 70000u}) { // one block, and several
            const tests::on_device<float> data(std::vector<float>(n, 1.0f));
            if (comm.rank() == 0) {
                inclusive_scan(on, data.data(), n, data.data());
            } else {
                inclusive_scan(on, data.data(), n, data.data(), maximum{});
            }
            EXPECT_THROW(comm.check_enqueued(nullptr), rank_error);
            EXPECT_EQ(data.read(), std::vector<float>(n, 1.0f));
        }
        const tests::on_device<float> data(std::vector<float>(2, 1.0f));
        inclusive_scan(on, data.data(), 2, data.data());
        EXPECT_EQ(data.read()[1], comm.rank() == 0 ? 2.0f : 4.0f);
    });
}

TEST(Nccl, CallsAreCapturedInGraphs) {
    with_ranks(2, [](nccl_communicator& comm) {
        constexpr std::uint64_t n = 500;
        cudaStream_t stream = nullptr;
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        const auto on = gpu{stream}.over(comm);
        const tests::on_device<float> in(n), totals(2), scanned(n);
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        reduce(on, in.data(), n, totals.data());
        exact_sum(on, in.data(), n, totals.data() + 1);
        inclusive_scan(on, in.data(), n, scanned.data());
        ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
        for (const float value : {1.0f, 3.0f}) {
            const std::vector<float> values(n, value);
            ASSERT_EQ(cudaMemcpy(in.data(), values.data(), n * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
            ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
            comm.check_enqueued(stream);
            EXPECT_EQ(totals.read(), std::vector<float>(2, 2 * n * value));
            EXPECT_EQ(scanned.read()[n - 1], (comm.rank() == 0 ? 1 : 2) * n * value);
        }
        EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
}

__global__ void write_nowhere(float* nowhere) { *nowhere = 1; }

TEST(Nccl, ADeviceThatFailsIsReportedAtEveryRank) {
    int devices = 1;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    if (devices < 3 || std::getenv("SOFTGPU_DEVICES") == nullptr) {
        GTEST_SKIP() << "each rank needs a device of its own, which the process can use afterwards";
    }
    thread_ranks group(3, std::chrono::seconds(100));
    group.run([&](thread_communicator& threads) {
        ASSERT_EQ(cudaSetDevice(threads.rank()), cudaSuccess);
        const tests::on_device<float> data(std::vector<float>(100, 1.0f)), out(1);
        nccl_communicator comm(threads, nullptr, std::chrono::seconds(60));
        const auto on = gpu{}.over(comm);
        EXPECT_EQ(reduce(on, data.data(), 100), 300);
        std::array<char, 3> all{};
        threads.all_gather("x", all.data(), 1, "barrier"); // all have their value
        if (comm.rank() == 1) {
            write_nowhere<<<1, 1>>>(nullptr);
        }
        EXPECT_THROW(
            {
                exact_sum(on, data.data(), 100, out.data());
                comm.check_enqueued(nullptr);
            },
            error);
        EXPECT_THROW((void)reduce(on, data.data(), 100), error);
        threads.all_gather("x", all.data(), 1, "barrier");
    });
    for (int d = 0; d < devices; ++d) {
        EXPECT_EQ(cudaSetDevice(d), cudaSuccess);
        EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    }
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
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

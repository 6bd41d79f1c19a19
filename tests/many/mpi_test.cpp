// SPDX-License-Identifier: MIT
// Calls over ranks of MPI; mpirun starts this program several times.
#include "tests/message_of.hpp"
#include "warpfold/mpi.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/many/on_host.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold {

namespace {

constexpr time_limit limit = std::chrono::seconds(100); // a rank whose assertion fails leaves the others alone

TEST(Mpi, EveryPrimitiveGivesTheWholeArraysResult) {
    mpi_communicator comm(MPI_COMM_WORLD, limit);
    as_any any(comm);
    unsigned seed = 0;
    for (const std::uint64_t n : {0, 1, 7, 64, 509, 4099}) {
        tests::check_host_primitives(any, n, ++seed);
    }
}

TEST(Mpi, ChunkedCallsGiveTheWholeArraysResult) {
    mpi_communicator comm(MPI_COMM_WORLD, limit);
    as_any any(comm);
    unsigned seed = 0;
    for (const std::uint64_t n : {0, 1, 64, 509}) {
        tests::check_host_chunked(any, n, ++seed);
    }
    const pid_t own = ::getpid();
    std::vector<pid_t> processes(static_cast<std::size_t>(comm.size()));
    comm.all_gather(&own, processes.data(), sizeof own, "processes");
    tests::check_host_chunked_file(any, testing::TempDir() + "chunked_over_mpi." + std::to_string(processes[0]));
    tests::check_host_chunked_faults(any);
}

TEST(Mpi, FaultsReachEveryRank) {
    mpi_communicator comm(MPI_COMM_WORLD, limit);
    const auto on = host{1}.over(comm);
    const std::vector<double> data{1, 2};
    const double* const mine = comm.rank() == 1 ? nullptr : data.data();
    const std::string fault = tests::message_of<error>([&] { (void)exact_sum(on, mine, 2); });
    EXPECT_NE(fault.find("null pointer"), std::string::npos) << fault;
    EXPECT_EQ(exact_sum(on, data), 3.0 * comm.size());
}

TEST(Mpi, WhatDiffersIsNamedAtEveryRank) {
    mpi_communicator comm(MPI_COMM_WORLD, limit);
    const auto on = host{1}.over(comm);
    const std::vector<double> data{1, 2};
    const std::vector<int> ints{1, 2};
    const int last = comm.size() - 1;
    const auto check = [&](const std::string& words, const auto& call) {
        try {
            call(comm.rank() == last);
            ADD_FAILURE() << "nothing was thrown: " << words;
        } catch (const rank_error& e) {
            EXPECT_EQ(e.rank, last);
            EXPECT_NE(std::string(e.what()).find("rank " + std::to_string(last) + " " + words), std::string::npos)
                << e.what();
        }
        EXPECT_EQ(exact_sum(on, data), 3.0 * comm.size());
    };
    check("calls exact_sum, rank 0 calls reduce",
          [&](bool differs) { (void)(differs ? exact_sum(on, data) : reduce(on, data)); });
    check("has elements of int32, rank 0 of double",
          [&](bool differs) { differs ? (void)reduce(on, ints) : (void)reduce(on, data); });
    check("has another operation",
          [&](bool differs) { (void)(differs ? reduce(on, data, maximum{}) : reduce(on, data)); });
    check("has another operation", [&](bool differs) {
        (void)(differs ? reduce(on.reproducible(), data, maximum{}) : reduce(on.reproducible(), data));
    });
    check("has 5 bins, rank 0 has 4", [&](bool differs) {
        (void)histogram(on, data, even_bins<double>{0, 4, differs ? 5u : 4u});
    });
}

TEST(Mpi, ARankThatDoesNotCallIsNamed) {
    // Ranks that call have a quarter of the limit to hear of each other.
    mpi_communicator comm(MPI_COMM_WORLD, std::chrono::seconds(12));
    const std::vector<double> data{1, 2};
    if (comm.rank() != 1) {
        EXPECT_EQ(tests::message_of<time_limit_error>([&] { (void)reduce(host{1}.over(comm), data); }),
                  "warpfold: reduce: after 12000 ms, the time limit, nothing was heard of rank 1");
        EXPECT_THROW((void)reduce(host{1}.over(comm), data), communicator_error);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() == 1) { // completes what the others wait for, so that MPI_Finalize returns
        (void)reduce(host{1}.over(comm), data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

} // namespace warpfold

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    MPI_Finalize();
    return failed;
}

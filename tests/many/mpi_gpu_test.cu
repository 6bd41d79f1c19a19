// SPDX-License-Identifier: MIT
// Ranks of MPI on GPUs; mpirun starts this program several times. It sees which pointers MPI gets.
#include "warpfold/mpi.cuh"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/device_array.hpp"
#include "tests/many/primitives.hpp"
#include "tests/many/reproducible.hpp"
#include "warpfold/convolve.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace {

unsigned device_pointers = 0, host_pointers = 0; // that MPI has got

void look_at(const void* pointer) {
    if (pointer != nullptr && pointer != MPI_IN_PLACE) {
        cudaPointerAttributes of{};
        const bool is_device = cudaPointerGetAttributes(&of, pointer) == cudaSuccess && of.type == cudaMemoryTypeDevice;
        ++(is_device ? device_pointers : host_pointers);
    }
}

} // namespace

// MPI's profiling interface: these are called in the place of MPI's own.
extern "C" int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    look_at(data);
    return PMPI_Isend(data, n, type, to, tag, comm, request);
}
extern "C" int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    look_at(data);
    return PMPI_Irecv(data, n, type, from, tag, comm, request);
}
extern "C" int MPI_Iallreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
    look_at(in);
    look_at(out);
    return PMPI_Iallreduce(in, out, n, type, op, comm, request);
}
extern "C" int MPI_Ireduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                           MPI_Request* request) {
    look_at(in);
    look_at(out);
    return PMPI_Ireduce(in, out, n, type, op, root, comm, request);
}

namespace warpfold {
namespace {

void check_calls(mpi_communicator& comm) {
    const auto on = gpu{}.over(comm);
    for (const std::uint64_t n : {0, 1, 64, 509}) {
        const auto split = tests::random_split(n, comm.size(), static_cast<unsigned>(n) + 3);
        tests::check_convolutions<tests::on_device, false>(on, split, 3);
        tests::check_histograms<tests::on_device>(on, split, 3);
    }
}

// Counts that are added, and a root.
void check_counts(mpi_communicator& comm) {
    const int ranks = comm.size();
    const tests::on_device<float> data(std::vector<float>(10, 0.5f));
    for (const int root : {every_rank, ranks - 1}) {
        const tests::on_device<std::uint64_t> counts(std::vector<std::uint64_t>{7, 7});
        histogram(gpu{}.over(comm).at_root(root), data.data(), 10, counts.data(), even_bins<float>{0, 2, 2},
                  update::add);
        const bool has = root == every_rank || root == comm.rank();
        EXPECT_EQ(counts.read(), (std::vector<std::uint64_t>{has ? 7u + 10u * static_cast<unsigned>(ranks) : 7u, 7}));
    }
}

TEST(MpiOnGpus, ACudaAwareMpiGetsPointersToDeviceMemory) {
    mpi_communicator comm(MPI_COMM_WORLD, std::chrono::seconds(60), cuda_aware::yes);
    device_pointers = 0;
    check_calls(comm);
    EXPECT_GT(device_pointers, 0u);
    device_pointers = host_pointers = 0;
    check_counts(comm);
    EXPECT_GT(device_pointers, 0u);
    EXPECT_EQ(host_pointers, 0u);
}

TEST(MpiOnGpus, OthersGetTheHostsMemory) {
    mpi_communicator comm(MPI_COMM_WORLD, std::chrono::seconds(60), cuda_aware::no);
    device_pointers = 0;
    check_calls(comm);
    check_counts(comm);
    EXPECT_EQ(device_pointers, 0u);
    EXPECT_GT(host_pointers, 0u);
}

TEST(MpiOnGpus, DebiansOpenMpiSaysThatItIsNotCudaAware) {
    mpi_communicator comm(MPI_COMM_WORLD);
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    EXPECT_EQ(comm.is_cuda_aware(), MPIX_Query_cuda_support() == 1);
#else
    EXPECT_FALSE(comm.is_cuda_aware());
#endif
}

TEST(MpiOnGpus, ReproducibleResultsAreThoseOfOneHost) {
    mpi_communicator comm(MPI_COMM_WORLD, std::chrono::seconds(60));
    mpi_communicator alone(MPI_COMM_SELF);
    for (unsigned seed = 0; seed < 3; ++seed) {
        const auto whole = tests::awkward_numbers<float>(3000, seed);
        const auto split = tests::random_split(whole.size(), comm.size(), seed);
        const auto part = tests::part_of(whole, split, comm.rank());
        const tests::on_device<float> mine(part);
        const auto on = gpu{}.over(comm).reproducible();
        const auto one = host{1}.over(alone).reproducible();
        EXPECT_TRUE(tests::same_bits(reduce(on, mine.data(), part.size()), reduce(one, whole)));
        std::vector<float> scanned(whole.size());
        inclusive_scan(one, whole, scanned);
        inclusive_scan(on, mine.data(), part.size(), mine.data());
        EXPECT_TRUE(tests::same_bits(mine.read(), tests::part_of(scanned, split, comm.rank())));
    }
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

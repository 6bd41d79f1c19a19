// SPDX-License-Identifier: MIT
// Times of calls over ranks of MPI on hosts: of one double a rank, and of a large array in equal parts, beside
// MPI_Allreduce of local sums and the reproducible sum of climate codes.
//
//   mpic++ -std=c++20 -O3 -I. -Iinclude benchmarks/ranks/mpi_calls.cpp -o mpi_calls -lpthread
//   mpirun -n 4 ./mpi_calls [LOG2]      log2 of the elements in all, default 26
#include "warpfold/mpi.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "benchmarks/ranks/integer_vector_sum.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace {

using namespace warpfold;
using ranks_benchmark::integer_vector_sum;

// Microseconds of a call, the median of the rounds at rank 0.
template <class Call>
void row(const mpi_communicator& comm, const char* name, int rounds, int calls, const Call& call) {
    std::vector<double> times;
    call();
    for (int round = 0; round < rounds; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < calls; ++k) {
            call();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        times.push_back(took.count() / calls);
    }
    std::sort(times.begin(), times.end());
    if (comm.rank() == 0) {
        std::printf("| %-32s | %10.1f |\n", name, times[times.size() / 2]);
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        mpi_communicator comm(MPI_COMM_WORLD);
        const auto on = host{1}.over(comm);
        if (comm.rank() == 0) {
            std::printf("| %d ranks | us |\n| --- | ---: |\n", comm.size());
        }
        const double one = 1;
        double all = 0;
        const auto allreduce = [&](double mine) { MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); };
        row(comm, "MPI_Allreduce, one double", 51, 100, [&] { allreduce(one); });
        row(comm, "reduce, one double", 51, 100, [&] { all = reduce(on, &one, 1); });
        row(comm, "exact_sum, one double", 51, 100, [&] { all = exact_sum(on, &one, 1); });
        row(comm, "exact_dot, one double", 51, 100, [&] { all = exact_dot(on, &one, &one, 1); });

        const int log = argc > 1 ? std::atoi(argv[1]) : 26;
        const std::uint64_t n = (std::uint64_t{1} << log) / static_cast<std::uint64_t>(comm.size());
        std::vector<double> data(n), out(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            data[k] = static_cast<double>((k * 2654435761u) % 1000003) / 7;
        }
        std::vector<std::uint64_t> counts(256);
        if (comm.rank() == 0) {
            std::printf("| 2^%d doubles in all | |\n", log);
        }
        row(comm, "local reduce, MPI_Allreduce", 9, 1, [&] { allreduce(reduce(host{1}, data)); });
        row(comm, "reduce", 9, 1, [&] { all = reduce(on, data); });
        row(comm, "local exact_sum alone", 9, 1, [&] { all = exact_sum(host{1}, data); });
        row(comm, "exact_sum", 9, 1, [&] { all = exact_sum(on, data); });
        const auto vectors = [&](const std::vector<double>& of) { all = integer_vector_sum(of.data(), n, comm.get()); };
        row(comm, "integer vectors", 9, 1, [&] { vectors(data); });
        std::vector<double> wide(data); // of both signs and 80 binary orders
        for (std::uint64_t k = 0; k < n; ++k) {
            wide[k] = std::ldexp(k % 2 == 0 ? data[k] : -data[k], static_cast<int>(k * 37 % 80) - 40);
        }
        row(comm, "exact_sum, wide range", 9, 1, [&] { all = exact_sum(on, wide); });
        const double exact = all;
        row(comm, "integer vectors, wide range", 9, 1, [&] { vectors(wide); });
        if (comm.rank() == 0) {
            std::printf("integer vectors less exact_sum, wide range: %g of it\n", (all - exact) / exact);
        }
        row(comm, "local inclusive_scan alone", 9, 1, [&] { inclusive_scan(host{1}, data, out); });
        row(comm, "inclusive_scan", 9, 1, [&] { inclusive_scan(on, data, out); });
        row(comm, "local histogram alone", 9, 1, [&] {
            histogram(host{1}, data, counts, even_bins<double>{0, 2e5, 256});
        });
        row(comm, "histogram", 9, 1, [&] { histogram(on, data, counts, even_bins<double>{0, 2e5, 256}); });
    }
    MPI_Finalize();
    return 0;
}

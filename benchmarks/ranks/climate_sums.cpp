// SPDX-License-Identifier: MIT
// Global sums over decompositions, as climate codes make them: the bits, errors and times of seven ways. Rank 0 prints one JSON
// object a line; measure/pages/climate_sums.py makes the page.
//
//   mpic++ -std=c++20 -O3 -I. -Iinclude benchmarks/ranks/climate_sums.cpp -o climate_sums -lpthread
//   mpirun -n 4 ./climate_sums LOG2 SPLITS     LOG2 of the elements in all; so many decompositions
#include "warpfold/mpi.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "benchmarks/ranks/integer_vector_sum.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/reduce.hpp"

namespace {

using namespace warpfold;

// As a field of a global mean: the terms are area times value.
std::vector<double> field(const char* name, std::uint64_t n) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> one(-1, 1);
    std::vector<double> x(n);
    const double pi = std::acos(-1.0);
    for (std::uint64_t k = 0; k < n; ++k) {
        const double latitude = (static_cast<double>(k) + 0.5) / static_cast<double>(n) * pi - pi / 2;
        const double area = std::cos(latitude);
        switch (name[0]) {
        case 'm': x[k] = area * (1e5 + 1e3 * one(random)); break;                      // a mass: all positive
        case 'f': x[k] = area * (200 * std::sin(2 * latitude) + one(random)); break;   // a flux: nearly balanced
        default: x[k] = std::ldexp(one(random), static_cast<int>(random() % 80) - 40); // of 80 binary orders
        }
    }
    if (name[0] == 't') { // tendencies that cancel but for a small rest
        for (std::uint64_t k = 0; k + 1 < n; k += 2) {
            x[k + 1] = -x[k] * (1 + std::ldexp(one(random), -40));
        }
        std::shuffle(x.begin(), x.end(), random);
    }
    return x;
}

struct pair_sum {
    double high, low;
};
pair_sum two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
void add(pair_sum& to, const pair_sum& more) {
    const pair_sum s = two_sum(to.high, more.high);
    to = two_sum(s.high, s.low + to.low + more.low);
}
void add_pairs(void* in, void* to, int* count, MPI_Datatype* /*type*/) {
    for (int k = 0; k < *count; ++k) {
        add(static_cast<pair_sum*>(to)[k], static_cast<pair_sum*>(in)[k]);
    }
}

double plain(const double* x, std::uint64_t n) {
    double sum = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        sum += x[k];
    }
    return sum;
}
double kahan(const double* x, std::uint64_t n) {
    double sum = 0, rest = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        const double term = x[k] - rest, next = sum + term;
        rest = (next - sum) - term;
        sum = next;
    }
    return sum;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        mpi_communicator comm(MPI_COMM_WORLD);
        const auto on = host{1}.over(comm);
        const std::uint64_t n = std::uint64_t{1} << (argc > 1 ? std::atoi(argv[1]) : 20);
        const int splits = argc > 2 ? std::atoi(argv[2]) : 5;
        MPI_Datatype pair = MPI_DATATYPE_NULL;
        MPI_Op sum_pairs = MPI_OP_NULL;
        MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
        MPI_Type_commit(&pair);
        MPI_Op_create(add_pairs, 1, &sum_pairs);
        for (const char* const name : {"mass", "flux", "wide", "tendency"}) {
            const std::vector<double> whole = field(name, n);
            const double exact = exact_sum(host{1}, whole);
            double magnitude = 0;
            for (const double x : whole) {
                magnitude += std::abs(x);
            }
            for (int split = 0; split < splits; ++split) { // the first one is even, the others are random
                std::vector<std::uint64_t> bounds{0, n};
                std::mt19937_64 random(static_cast<unsigned>(split));
                for (int r = 1; r < comm.size(); ++r) {
                    bounds.push_back(split == 0
                                         ? n / static_cast<std::uint64_t>(comm.size()) * static_cast<std::uint64_t>(r)
                                         : random() % (n + 1));
                }
                std::sort(bounds.begin(), bounds.end());
                const auto r = static_cast<std::size_t>(comm.rank());
                const double* const mine = whole.data() + bounds[r];
                const std::uint64_t count = bounds[r + 1] - bounds[r];
                const auto row = [&](const char* way, const auto& call) {
                    double value = 0, least = 1e30;
                    for (int round = 0; round < (split == 0 ? 9 : 1); ++round) {
                        MPI_Barrier(MPI_COMM_WORLD);
                        const auto start = std::chrono::steady_clock::now();
                        value = call();
                        MPI_Barrier(MPI_COMM_WORLD);
                        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
                        least = std::min(least, took.count());
                    }
                    if (comm.rank() == 0) {
                        std::printf(
                            "{\"field\": \"%s\", \"way\": \"%s\", \"ranks\": %d, \"split\": %d, \"bits\": \"%016llx\", "
                            "\"error\": %.3g, \"condition\": %.3g, \"ms\": %.4f, \"elements\": %llu}\n",
                            name, way, comm.size(), split,
                            static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)),
                            std::abs((value - exact) / exact), magnitude / std::abs(exact), least,
                            static_cast<unsigned long long>(n));
                    }
                };
                const auto all = [](double part) {
                    double total = 0;
                    MPI_Allreduce(&part, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                    return total;
                };
                row("a loop, MPI_Allreduce", [&] { return all(plain(mine, count)); });
                row("Kahan, MPI_Allreduce", [&] { return all(kahan(mine, count)); });
                row("double-double, MPI_Allreduce", [&] {
                    pair_sum part{0, 0}, total{0, 0};
                    for (std::uint64_t k = 0; k < count; ++k) {
                        add(part, {mine[k], 0});
                    }
                    MPI_Allreduce(&part, &total, 1, pair, sum_pairs, MPI_COMM_WORLD);
                    return total.high;
                });
                row("integer vectors (shr_reprosum)",
                    [&] { return ranks_benchmark::integer_vector_sum(mine, count, comm.get()); });
                row("reduce", [&] { return reduce(on, mine, count); });
                row("reduce, reproducible", [&] { return reduce(on.reproducible(), mine, count); });
                row("exact_sum", [&] { return exact_sum(on, mine, count); });
            }
        }
        MPI_Op_free(&sum_pairs);
        MPI_Type_free(&pair);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: MIT
// A sum that does not depend on the order of its terms, as climate codes make it (E3SM's shr_reprosum; P. Worley,
// "integer vector" method): each term becomes a vector of integers relative to the largest exponent of all, and MPI adds
// the integers. A peer in benchmarks, written from the published description.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <mpi.h>

namespace ranks_benchmark {

// Finite numbers, none subnormal, whose largest magnitude is above 2^-900. All bits of all terms are kept; the integers of the result are
// added in double precision.
inline double integer_vector_sum(const double* x, std::uint64_t n, MPI_Comm comm) {
    // The largest exponent, the smallest, negated, and the most terms of a rank.
    std::array<long long, 3> range{-2000, -2000, static_cast<long long>(n)};
    for (std::uint64_t k = 0; k < n; ++k) {
        if (x[k] != 0) {
            const auto exponent = static_cast<long long>(std::bit_cast<std::uint64_t>(x[k]) >> 52 & 0x7ff) - 1022;
            range[0] = std::max(range[0], exponent);
            range[1] = std::max(range[1], -exponent);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, range.data(), 3, MPI_LONG_LONG, MPI_MAX, comm);
    if (range[0] == -2000) {
        return 0;
    }
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    int bits = 62; // of an integer, so that the sum of all terms' integers fits
    for (double terms = static_cast<double>(range[2]) * ranks; terms > 1; terms /= 2) {
        --bits;
    }
    const int highest = static_cast<int>(range[0]), all = highest + static_cast<int>(range[1]) + 53;
    std::vector<long long> sums(static_cast<std::size_t>(all / bits) + 1);
    const double first = std::ldexp(1.0, bits - highest), next = std::ldexp(1.0, bits);
    for (std::uint64_t k = 0; k < n; ++k) {
        double rest = x[k] * first;
        for (std::size_t level = 0; rest != 0; ++level) {
            const auto whole = static_cast<long long>(rest);
            sums[level] += whole;
            rest = (rest - static_cast<double>(whole)) * next;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_LONG_LONG, MPI_SUM, comm);
    double total = 0;
    for (std::size_t level = sums.size(); level-- > 0;) {
        total += std::ldexp(static_cast<double>(sums[level]), highest - bits * static_cast<int>(level + 1));
    }
    return total;
}

} // namespace ranks_benchmark

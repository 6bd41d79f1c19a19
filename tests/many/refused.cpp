// SPDX-License-Identifier: MIT
// Calls that are refused at compile time, each a line; test_refused.py compiles them.
#include <cstdint>
#include <vector>

#include "warpfold/along_axis.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/convolve.hpp"
#include "warpfold/exact_histogram.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/ranks.hpp"
#include "warpfold/segmented_exact_sum.hpp"
#include "warpfold/select.hpp"
#include "warpfold/thread_communicator.hpp"

using namespace warpfold;

struct above_half {
    bool operator()(double a) const { return a > 0.5; }
};

int main() {
    thread_ranks alone(1);
    thread_communicator comm(alone, 0);
    const auto ranks = host{}.over(comm);
    const std::vector<double> x(4);
    const std::vector<std::uint64_t> offsets{0, 2, 4};
    std::vector<double> out(4), more(4);
    const even_bins<double> bins{0, 1, 4};
    const auto same = ranks.reproducible();
    (void)reduce(same, x); // is not refused
#ifdef REFUSED
    const strided_view<const double> square(x.data(), {2, 2});
    (void)select(ranks, x, out, above_half{});
    (void)reduce_by_key(ranks, x, x, out, more);
    inclusive_scan_by_key(ranks, x, x, out);
    reduce_along(ranks, square, 0, out.data());
    inclusive_scan_along(ranks, square, 0, out.data());
    segmented_exact_sum(ranks, x, offsets, out);
    exact_weighted_histogram(ranks, x, x, out, bins);
    (void)chunked_reduce(same, x);
    (void)exact_sum(same, x);
    (void)exact_mean(same, x);
    (void)histogram(same, x, bins);
    convolve(same, x.data(), 4, x.data(), 3, out.data(), convolve_options{});
#endif
}

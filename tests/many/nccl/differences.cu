// SPDX-License-Identifier: MIT
// Ranks of NCCL whose calls differ: every rank names what, writes nothing, and goes on.
#include "tests/many/nccl/faults.cuh"

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/convolve.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/scan.cuh"

namespace warpfold::tests {
namespace {

TEST(NcclFaults, ValuesOfAnotherSizeAreFoundBeforeTheyAreGathered) {
    expect_named("reduce: rank 2 has elements of float, rank 0 of double", [](const auto& on, bench& of, bool differs) {
        differs ? reduce(on.reproducible(), of.floats.data(), n, of.float_total.data())
                : reduce(on.reproducible(), of.doubles.data(), n, of.total.data());
    });
    expect_named("rank 2 has another operation, or another type", [](const auto& on, bench& of, bool differs) {
        const auto scan = [&](auto op) {
            inclusive_scan(on.reproducible(), of.doubles.data(), n, of.scanned.data(), op);
        };
        differs ? scan(first_of{}) : scan(maximum{});
    });
    expect_named("rank 2 has another operation, or another type", [](const auto& on, bench& of, bool differs) {
        const auto scan = [&](auto op) {
            inclusive_scan(on.reproducible(), of.doubles.data(), n, of.scanned.data(), op);
        };
        differs ? scan(maximum{}) : scan(first_of{});
    });
}

TEST(NcclFaults, AnotherCallTypeOperationRootOrNumberIsNamed) {
    expect_named("reduce: rank 2 has elements of float, rank 0 of double", [](const auto& on, bench& of, bool differs) {
        differs ? reduce(on, of.floats.data(), n, of.float_total.data())
                : reduce(on, of.doubles.data(), n, of.total.data());
    });
    expect_named("rank 2 calls exclusive_scan, rank 0 calls inclusive_scan",
                 [](const auto& on, bench& of, bool differs) {
                     differs ? exclusive_scan(on, of.doubles.data(), n, of.scanned.data())
                             : inclusive_scan(on, of.doubles.data(), n, of.scanned.data());
                 });
    expect_named("inclusive_scan: rank 2 has another operation", [](const auto& on, bench& of, bool differs) {
        const auto scan = [&](auto op) { inclusive_scan(on, of.doubles.data(), n, of.scanned.data(), op); };
        differs ? scan(maximum{}) : scan(sum{});
    });
    expect_named("reduce: rank 2 has another root", [](const auto& on, bench& of, bool differs) {
        reduce(on.at_root(differs ? 1 : 0), of.doubles.data(), n, of.total.data());
    });
    expect_named("histogram: rank 2 has 5 bins, rank 0 has 4", [](const auto& on, bench& of, bool differs) {
        (void)histogram(on, of.doubles.data(), n, even_bins<double>{0, 2, differs ? 5u : 4u});
    });
    for (const std::uint32_t others : {5u, 5000u}) { // as many as are enqueued, and more
        expect_named(
            "histogram: rank 2 has 4 bins, rank 0 has " + std::to_string(others),
            [&](const auto& on, bench& of, bool differs) {
                const on_device<std::uint32_t> counts(std::vector<std::uint32_t>(others, 7));
                try {
                    histogram(on, of.doubles.data(), n, counts.data(), even_bins<double>{0, 2, differs ? 4 : others});
                    on.comm->check_enqueued(on.on.stream);
                } catch (const rank_error&) {
                    EXPECT_EQ(counts.read(), std::vector<std::uint32_t>(others, 7));
                    throw;
                }
            });
    }
    expect_named("convolve: rank 2 has 2 mask values, rank 0 has 3", [](const auto& on, bench& of, bool differs) {
        const std::vector<double> mask(differs ? 2 : 3, 1.0);
        convolve(on, of.doubles.data(), n, mask.data(), mask.size(), of.scanned.data(), convolve_options{});
    });
}

} // namespace
} // namespace warpfold::tests

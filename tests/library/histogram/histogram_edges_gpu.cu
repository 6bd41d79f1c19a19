// SPDX-License-Identifier: MIT
// Histograms on a GPU by edges that lie anyhow, with tables of edges of any size.
#include "warpfold/histogram.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/histogram_cases.hpp"

using namespace warpfold;

namespace {

using tests::on_device;

// Samples at the edges and beside them, and anywhere else.
template <class S, class T>
std::vector<S> samples_near(const std::vector<T>& edges, std::uint64_t n) {
    std::mt19937_64 random(edges.size());
    std::vector<S> data;
    for (std::uint64_t k = 0; k < n; ++k) {
        const T edge = edges[random() % edges.size()];
        if constexpr (std::is_integral_v<S>) {
            data.push_back(static_cast<S>(random() % 3 == 0 ? static_cast<std::int64_t>(random() % 4000) - 2000
                                                            : static_cast<std::int64_t>(edge) +
                                                                  static_cast<std::int64_t>(random() % 3) - 1));
        } else {
            constexpr S infinity = std::numeric_limits<S>::infinity();
            const S at = static_cast<S>(edge);
            const S all[] = {at,
                             std::nextafter(at, infinity),
                             std::nextafter(at, -infinity),
                             S{0},
                             -S{0},
                             infinity,
                             -infinity,
                             std::numeric_limits<S>::quiet_NaN(),
                             std::numeric_limits<S>::max(),
                             std::numeric_limits<S>::lowest(),
                             std::numeric_limits<S>::denorm_min(),
                             static_cast<S>(std::ldexp(static_cast<double>(random() >> 11) - 0x1p52,
                                                       static_cast<int>(random() % 90) - 100)),
                             static_cast<S>(static_cast<double>(random() >> 11) * 0x1p-53),
                             static_cast<S>(static_cast<double>(edge) * 1.001)};
            data.push_back(all[random() % (sizeof(all) / sizeof(all[0]))]);
        }
    }
    return data;
}

// What is counted by a table of so many cells, by one block and several, in one part and several.
template <class S, class T>
void counted_by(const std::vector<T>& edges) {
    workspace memory(histogram_workspace());
    const auto data = samples_near<S>(edges, 6007);
    const auto expected = tests::counted_between(data, edges);
    const on_device<S> there(data, 1);
    const on_device<T> edges_there(edges);
    const auto bins = static_cast<unsigned>(edges.size() - 1);
    const auto binner = detail::prepare(edge_bins<T>(edges_there.data(), edges.size()), S{});
    using of_t = detail::one_channel<std::remove_cv_t<decltype(binner)>>;
    const detail::histogram_code<S, of_t, false> code{of_t{binner, bins}};
    for (const unsigned cells : {1u, 2u, 100u, 5000u}) {
        for (const unsigned parts : {1u, 2u}) {
            detail::histogram_plan plan;
            plan.method = detail::histogram_method::whole;
            plan.layout.parts = parts;
            plan.layout.part_codes = parts == 1 ? bins : (bins / parts + 32) / 32 * 32;
            if (plan.layout.part_codes * (parts - 1) >= bins) {
                continue;
            }
            plan.layout.copies = cells == 2 ? 4 : 1;
            plan.blocks = (cells == 100 ? 2 : 1) * parts;
            plan.shared = (block::histogram::words(plan.layout.part_codes, plan.layout.copies) * 4 + 15) / 16 * 16;
            plan.layout.edges_at = plan.shared;
            plan.layout.cells_at = plan.shared + static_cast<unsigned>((edges.size() * sizeof(T) + 15) / 16 * 16);
            plan.layout.cells = cells;
            plan.shared = plan.layout.cells_at + 4 * cells;
            const on_device<std::uint64_t> counts(std::vector<std::uint64_t>(bins, 5));
            detail::histogram_engine<gpu>::run(gpu{nullptr, &memory}, there.data(), data.size(), counts.base, code,
                                               update::overwrite, plan, "test");
            const auto got = counts.read();
            for (unsigned k = 0; k < bins; ++k) {
                ASSERT_EQ(got[k], expected[k]) << "bin " << k << " of " << bins << ", from " << edges[k] << ", "
                                               << cells << " cells, " << parts << " parts";
            }
        }
    }
}

template <class S, class T>
void floating() {
    constexpr T infinity = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
    std::vector<std::vector<T>> all = {
        {0, 1},
        {-T{0}, T{0}, 1},
        {5, 5, 5, 5},
        {-infinity, -1, -1, 0, 0, 0, 1, 2, infinity, infinity},
        {-infinity, infinity},
        {-infinity, -infinity},
        {-most, -1, 0, 1, most},
        {most / 2, most},
        {0, std::numeric_limits<T>::denorm_min(), 2 * std::numeric_limits<T>::denorm_min(), 1}};
    std::vector<T> even, squares, powers, crowd{-infinity, -1000};
    for (int k = 0; k <= 300; ++k) {
        even.push_back(static_cast<T>(k) / 300);
        squares.push_back(static_cast<T>(k * k) / 90000);
        powers.push_back(static_cast<T>(std::ldexp(1.0 + 0.01 * (k % 7), k / 7 - 30)));
    }
    T x = 1;
    for (int k = 0; k < 200; ++k) {
        crowd.push_back(x);
        x = k % 5 == 0 ? x : std::nextafter(x, infinity);
    }
    crowd.push_back(1000);
    all.insert(all.end(), {even, squares, powers, crowd});
    for (const auto& edges : all) {
        counted_by<S>(edges);
    }
}

TEST(histogram_edges, whole_calls) {
    // Enough samples for a plan that has a table; more edges than a count of a table's cell tells.
    std::vector<float> edges{-1};
    for (int k = 0; k < 6000; ++k) {
        edges.push_back(1 + static_cast<float>(k) * 0x1p-23f);
    }
    edges.push_back(1e9f);
    const on_device<float> edges_there(edges);
    const auto plan =
        detail::plan_histogram(detail::histogram_facts::of_device(), std::uint64_t{1} << 28, 4, 256, 257 * 4);
    EXPECT_TRUE(plan.layout.cells != 0);
    counted_by<float>(edges);
}

TEST(histogram_edges, floats) { floating<float, float>(); }
TEST(histogram_edges, floats_by_edges_of_double_range) {
    floating<double, float>();
    counted_by<float>(std::vector<double>{-1, 0, 0.1, 0.3, 1e300});
}

TEST(histogram_edges, integers) {
    using limits = std::numeric_limits<std::int32_t>;
    counted_by<std::int32_t>(
        std::vector<std::int32_t>{limits::min(), -5, 0, 3, 3, 16777216, 16777217, 16777218, limits::max()});
}

} // namespace

// SPDX-License-Identifier: MIT
#include "tests/library/histogram/exact_histogram.hpp"

#include <array>

using namespace warpfold;

namespace {

template <class T>
class in_memory {
public:
    in_memory(const std::vector<T>& data, std::size_t skip) : all_(data), skip_(skip) {
        all_.insert(all_.begin(), skip, T{});
    }
    [[nodiscard]] T* data() const { return const_cast<T*>(all_.data()) + skip_; }
    [[nodiscard]] std::vector<T> read() const {
        return {all_.begin() + static_cast<std::ptrdiff_t>(skip_), all_.end()};
    }

private:
    std::vector<T> all_;
    std::size_t skip_;
};

TEST(ExactHistogram, OfOneThread) { tests::exact_histogram_calls<in_memory>(host{1}); }
TEST(ExactHistogram, OfThreads) { tests::exact_histogram_calls<in_memory>(host{3}); }

TEST(ExactHistogram, OfRanges) {
    const std::vector<int> samples{1, 2, 1, 7};
    const std::vector<float> weights{1e20f, 3, 1, 5};
    std::array<double, 3> sums{};
    exact_weighted_histogram(host{}, samples, weights, sums, even_bins<int>(1, 4, 3));
    EXPECT_EQ(sums, (std::array<double, 3>{static_cast<double>(1e20f), 3, 0}));
    std::vector<double> few(2);
    EXPECT_THROW(exact_weighted_histogram(host{}, samples, weights, few, even_bins<int>(1, 4, 3)), invalid_argument);
    const std::vector<float> short_weights{1};
    EXPECT_THROW(exact_weighted_histogram(host{}, samples, short_weights, sums, even_bins<int>(1, 4, 3)),
                 invalid_argument);
}

TEST(ExactHistogram, OfTheFirstElementsOfArrays) {
    const int samples[] = {1, 2, 1, 7, 3};
    const float weights[] = {1e20f, 3, 1, 5, 8};
    double sums[3] = {};
    exact_weighted_histogram(host{}, samples, weights, 4, sums, even_bins<int>(1, 4, 3));
    EXPECT_EQ(std::to_array(sums), (std::array<double, 3>{static_cast<double>(1e20f), 3, 0}));
}

} // namespace

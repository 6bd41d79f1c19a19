// SPDX-License-Identifier: MIT
// Convolutions by their definition, sum by sum in long double, for the tests of every target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "warpfold/convolve.hpp"

namespace warpfold::tests {

inline constexpr border all_borders[] = {border::zero, border::clamp, border::mirror, border::reflect, border::wrap};
inline constexpr outputs all_outputs[] = {outputs::same, outputs::full, outputs::valid};

// Samples in rows of `pitch`, images of `distance`, from the `skip`-th element of the array on.
struct layout {
    std::uint64_t width, height, pitch, count, distance, skip;

    [[nodiscard]] std::uint64_t elements() const { return skip + distance * count + 1; }
    [[nodiscard]] std::uint64_t at(std::uint64_t image, std::uint64_t y, std::uint64_t x) const {
        return skip + image * distance + y * pitch + x;
    }
    template <class T>
    [[nodiscard]] warpfold::image<T> of(T* base) const {
        return {base + skip, width, height, pitch, count, distance};
    }
};

inline layout dense(std::uint64_t width, std::uint64_t height, std::uint64_t count = 1) {
    return {width, height, width, count, width * height, 0};
}
inline layout padded(std::uint64_t width, std::uint64_t height, std::uint64_t more, std::uint64_t count,
                     std::uint64_t skip) {
    return {width, height, width + more, count, (width + more) * height + more, skip};
}

template <class T>
long double exact_value(const T& x) {
    if constexpr (std::is_class_v<T>) {
        return static_cast<long double>(static_cast<float>(x));
    } else {
        return static_cast<long double>(x);
    }
}
template <class T>
T rounded_value(double x) {
    if constexpr (std::is_class_v<T>) {
        return T(static_cast<float>(x));
    } else {
        return static_cast<T>(x);
    }
}

// Numbers that are whole and small, or that need all bits and differ much in size.
template <class T>
std::vector<T> samples(std::uint64_t n, bool whole, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> data(n);
    for (T& one : data) {
        if constexpr (std::is_integral_v<T>) {
            one = static_cast<T>(whole ? random() % 8 : random());
        } else {
            const double unit = static_cast<double>(random()) / 4294967296.0 - 0.5;
            one = whole ? rounded_value<T>(static_cast<double>(random() % 8) - 3)
                        : rounded_value<T>(unit * std::exp2(static_cast<double>(random() % 12)));
        }
    }
    return data;
}

// The index that stands for i, found by walking; -1 for nothing.
inline std::int64_t walked(std::int64_t i, std::int64_t n, border outside) {
    while (i < 0 || i >= n) {
        switch (outside) {
        case border::zero: return -1;
        case border::clamp: i = i < 0 ? 0 : n - 1; break;
        case border::wrap: i += i < 0 ? n : -n; break;
        case border::reflect: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
        case border::mirror: i = n == 1 ? 0 : (i < 0 ? -i : 2 * n - 2 - i); break;
        }
    }
    return i;
}

// The sample that result `i` multiplies with value `j` of a mask of k.
inline std::int64_t met(std::int64_t i, std::int64_t j, std::int64_t k, outputs which, bool turned) {
    switch (which) {
    case outputs::same: return turned ? i + (k - 1) / 2 - j : i - k / 2 + j;
    case outputs::full: return turned ? i - j : i - (k - 1) + j;
    case outputs::valid: return turned ? i + (k - 1) - j : i + j;
    }
    return 0;
}

struct exact_sum_of {
    long double value = 0;
    long double magnitude = 0;
};

template <class T, class M>
exact_sum_of expected(const std::vector<T>& in, const layout& at, std::uint64_t image, const std::vector<M>& mask,
                      std::int64_t kx, std::int64_t ky, std::int64_t x, std::int64_t y, const convolve_options& how,
                      bool turned) {
    exact_sum_of sum;
    for (std::int64_t j = 0; j < ky; ++j) {
        const std::int64_t row =
            walked(met(y, j, ky, how.which, turned), static_cast<std::int64_t>(at.height), how.outside);
        for (std::int64_t i = 0; i < kx && row >= 0; ++i) {
            const std::int64_t column =
                walked(met(x, i, kx, how.which, turned), static_cast<std::int64_t>(at.width), how.outside);
            if (column >= 0) {
                const long double product =
                    exact_value(in[at.at(image, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column))]) *
                    exact_value(mask[static_cast<std::size_t>(j * kx + i)]);
                sum.value += product;
                sum.magnitude += std::fabs(product);
            }
        }
    }
    return sum;
}

template <class O>
inline constexpr long double unit_roundoff = std::is_same_v<O, double>  ? 0x1p-53L
                                             : std::is_same_v<O, float> ? 0x1p-24L
                                             : std::is_same_v<O, half>  ? 0x1p-11L
                                                                        : 0x1p-8L;

// Whether `got` is within what convolve.hpp states: k + 1 roundings of the sums' type, and that to the result.
template <class T, class O>
bool within_bound(const O& got, const exact_sum_of& exact, std::int64_t values) {
    constexpr long double u = std::is_same_v<detail::convolve_sum_t<T, O>, double> ? 0x1p-53L : 0x1p-24L;
    const long double bound = 1.0001L * static_cast<long double>(values + 1) * u * exact.magnitude;
    if constexpr (std::is_integral_v<O>) {
        const auto inside = [](long double x) {
            return std::clamp<long double>(x, std::numeric_limits<O>::min(), std::numeric_limits<O>::max());
        };
        // At a tie, and within the bound of one, both neighbours are right.
        return exact_value(got) >= inside(std::ceil(exact.value - bound - 0.5L)) &&
               exact_value(got) <= inside(std::floor(exact.value + bound + 0.5L));
    } else {
        if (std::is_same_v<O, half> && std::isinf(exact_value(got))) {
            return std::fabs(exact.value) + bound >= 65520 &&
                   std::signbit(exact_value(got)) == std::signbit(exact.value);
        }
        const long double rounding =
            unit_roundoff<O> * (std::fabs(exact.value) + bound) + (std::is_class_v<O> ? 0x1p-25L : 0);
        return std::fabs(exact_value(got) - exact.value) <= bound + rounding;
    }
}

} // namespace warpfold::tests

// SPDX-License-Identifier: MIT
// Segments of all lengths with special values, and what the calls of segmented_reduce.hpp but segmented_reduce, and
// segmented_exact_sum, have to give; for the host's test and the GPU's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/segmented_reduce/segment_cases.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::tests {

// Many short segments with empty ones, a few long ones, and few long ones.
inline std::vector<segment_case> segment_kinds() {
    std::vector<std::uint64_t> lengths;
    for (std::uint64_t k = 0; k < 300; ++k) {
        lengths.push_back(k % 50 == 7 ? 1009 : k % 5);
    }
    return {{"short and long", offsets_of(lengths, 1)},
            {"few", offsets_of({7001, 0, 257, 1, 8192}, 3)},
            {"one", {2, 20005}},
            {"all empty", {4, 4, 4, 4}},
            {"one of one", {0, 1}}};
}

// Equal neighbours, both zeros and, in some segments only, NaN of different payloads.
inline std::vector<float> numbers_with_nan(std::uint64_t n) {
    std::vector<float> data = small_numbers<float>(n, 9);
    for (std::uint64_t k = 0; k < n; ++k) {
        if (data[k] == 0 && k % 2 == 0) {
            data[k] = -0.0f;
        }
        if (k % 613 == 100) {
            const std::uint32_t bits = 0x7fc00000u | static_cast<std::uint32_t>(k);
            std::memcpy(&data[k], &bits, sizeof(bits));
        }
    }
    return data;
}

// By the rules of arg_min and arg_max, element by element.
struct expected_place {
    float value;
    std::uint64_t index;
};
inline expected_place expected_extreme(const std::vector<float>& data, std::uint64_t begin, std::uint64_t end,
                                       bool smallest) {
    expected_place best{0, ~std::uint64_t{0}};
    for (std::uint64_t k = begin; k < end; ++k) {
        const float x = data[k];
        const bool first = best.index == ~std::uint64_t{0};
        const bool zeros = x == 0 && best.value == 0 && std::signbit(x) != std::signbit(best.value);
        const bool before = zeros ? std::signbit(x) == smallest : (smallest ? x < best.value : best.value < x);
        if (first || (!std::isnan(best.value) && (std::isnan(x) || before))) {
            best = {x, k};
        }
    }
    return best;
}

// Numbers of all magnitudes, with infinities and NaN.
template <class T>
std::vector<T> summands(std::uint64_t n) {
    std::vector<T> data = any_numbers<T>(n, 4);
    std::mt19937 random(5);
    for (T& x : data) {
        const unsigned drawn = random() % 1024;
        if (drawn % 2 == 0) {
            x = static_cast<T>(1.0 / (1 + drawn));
        } else if (drawn < 4) {
            x = drawn < 2 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
        } else if (!std::isfinite(x)) {
            x = T(-0.0);
        }
    }
    return data;
}

} // namespace warpfold::tests

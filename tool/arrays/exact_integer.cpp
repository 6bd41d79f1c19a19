// SPDX-License-Identifier: MIT
// Exact sums and products of integers, as far as is needed to tell whether they fit.
#include "tool/arrays/exact_integer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace warpfold::tool {
namespace {

__extension__ using wide = __int128; // n < 2^64 elements of 64 bits do not fill it

template <class Integer>
bool sum_wraps(std::span<const Integer> values) {
    wide sum = 0;
    for (const Integer value : values) {
        sum += value;
    }
    return sum < std::numeric_limits<Integer>::min() || sum > std::numeric_limits<Integer>::max();
}

template <class Integer>
bool product_wraps(std::span<const Integer> values) {
    if (std::find(values.begin(), values.end(), Integer{0}) != values.end()) {
        return false;
    }
    // Without a zero the magnitude never shrinks, so what once is beyond the type stays there. The negative limit is
    // one larger than the positive one, and can still come back by a sign only if it stands alone.
    constexpr wide least = std::numeric_limits<Integer>::min();
    wide product = 1;
    for (const Integer value : values) {
        product *= value;
        if (product < least || product > -least) {
            return true;
        }
    }
    return product == -least;
}

template <class Integer>
std::optional<bool> wraps(calls::operation op, const void* data, std::uint64_t n) {
    const std::span values(static_cast<const Integer*>(data), n);
    if (op == calls::operation::sum) {
        return sum_wraps(values);
    }
    if (op == calls::operation::product) {
        return product_wraps(values);
    }
    return std::nullopt;
}

} // namespace

std::optional<bool> does_wrap(report::array_type type, calls::operation op, const void* data, std::uint64_t n) {
    switch (type) {
    case report::array_type::int32: return wraps<std::int32_t>(op, data, n);
    case report::array_type::int64: return wraps<std::int64_t>(op, data, n);
    default: break;
    }
    return std::nullopt;
}

} // namespace warpfold::tool

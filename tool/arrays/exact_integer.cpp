// SPDX-License-Identifier: MIT
// Exact sums and products of integers, as far as is needed to tell whether they fit.
#include "tool/arrays/exact_integer.hpp"

#include <cstdint>
#include <limits>

#include "tool/arrays/family.hpp"

namespace warpfold::tool {
namespace {

__extension__ using wide = __int128; // n < 2^64 elements of 64 bits do not fill it

template <class Integer>
bool sum_wraps(const calls::array_source& in) {
    wide sum = 0;
    calls::each_chunk(in, [&](std::uint64_t, std::uint64_t count, const auto& x) {
        for (std::uint64_t k = 0; k < count; ++k) {
            sum += static_cast<Integer>(x[k]);
        }
    });
    return sum < std::numeric_limits<Integer>::min() || sum > std::numeric_limits<Integer>::max();
}

template <class Integer>
bool product_wraps(const calls::array_source& in) {
    // Without a zero the magnitude never shrinks, so what once is beyond the type stays there. The negative limit is
    // one larger than the positive one, and can still come back by a sign only if it stands alone.
    constexpr wide least = std::numeric_limits<Integer>::min();
    wide product = 1;
    bool has_zero = false, is_beyond = false;
    calls::each_chunk(in, [&](std::uint64_t, std::uint64_t count, const auto& x) {
        for (std::uint64_t k = 0; k < count; ++k) {
            const auto value = static_cast<Integer>(x[k]);
            has_zero = has_zero || value == 0;
            if (!is_beyond) {
                product *= value;
                is_beyond = product < least || product > -least;
            }
        }
    });
    return !has_zero && (is_beyond || product == -least);
}

template <class Integer>
std::optional<bool> wraps(const calls::array_source& in, calls::operation op) {
    switch (op) {
    case calls::operation::sum: return sum_wraps<Integer>(in);
    case calls::operation::product: return product_wraps<Integer>(in);
    default: return std::nullopt;
    }
}

} // namespace

std::optional<bool> does_wrap(const calls::array_source& in, calls::operation op) {
    switch (in.type()) {
    case report::array_type::int32: return wraps<std::int32_t>(in, op);
    case report::array_type::int64: return wraps<std::int64_t>(in, op);
    default: return std::nullopt;
    }
}

} // namespace warpfold::tool

// SPDX-License-Identifier: MIT
// Factors and addends of sums of products (sums.hpp) by type, and the rounding of the sums.
#pragma once

#include <type_traits>

#include "softgpu/machine/handlers/matrix/product_tile.hpp"
#include "softgpu/machine/handlers/matrix/sums.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

using ptx::suffix;

struct split_numbers {
    std::int32_t* significand;
    std::int32_t* exponent;
};

// true: all are finite.
template <class Format>
bool split_all(const std::uint32_t* from, unsigned count, split_numbers to) {
    constexpr unsigned dropped = std::is_same_v<Format, tf32_format> ? 13 : 0;
    std::uint32_t special = 0;
    SOFTGPU_LANES
    for (unsigned k = 0; k < count; ++k) {
        const std::uint32_t x = from[k] >> dropped; // NOLINT(clang-analyzer-*): all lanes have been filled
        special |= is_finite<Format>(x) ? 0u : 1u;
        split_factor<Format>(x, to.significand[k], to.exponent[k]);
    }
    return special == 0;
}
inline bool split_by_type(suffix t, const std::uint32_t* from, unsigned count, split_numbers to) {
    switch (t) {
    case suffix::f16: return split_all<f16_format>(from, count, to);
    case suffix::bf16: return split_all<bf16_format>(from, count, to);
    case suffix::tf32: return split_all<tf32_format>(from, count, to);
    case suffix::e4m3: return split_all<e4m3_format>(from, count, to);
    default: return split_all<e5m2_format>(from, count, to);
    }
}

inline double value_by_type(suffix t, std::uint32_t x) {
    switch (t) {
    case suffix::f16: return widened<f16_format>(x);
    case suffix::bf16: return widened<bf16_format>(x);
    case suffix::tf32: return widened<tf32_format>(x >> 13);
    case suffix::e4m3: return widened<e4m3_format>(x);
    case suffix::e5m2: return widened<e5m2_format>(x);
    case suffix::e3m2: return widened<e3m2_format>(x & 0x3F);
    case suffix::e2m3: return widened<e2m3_format>(x & 0x3F);
    case suffix::e2m1: return widened<e2m1_format>(x >> 2 & 0xF); // in the middle of its byte
    default: return std::bit_cast<float>(x);
    }
}

// Floats of 8 bits and fewer as halves, which have all its numbers; the type of the result.
inline suffix as_halves(std::uint32_t* x, unsigned count, suffix t) {
    for (unsigned k = 0; k < count; ++k) {
        x[k] = narrowed<f16_format>(value_by_type(t, x[k])); // NOLINT(clang-analyzer-*): likewise
    }
    return suffix::f16;
}

// Rounded as D's type has it. From C of single precision a half is rounded twice.
SOFTGPU_INLINE std::uint32_t rounded(double sum, suffix c_type, suffix d_type) {
    if (d_type == suffix::f32) {
        const auto x = std::bit_cast<std::uint32_t>(truncated(sum));
        return x == 0x80000000 ? 0 : x; // no negative zero
    }
    if (c_type == suffix::f32) {
        return narrowed<f16_format>(truncated(sum));
    }
    const std::uint32_t h = narrowed<f16_format>(sum);
    return (h & 0x7FFF) == 0 ? 0 : h; // no negative zero
}

// true: all are finite. A half that is added to single precision is converted first.
inline bool split_addends(const std::uint32_t* from, suffix type, suffix d_type, split_numbers to) {
    std::uint32_t special = 0;
    for (unsigned m = 0; m < rows; ++m) {
        std::uint32_t x = from[m]; // NOLINT(clang-analyzer-*): likewise
        if (type == suffix::f16) {
            special |= is_finite<f16_format>(x) ? 0u : 1u;
            if (d_type == suffix::f16) {
                split_factor<f16_format>(x, to.significand[m], to.exponent[m]);
                to.significand[m] *= 1 << (float_fraction - factor_fraction);
                continue;
            }
            x = std::bit_cast<std::uint32_t>(static_cast<float>(widened<f16_format>(x)));
        } else {
            special |= (x & 0x7F800000) == 0x7F800000 ? 1u : 0u;
        }
        split_float(x, to.significand[m], to.exponent[m]);
    }
    return special == 0;
}

} // namespace softgpu::machine::SOFTGPU_TARGET

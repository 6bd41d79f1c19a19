// SPDX-License-Identifier: MIT
// The relations of set and setp, for every type, and how the result combines with a predicate.
#pragma once

#include <cstdint>
#include <type_traits>

#include "softgpu/machine/handlers/choosers.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// In the decoder's order.
enum class relation : std::uint32_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <class T>
SOFTGPU_INLINE bool compares(relation r, T a, T b) {
    constexpr bool real = std::is_floating_point_v<T>;
    const bool unordered = real && (a != a || b != b);
    switch (r) {
    case relation::eq: return a == b;
    case relation::ne: return !unordered && a != b;
    case relation::lt: return a < b;
    case relation::le: return a <= b;
    case relation::gt: return a > b;
    case relation::ge: return a >= b;
    case relation::equ: return unordered || a == b;
    case relation::neu: return unordered || a != b;
    case relation::ltu: return unordered || a < b;
    case relation::leu: return unordered || a <= b;
    case relation::gtu: return unordered || a > b;
    case relation::geu: return unordered || a >= b;
    case relation::num: return !unordered;
    case relation::nan: return unordered;
    }
    return false;
}

// How the result and the predicate operand combine: the lowest bits of setp's and set's `more`. Bit 2: the operand is
// negated.
enum : std::uint32_t {
    combine_none = 0,
    combine_and = 1,
    combine_or = 2,
    combine_xor = 3,
    combine_bits = 3,
    operand_negated = 4
};

SOFTGPU_INLINE lane_mask combined(std::uint32_t how, lane_mask result, lane_mask with) {
    if ((how & operand_negated) != 0) {
        with = ~with;
    }
    switch (how & combine_bits) {
    case combine_and: return result & with;
    case combine_or: return result | with;
    case combine_xor: return result ^ with;
    default: return result;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET

// SPDX-License-Identifier: MIT
// The forms of wgmma.mma_async. Each warp of a warpgroup forms 16 of the 64 rows: A's rows come from its registers or, like
// B, from shared memory by a descriptor.
#pragma once

#include "softgpu/machine/code/matrix/matrix_plan.hpp"

namespace softgpu::machine {

inline constexpr unsigned warpgroup_warps = 4;
inline constexpr unsigned warpgroup_most_columns = 256;
inline constexpr unsigned warpgroup_row_bytes = 32; // K of one product, whatever the type

// Bits of `more` of wgmma.mma_async.
enum warpgroup_flag : std::uint32_t {
    warpgroup_saturates = 1,
    warpgroup_negates_a = 2,
    warpgroup_negates_b = 4,
    warpgroup_transposes_a = 8,
    warpgroup_transposes_b = 16,
    warpgroup_scale_is_negated = 32, // the predicate that says whether D is added
};

// Of one warp: m is 16; B has no registers. Nothing: not supported.
[[nodiscard]] std::optional<matrix_shape> warpgroup_shape_of(const form& f);

// What a matrix descriptor says. Distances are bytes.
struct matrix_descriptor {
    std::uint32_t start = 0;
    std::uint32_t leading = 0;
    std::uint32_t stride = 0;
    std::uint32_t base_offset = 0;
    std::uint32_t units = 1; // of 16 bytes in a row: 1, or 2, 4, 8 where rows are swizzled

    explicit matrix_descriptor(std::uint64_t bits) noexcept
        : start(static_cast<std::uint32_t>(bits & 0x3FFF) << 4),
          leading(static_cast<std::uint32_t>(bits >> 16 & 0x3FFF) << 4),
          stride(static_cast<std::uint32_t>(bits >> 32 & 0x3FFF) << 4),
          base_offset(static_cast<std::uint32_t>(bits >> 49 & 7)),
          units((bits >> 62) == 0 ? 1 : 16u >> (bits >> 62)) {}

    // Where 16 bytes lie. K-major: half a row of K of row `row` of M or N. MN-major: the eight elements from 8 * group on, of
    // row k of K. Addresses have 18 bits.
    [[nodiscard]] std::uint32_t at_row(unsigned row, unsigned half) const noexcept {
        return swizzled(row / 8 * stride + row % 8 * units * 16 + half * (units == 1 ? leading : 16));
    }
    [[nodiscard]] std::uint32_t at_group(unsigned group, unsigned k) const noexcept {
        return swizzled(units == 1
                            ? group * stride + k % 8 * 16 + k / 8 * leading
                            : group % units * 16 + group / units * leading + k % 8 * units * 16 + k / 8 * stride);
    }

private:
    [[nodiscard]] std::uint32_t swizzled(std::uint32_t offset) const noexcept {
        const std::uint32_t at = start + offset;
        return (at ^ (((at >> 7) - base_offset) & (units - 1)) << 4) & 0x3FFFF;
    }
};

} // namespace softgpu::machine

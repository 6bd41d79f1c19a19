// SPDX-License-Identifier: MIT
// What instruction::more of tensor copies and of tensormap.replace has behind bulk_kind_shift, and that of check_fence before
// fence.proxy.tensormap.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine {

// Of a tensor copy: how it walks, and its reduction, an index into tensor_operations.
inline constexpr std::uint32_t walks_im2col = 1;
inline constexpr std::uint32_t walks_rows = 2; // tile::gather4 and tile::scatter4
inline constexpr unsigned tensor_operation_shift = 2;
inline constexpr unsigned walked_rows = 4;
inline constexpr std::array tensor_operations{ptx::suffix::none, ptx::suffix::add, ptx::suffix::min,
                                              ptx::suffix::max,  ptx::suffix::inc, ptx::suffix::dec,
                                              ptx::suffix::and_, ptx::suffix::or_, ptx::suffix::xor_};
[[nodiscard]] inline bool is_by_rows(const form& f) noexcept {
    return f.has(ptx::suffix::tile_gather4) || f.has(ptx::suffix::tile_scatter4);
}
[[nodiscard]] std::uint32_t tensor_kind(const form& f);

// Of tensormap.replace: the field that it changes, an index into tensor_map_fields; 0: there is none such.
inline constexpr std::array tensor_map_fields{
    ptx::suffix::none,           ptx::suffix::global_address, ptx::suffix::rank,
    ptx::suffix::box_dim,        ptx::suffix::global_dim,     ptx::suffix::global_stride,
    ptx::suffix::element_stride, ptx::suffix::elemtype,       ptx::suffix::interleave_layout,
    ptx::suffix::swizzle_mode,   ptx::suffix::fill_mode};
[[nodiscard]] std::uint32_t tensor_map_field(const form& f);

// Of check_fence, beside its other bits (code/instruction.hpp).
inline constexpr std::uint32_t fence_releases_maps = 8;
inline constexpr std::uint32_t fence_acquires_map = 16;

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// Bulk copies to shared memory are kept in pieces among a warp's other asynchronous copies (warp::copies), with their
// mbarrier in the place of a group.
#pragma once

#include <cstdint>

namespace softgpu::machine {

inline constexpr unsigned bulk_piece = 16; // bytes
// Of d.more of a bulk load, beside copy_source_is_wide: the address of its mbarrier has 8 bytes.
inline constexpr std::uint32_t bulk_barrier_is_wide = 4096;
// The group of a piece whose mbarrier is at this offset of shared memory.
constexpr std::uint32_t bulk_group_of(std::uint32_t barrier) noexcept { return 0x80000000u | barrier; }
constexpr bool is_bulk_group(std::uint32_t group) noexcept { return (group & 0x80000000u) != 0; }

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// The last access to a word of memory, in 64 bits: one stamp for the last write, one for the last read.
//
//   62..28  when: for shared memory the block's own time; for global memory a block's serial number (21 bits) and its
//           time since it got that number (14 bits)
//   27..17  site: which access instruction of the kernel, from 1; 0: more of them than the bits tell apart
//   16..12  warp of the block
//   11..7   lane; of several lanes with elements of 1 or 2 bytes side by side: which word of the row
//    6..4   write: bit 0: several lanes of the warp; bits 1 and 2: plain, volatile, strong or atomic
//           read:  bits 0 and 1: one thread, several lanes of a warp, several warps, several blocks; bit 2: strong
//    3..0   bytes of the word
//
// A stamp of 0: no access yet. Bit 63 is never set, so stamps compare as signed numbers.
#pragma once

#include <cstdint>

namespace softgpu::check {

using stamp = std::int64_t;

inline constexpr unsigned kind_shift = 4;
inline constexpr unsigned lane_shift = 7;
inline constexpr unsigned warp_shift = 12;
inline constexpr unsigned site_shift = 17;
inline constexpr unsigned time_shift = 28;

inline constexpr stamp bytes_bits = 15;
inline constexpr stamp lane_bits = stamp{31} << lane_shift;
inline constexpr stamp warp_bits = stamp{31} << warp_shift;
inline constexpr std::uint32_t most_sites = 2047;

inline constexpr unsigned serial_bits = 21;
inline constexpr unsigned serial_time_bits = 14;
inline constexpr std::uint64_t serial_times = 1ull << serial_time_bits;
inline constexpr std::uint64_t most_serials = 1ull << serial_bits;

// Of a write.
inline constexpr stamp several_lanes = stamp{1} << kind_shift;
inline constexpr unsigned strength_shift = kind_shift + 1;
enum class strength : std::uint8_t { plain, volatile_, strong, atomic };
// Of a read.
inline constexpr stamp spread_bits = stamp{3} << kind_shift;
inline constexpr stamp strong_read = stamp{4} << kind_shift;
enum class spread : std::uint8_t { thread, lanes, warps, blocks };

constexpr std::uint64_t time_of(stamp s) noexcept { return static_cast<std::uint64_t>(s) >> time_shift; }
constexpr unsigned site_of(stamp s) noexcept { return static_cast<unsigned>(s >> site_shift) & 2047; }
constexpr unsigned warp_of(stamp s) noexcept { return static_cast<unsigned>(s >> warp_shift) & 31; }
constexpr unsigned lane_of(stamp s) noexcept { return static_cast<unsigned>(s >> lane_shift) & 31; }
constexpr unsigned bytes_of(stamp s) noexcept { return static_cast<unsigned>(s & bytes_bits); }
constexpr strength strength_of(stamp s) noexcept { return static_cast<strength>(s >> strength_shift & 3); }
constexpr spread spread_of(stamp s) noexcept { return static_cast<spread>(s >> kind_shift & 3); }

// The number of a warp's first word in the row of elements of 1 or 2 bytes: up to 8 or 16 words, none in both rows.
constexpr unsigned row_start(unsigned element_bytes) noexcept { return element_bytes == 1 ? 16 : 0; }

} // namespace softgpu::check

// SPDX-License-Identifier: MIT
// A decoded instruction: its handler, and where its operands are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace softgpu::machine {

using lane_mask = std::uint32_t;
inline constexpr unsigned lanes = 32;
inline constexpr lane_mask all_lanes = 0xFFFFFFFFu;
__extension__ using uint128 = unsigned __int128; // a lane of .b128

// Calls body(lane) for the lanes of the mask, in order. Always inlined: the handlers are compiled for several instruction sets.
template <class Body>
__attribute__((always_inline)) inline void each_lane(lane_mask mask, Body&& body) {
    for (; mask != 0; mask &= mask - 1) {
        body(static_cast<unsigned>(std::countr_zero(mask)));
    }
}

struct warp;
struct instruction;
struct call_site;
struct access_site;

// Executes one instruction for the active lanes of a warp. Returns the next instruction, or nullptr when the warp has
// nothing to run now: it waits, gives way, or has ended.
using handler = const instruction* (*)(const instruction* i, std::byte* frame, warp* w);

// Where an operand's 32 lanes are: a byte offset into the warp's frame or, with this bit, into the worker's constants.
// A lane takes `width` bytes; a predicate is one 32-bit mask.
using place = std::uint32_t;
inline constexpr place in_constants = 0x80000000u;
inline constexpr place nowhere = 0x7FFFFFFFu;

struct alignas(64) instruction {
    handler run = nullptr;
    place d = nowhere; // destination
    place a = nowhere, b = nowhere, c = nowhere;
    place e = nowhere;                    // second destination (p|q), guard of a branch, or further operand
    std::uint8_t width[4] = {0, 0, 0, 0}; // bytes of a lane of d, a, b, c
    std::int64_t immediate = 0;           // address offset, table, or what the handler's file says
    const instruction* target = nullptr;  // of a branch
    union {
        const instruction* meeting = nullptr; // of a branch: where its lanes meet again; nullptr: at the end
        const place* places;                  // of vector accesses: one per element
        const instruction* const* targets;    // of an indexed branch
        const call_site* site;                // of a call
        const access_site* access;            // of a check: the access that follows
    };
    std::uint32_t source = 0; // index into ptx::function::instructions
    std::uint32_t more = 0;   // what the handler's file says: a basic block's number, flags, a count
};

// What `more` says, where the decoder and the handlers share it.

// Of a load or a store: bytes of an element, how many elements, and whether the sign extends.
inline constexpr std::uint32_t element_bytes_bits = 0xFF;
inline constexpr std::uint32_t element_count_shift = 8;
inline constexpr std::uint32_t element_is_signed = 1u << 16;
// Of cp.async, beside its bytes: the source address has 8 bytes; the predicate that skips the copy is negated.
inline constexpr std::uint32_t copy_source_is_wide = 1024;
inline constexpr std::uint32_t copy_skip_is_negated = 2048;
// Of check_warp_sync: which instruction. `e`: the place of its member mask; b and c as shfl has them.
enum class warp_sync : std::uint32_t { other, barrier, shfl_up, shfl_down, shfl_bfly, shfl_idx };
// Of check_barrier.
inline constexpr std::uint32_t barrier_waits = 1;
inline constexpr std::uint32_t barrier_aligned = 2;
// Of barrier.cluster.arrive.
inline constexpr std::uint32_t cluster_is_relaxed = 1;
// Of check_fence. fence_is_sc: fence.sc and membar.
inline constexpr std::uint32_t fence_within_block = 1;
inline constexpr std::uint32_t fence_is_sc = 2;
inline constexpr std::uint32_t fence_is_async_proxy = 4; // and nothing else
inline constexpr std::uint32_t fence_is_of_inits = 32;   // fence.mbarrier_init

} // namespace softgpu::machine

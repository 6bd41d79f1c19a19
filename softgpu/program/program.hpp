// SPDX-License-Identifier: MIT
// What a body means before it is decoded: basic blocks, where divergent lanes meet again, where each register lives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::program {

// Room of a function's last parameter without a size, `.param .b8 a[]`.
inline constexpr std::uint32_t unsized_parameter_bytes = 256;

// Rewrites a parsed body, before everything below: a vector register becomes one register for each element, a mov of a vector
// one for each element, a result in a register one in .param that is stored before each ret, and a last parameter
// without a size gets one. Nothing changes where there is none of these. Throws ptx::error.
void make_plain(ptx::function& f);

inline constexpr std::uint32_t no_block = 0xFFFFFFFFu;
inline constexpr std::uint32_t no_loop = 0xFFFFFFFFu;

// Instructions [first, last) of function::instructions. Control enters at the first and leaves after the last only:
// bra, brx, ret, exit, trap (predicated or not) end a block; a call, a barrier or a shuffle does not. A block without
// instructions stands at the end of a body that ends with a label, and is all of an empty body.
struct basic_block {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    // Blocks, each once: of bra the target first, of brx the targets in their order; where lanes may go on behind the
    // block, the next block last. A leaving instruction (ret, exit, trap) adds none.
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> predecessors;
    bool leaves = false; // lanes may end here
    // Where lanes that part at this block's end meet again. This is the block's immediate post-dominator when paths on
    // which lanes end for good (an early return of a kernel, a trap) are left out where others go on: nobody waits for
    // lanes that are gone. Of two ways to the end the one with more barriers, then the longer one, goes on. no_block:
    // lanes meet only at the end of the function, if it has one. A block of nothing but an end is never a meeting place
    // of a kernel. The places are nested: from each one leads to the next, to the end
    // at last, or round where a loop has no end.
    std::uint32_t immediate_post_dominator = no_block;
    std::uint32_t loop = no_loop; // the innermost one that the block is in
    // Of a branch: the lanes that stay in this loop meet within it, at immediate_post_dominator. Lanes that leave it do not come;
    // all meet at outer_meeting, which may be no_block.
    std::uint32_t meets_within = no_loop;
    std::uint32_t outer_meeting = no_block;
};

struct control_flow {
    std::vector<basic_block> blocks; // in order of instructions; block 0 is the entry
    std::vector<std::uint32_t> block_of_instruction;
    std::vector<std::pair<std::string, std::uint32_t>> labels; // and their blocks, sorted by name
    std::vector<std::uint32_t> loop_parents; // by loop: the next one around it, which has a higher number
};

// Labels resolve to blocks here. Throws ptx::error for a branch to a label that is not there. A body that runs off its
// end leaves there. Blocks that nothing reaches stay, without predecessors.
[[nodiscard]] control_flow make_control_flow(const ptx::function& f);
// The block that a label names; no_block where there is none.
[[nodiscard]] std::uint32_t block_of_label(const control_flow& flow, std::string_view label) noexcept;
[[nodiscard]] std::uint32_t block_of_label(const ptx::function& f, const control_flow& flow, std::string_view label);

// Which registers an instruction writes and reads, each once: guards, address bases, vectors and pairs included.
struct access {
    std::vector<std::uint32_t> written;
    std::vector<std::uint32_t> read;
    bool partial = false; // guarded: what it writes keeps its old value in lanes where the guard fails
};
[[nodiscard]] access registers_of(const ptx::instruction& i);

// By index into function::registers: whether values depend on %clock or %globaltimer, through operands and guards.
[[nodiscard]] std::vector<bool> clock_registers(const ptx::function& f);
// By the same index: whether lanes of a warp may have different values, as far as the code tells: by the thread's index, by what
// was loaded from different addresses, and by branches that some of them take.
[[nodiscard]] std::vector<bool> varying_registers(const ptx::function& f, const control_flow& flow);

// Bytes that a register of this type takes for one warp: pred 4 (a lane mask), 8- and 16-bit types 64, 32-bit 128,
// 64-bit 256, 128-bit 512.
[[nodiscard]] std::uint32_t warp_bytes(ptx::suffix type) noexcept;

// 32-bit words that a register takes; predicates none.
[[nodiscard]] std::uint32_t register_words(const ptx::register_declaration& r);

// Where each register of a function lives in its warp's register frame. Registers that are never alive together share
// a place; every place is aligned to 64 bytes except predicates (4).
struct register_places {
    // By index into function::registers, bytes from the frame's start; 0 for registers that no instruction names.
    std::vector<std::uint32_t> offset;
    std::uint32_t frame_bytes = 0; // a multiple of 64
    // Registers that depend on a clock (clock_registers()) share places with each other only, from this offset on.
    std::uint32_t clocks_begin = 0;
    std::vector<bool> of_clocks;
    // 32-bit words of registers alive at once, at most, per thread; predicates not counted.
    std::uint32_t live_words = 0;
    // The same on a card whose addresses have 32 bits and whose instructions read parameters where they are (compute
    // capability 1.x): 64-bit integers take one word, parameters and their copies none.
    std::uint32_t live_words_32 = 0;
};

// Liveness by data flow over the blocks, then for each width, the narrow ones first, a region whose places go by first
// fit over live ranges with holes. A register read before any write is alive from the entry on. A destination shares
// the place of a source of its own instruction only where both have one width and the instruction reads and writes lane
// by lane: not for vectors, pairs, shuffles, votes and atomics. About linear in instructions,
// registers and live ranges.
// Throws ptx::error where an instruction names a register that the function does not have.
[[nodiscard]] register_places place_registers(const ptx::function& f, const control_flow& flow);

} // namespace softgpu::program

// SPDX-License-Identifier: MIT
// Makes findings. Findings of one kind and pair of instructions are counted in the launch and handed on when it ends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/module/source_place.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

using check::hexadecimal;

// One of the two accesses of a finding.
struct access_facts {
    std::string what; // "write of 4 bytes"
    instruction_place where;
    std::uint64_t block = 0;  // in the launch
    std::uint32_t thread = 0; // in the block
    std::optional<std::string> value;
    bool is_one_thread = true; // block and thread are known
};

// How far apart the threads of two accesses are. Two instructions can have a finding of each reach, reported widest first:
// the remedy for lanes of a warp does not help two blocks.
enum class reach : std::uint8_t { block, warp, lane };

// Where in memory: "shared memory + 16", and the variable or allocation there.
struct address_facts {
    std::string address;
    std::string allocation;
};

struct finding_facts {
    check::check_set check = 0;
    reach between = reach::block;
    const char* kind = "";
    bool is_note = false;
    std::string message = {};
    address_facts at = {};
};

// Whether there is such a finding already; if so, it is counted.
[[nodiscard]] bool count_again(launch_state& l, check::check_set check, const char* kind, bool is_note,
                               const instruction_place& first, const instruction_place& second,
                               reach between = reach::block);
[[nodiscard]] check::launch_checks::alike alike_of(check::check_set check, const char* kind, bool is_note,
                                                   const instruction_place& first, const instruction_place& second,
                                                   reach between = reach::block);
// The instruction that the warp runs.
[[nodiscard]] instruction_place place_of(const warp* w, const instruction* i);
void report(launch_state& l, finding_facts what, const access_facts& now, const access_facts* before = nullptr);

// What ends the kernel is a finding, whichever checks are on.
void report_end(warp* w, const instruction* i, const char* kind, std::string message, unsigned lane);
inline constexpr const char* invalid_free = "invalid free"; // of malloc's memory

[[nodiscard]] address_facts place_in_shared(const launch_state& l, std::uint64_t at);
[[nodiscard]] address_facts place_in_global(const launch_state& l, std::uint64_t at);
[[nodiscard]] std::string access_text(const access_site& site);
// By a lane of the warp: the access of a site, or an instruction, named by its opcode.
[[nodiscard]] access_facts access_by_site(const access_site& site, const warp* w, unsigned lane);
[[nodiscard]] access_facts access_by_opcode(const instruction_place& where, const warp* w, unsigned lane);
// Of the word that an access found or left, of the narrower element, or of all words of a wider one.
[[nodiscard]] std::string value_text(const std::vector<std::uint32_t>& words, const access_site& site);
// "0x0000ffff"
[[nodiscard]] std::string mask_text(lane_mask m);
// "(1,2,3)"
[[nodiscard]] std::string index_text(const std::array<std::uint32_t, 3>& index);
// The number of the thread in its block.
[[nodiscard]] std::uint32_t thread_of(const warp* w, unsigned lane);

} // namespace softgpu::machine

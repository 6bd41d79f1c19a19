// SPDX-License-Identifier: MIT
// From what the machine saw to a finding. Findings of one kind and pair of instructions are counted in the launch and
// handed on when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/module/source_place.hpp"

namespace softgpu::machine {

// One of the two accesses.
struct seen_access {
    std::string what; // "write of 4 bytes"
    instruction_place where;
    std::uint64_t block = 0;  // in the launch
    std::uint32_t thread = 0; // in the block
    std::optional<std::string> value;
    bool is_one_thread = true; // block and thread are who it was
};

// How far two accesses are from each other. The same two instructions at several of these are findings of their own until
// they are handed on, the widest first: what would mend the lanes of a warp does not mend two blocks.
enum class reach : std::uint8_t { block, warp, lane };

struct seen {
    check::check_set check = 0;
    reach between = reach::block;
    const char* kind = "";
    bool is_note = false;
    std::string message;
    std::string address;
    std::string allocation;
};

// Whether one like this was seen already; it is counted then, and nothing more is to be done.
[[nodiscard]] bool count_again(launch_state& l, check::check_set check, const char* kind, bool is_note,
                               const instruction_place& first, const instruction_place& second,
                               reach between = reach::block);
[[nodiscard]] check::launch_checks::alike alike_of(check::check_set check, const char* kind, bool is_note,
                                                   const instruction_place& first, const instruction_place& second,
                                                   reach between = reach::block);
// The instruction that the warp runs.
[[nodiscard]] instruction_place place_of(const warp* w, const instruction* i);
void report(launch_state& l, seen what, const seen_access& now, const seen_access* before = nullptr);

// What ends the kernel: a finding whichever checks are on. Nothing where none is.
void report_end(warp* w, const instruction* i, const char* kind, std::string message, unsigned lane);
inline constexpr const char* invalid_free = "invalid free"; // of malloc's memory

// Which variable of shared memory this is.
[[nodiscard]] std::string shared_variable(const launch_state& l, std::uint64_t at);
[[nodiscard]] std::string access_text(const access_site& site);
// Of up to 8 bytes.
[[nodiscard]] std::string value_text(std::uint64_t bits, unsigned bytes);
[[nodiscard]] std::uint32_t thread_of(const warp* w, unsigned lane);

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// When the value in each register may still be read.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"

namespace softgpu::program {

// Points in time, in order of the text: instruction k reads at 2k and writes at 2k + 1.
struct live_range {
    std::uint32_t first = 0; // the point of the write, or of the reads where the instruction writes early
    std::uint32_t last = 0;  // one behind the last point at which the register has to be kept
    std::uint32_t next = 0;  // the register's next range in live_ranges::all, or none
};

// Ranges of a register are in order, apart and not empty. A write that nobody reads has a range too.
// A register has 64 at most; where it would have more, the gaps between the earliest are filled.
struct live_ranges {
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    std::vector<live_range> all;
    std::vector<std::uint32_t> first_of; // by register; none where no instruction names it
};

// Throws ptx::error where an instruction names a register that the function does not have.
[[nodiscard]] live_ranges find_live_ranges(const ptx::function& f, const control_flow& flow);

} // namespace softgpu::program

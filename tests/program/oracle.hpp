// SPDX-License-Identifier: MIT
// Liveness by the plainest method there is, instruction by instruction, and what it asks of register places. Shares no
// code with softgpu/program but registers_of, which access_test.cpp checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/program/program.hpp"

namespace program_test {

struct naive_liveness {
    std::vector<std::vector<bool>> before; // [instruction][register]
    std::vector<std::vector<bool>> after;
};

[[nodiscard]] naive_liveness find_liveness(const softgpu::ptx::function& f);

// The first thing that is wrong with the places; empty where nothing is.
[[nodiscard]] std::string complaint_about(const softgpu::ptx::function& f,
                                          const softgpu::program::register_places& places);

// 32-bit words of live registers at most, predicates not counted.
[[nodiscard]] std::uint32_t most_live_words(const softgpu::ptx::function& f);

} // namespace program_test

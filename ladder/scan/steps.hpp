// SPDX-License-Identifier: MIT
// The ladder of scans: its steps, and what they share on the host.
#pragma once

#include <cstdint>

#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::scan {

[[nodiscard]] const engine::ladder_definition& ladder();

// Data: whole numbers between -9 and 9, whose running totals any order of additions gives exactly.
[[nodiscard]] engine::sample inclusive(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] engine::sample exclusive(std::uint64_t n, std::uint64_t seed);
// The lecture's sausage: what ten people want of 100 inches.
[[nodiscard]] engine::sample sausage(std::uint64_t n, std::uint64_t seed);

// A scan reads and writes every element once.
// The largest power of two that is no more than n and `most`.
[[nodiscard]] std::uint64_t power_of_two(std::uint64_t n, std::uint64_t most);

engine::step_definition sequential();
engine::step_definition hillis_steele();
engine::step_definition many_launches();
engine::step_definition eight_values();
engine::step_definition p_threads();
engine::step_definition trees_of_eight();
engine::step_definition one_barrier();
engine::step_definition barrier_in_branch();
engine::step_definition two_barriers();
engine::step_definition cut_the_sausage();
engine::step_definition exclusive_shift();
engine::step_definition balanced_tree();
engine::step_definition padded_tree();
engine::step_definition post_scan_tree();
engine::step_definition flawless_reentry();
engine::step_definition block_sums();
engine::step_definition not_a_power_of_two();
engine::step_definition warp_shuffles();
engine::step_definition look_back();
engine::step_definition library();
engine::step_definition peer_cub();
engine::step_definition peer_cpu();

} // namespace warpfold::ladder::scan

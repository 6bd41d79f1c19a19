// SPDX-License-Identifier: MIT
// The ladder of scans: its steps, and what they share on the host.
#pragma once

#include <cstdint>

#include "ladder/frame/step.hpp"

namespace warpfold::ladder::scan {

[[nodiscard]] const frame::study_definition& ladder();

// Data: whole numbers between -9 and 9, whose running totals any order of additions gives exactly.
[[nodiscard]] frame::sample inclusive(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] frame::sample exclusive(std::uint64_t n, std::uint64_t seed);
// The lecture's sausage: what ten people want of 100 inches.
[[nodiscard]] frame::sample sausage(std::uint64_t n, std::uint64_t seed);

// A scan reads and writes every element once.
[[nodiscard]] inline std::uint64_t read_and_written(std::uint64_t n) { return 2 * n * sizeof(std::int32_t); }
// The largest power of two that is no more than n and `most`.
[[nodiscard]] std::uint64_t power_of_two(std::uint64_t n, std::uint64_t most);

frame::step_definition sequential();
frame::step_definition hillis_steele();
frame::step_definition eight_values();
frame::step_definition trees_of_eight();
frame::step_definition one_barrier();
frame::step_definition barrier_in_branch();
frame::step_definition two_barriers();
frame::step_definition cut_the_sausage();
frame::step_definition exclusive_shift();
frame::step_definition balanced_tree();
frame::step_definition padded_tree();
frame::step_definition post_scan_tree();
frame::step_definition flawless_reentry();
frame::step_definition block_sums();
frame::step_definition warp_shuffles();
frame::step_definition look_back();
frame::step_definition library();
frame::step_definition peer_cub();
frame::step_definition peer_cpu();

} // namespace warpfold::ladder::scan

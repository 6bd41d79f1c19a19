// SPDX-License-Identifier: MIT
// The checks behind the reductions' claims, beside those of all ladders (engine/definition/claims.hpp): readings of the counters by
// iteration of the tree, and comparisons of times.
//
// The kernels with one __syncthreads before the tree and one after each iteration have iteration j (from 0) of the tree
// in barrier interval j + 1. Every active thread stores once an iteration, so stores count active threads. All blocks
// of the first launch do the same in the tree, since missing elements are loaded as the identity.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/reduce/definition/reduction.hpp"

namespace warpfold::ladder::reduce {

// engine::counted, where the block is a power of two of at least `least` threads as well.
[[nodiscard]] engine::check counted_power_of_two(unsigned least, engine::check inner);
// Holds where the elements read over the cold time are between these shares of the read ceiling of the run, for the 5th and
// the 95th percentile. "No difference" where the two disagree.
[[nodiscard]] engine::check share_of_reading(double least, double most, std::string published);
// Holds where the changes of the algorithm (steps 2, 3, 4, 7) gained more than those of the code (5, 6), beyond the spread
// of the times. "No difference" within it.
[[nodiscard]] engine::check algorithm_before_code(std::string published);
// Holds where the race check finds nothing between the lanes of the last warp.
[[nodiscard]] engine::check lockstep_is_enough();
// The load, which all threads do, counted as the first iteration of the tree.
[[nodiscard]] engine::counterexample load_as_iteration();
// The iterations of the tree in the opposite order.
[[nodiscard]] engine::counterexample reversed_iterations();
// Of one block of the first launch, iteration by iteration.
[[nodiscard]] std::vector<std::uint64_t> active_threads(const engine::evidence& e);
[[nodiscard]] std::vector<std::uint64_t> active_warps(const engine::evidence& e);
[[nodiscard]] std::vector<std::uint64_t> divergent_warps(const engine::evidence& e);
// Passes of the banks over the passes without conflicts, loads and stores together; 1: no conflict.
[[nodiscard]] std::vector<double> conflict_degrees(const engine::evidence& e);

// What the tree does if thread `tid` of `size` is active at `stride` where `active` says so.
struct iteration {
    unsigned stride = 0;
    std::uint64_t threads = 0;         // active
    std::uint64_t warps = 0;           // with an active thread
    std::uint64_t divergent_warps = 0; // with active and inactive threads
};
using activity = bool (*)(unsigned tid, unsigned stride, unsigned size);
[[nodiscard]] std::vector<iteration> rising_strides(unsigned size, activity active);  // 1, 2, 4, ... below size
[[nodiscard]] std::vector<iteration> falling_strides(unsigned size, activity active); // ..., 4, 2, 1
[[nodiscard]] std::vector<std::uint64_t> each(const std::vector<iteration>& all, std::uint64_t iteration::*field);

// Each launch takes the values that the one before left: as many blocks as `per_block` elements each need.
[[nodiscard]] verdict launches_shrink_by(const engine::evidence& e, std::uint64_t per_block);
// Elements that a thread of the first launch loads, on average.
[[nodiscard]] double elements_per_thread(const engine::evidence& e);

// Each warp of the first launch arrives at one barrier.
[[nodiscard]] verdict one_barrier_a_warp(const engine::evidence& e);

// Text for figures.
[[nodiscard]] std::string grids(const step_result& step);

} // namespace warpfold::ladder::reduce

// SPDX-License-Identifier: MIT
// What the steps' claims are checked with: guards that say why a claim cannot be seen, readings of the counters by
// iteration of the tree, and comparisons with other steps.
//
// The kernels with one __syncthreads before the tree and one after each iteration have iteration j (from 0) of the tree
// in barrier interval j + 1. Every active thread stores once an iteration, so stores count active threads. All blocks
// of the first launch do the same in the tree, since missing elements are loaded as the identity.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/claim.hpp"
#include "ladder/verdict.hpp"

namespace warpfold::ladder::reduce {

using check = std::function<verdict(const evidence&)>;
using comparison = std::function<verdict(const evidence& here, const reduce_step& other)>;
using counters = softgpu::observe::counters;

// `inner` where something was launched; else the claim cannot be seen.
[[nodiscard]] check launched(check inner);
// `inner` where something was launched and counted.
[[nodiscard]] check counted(check inner);
// `inner` where the block is a power of two of at least `least` threads, besides.
[[nodiscard]] check counted_power_of_two(unsigned least, check inner);
// `inner` with another step of the same run, both counted.
[[nodiscard]] check compared(std::string other, comparison inner);
// `inner` with another step of the same run, both launched.
[[nodiscard]] check beside(std::string other, comparison inner);
// Holds where this step's cold median is below the other's; `published` are the lectures' own speed-ups.
[[nodiscard]] check faster_than(std::string other, std::string published);
// Holds where the elements read over the cold median are between these shares of the read ceiling of the run.
[[nodiscard]] check share_of_reading(double least, double most, std::string published);
// Holds where what the algorithm was changed by (steps 2, 3, 4, 7) brought more than what the code was (5, 6).
[[nodiscard]] check algorithm_before_code(std::string published);
// Never seen here: a claim whose verdict needs something that is not there yet.
[[nodiscard]] check unseen_because(std::string why);

// Of one block of the first launch, iteration by iteration.
[[nodiscard]] std::vector<std::uint64_t> active_threads(const evidence& e);
[[nodiscard]] std::vector<std::uint64_t> active_warps(const evidence& e);
[[nodiscard]] std::vector<std::uint64_t> divergent_warps(const evidence& e);
// Passes of the banks over the passes that would do without conflicts, loads and stores together; 1: no conflict.
[[nodiscard]] std::vector<double> conflict_degrees(const evidence& e);

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

// Barriers of the block that one warp of the first launch arrives at.
[[nodiscard]] double barriers_per_warp(const softgpu::observe::launch_record& launch);
// Sums over all launches of a step.
[[nodiscard]] counters total(const reduce_step& step);
[[nodiscard]] std::uint64_t bank_conflicts(const counters& c);

// Each launch takes the values that the one before left: as many blocks as `per_block` elements each need.
[[nodiscard]] verdict launches_shrink_by(const evidence& e, std::uint64_t per_block);
// Elements that a thread of the first launch loads, on average.
[[nodiscard]] double elements_per_thread(const evidence& e);

// Text for figures.
[[nodiscard]] std::string grids(const reduce_step& step);

} // namespace warpfold::ladder::reduce

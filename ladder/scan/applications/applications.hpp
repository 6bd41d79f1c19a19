// SPDX-License-Identifier: MIT
// Applications of scan, each a step built on the library's scan, and CUB's calls for the same problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ladder/engine/definition/step.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::ladder::scan {

constexpr unsigned threads = 256; // a block; one element a thread
constexpr unsigned byte_values = 256;

// Numbers between -9 and 9. Result: how many are kept, then those.
[[nodiscard]] engine::sample kept_numbers(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] WARPFOLD_HD constexpr bool kept(int value) { return value > 0; }
// Keys of 32 bits. Result: the keys, sorted.
[[nodiscard]] engine::sample keys_to_sort(std::uint64_t n, std::uint64_t seed);
// Numbers between -999 and 999. Result: the numbers, sorted.
[[nodiscard]] engine::sample numbers_to_sort(std::uint64_t n, std::uint64_t seed);
// A string of n characters and a shorter one, which is its prefix where n is odd and differs in the first half where n
// is even. Result: the order of their prefixes of k + 1 characters, -1, 0 or 1.
[[nodiscard]] engine::sample two_strings(std::uint64_t n, std::uint64_t seed);
// Source text. Result: the state of the automaton behind every character.
[[nodiscard]] engine::sample source_text(std::uint64_t n, std::uint64_t seed);
// Numbers in runs. Result: how many runs, their values, their lengths.
[[nodiscard]] engine::sample runs_of_numbers(std::uint64_t n, std::uint64_t seed);
// Numbers below byte_values. Result: how often each is there.
[[nodiscard]] engine::sample numbers_to_count(std::uint64_t n, std::uint64_t seed);

// The library's launches of a step, on the software GPU.
[[nodiscard]] std::uint64_t library_launches(const step_result& step);

// The steps of a ladder, and those of the applications behind them.
[[nodiscard]] std::vector<engine::step_definition> with_applications(std::vector<engine::step_definition> steps);

engine::step_definition stream_compaction();
engine::step_definition radix_sort();
engine::step_definition quicksort();
engine::step_definition string_comparison();
engine::step_definition lexical_analysis();
engine::step_definition run_length_encoding();
engine::step_definition histogram_by_sort();
engine::step_definition cub_select();
engine::step_definition cub_sort();
engine::step_definition cub_runs();
engine::step_definition cub_histogram();

} // namespace warpfold::ladder::scan

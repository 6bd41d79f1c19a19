// SPDX-License-Identifier: MIT
// The ladder of histograms: its steps, and what they share on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ladder/engine/child_process.hpp"
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::histogram {

[[nodiscard]] const engine::ladder_definition& ladder();
[[nodiscard]] std::vector<engine::child_program> child_programs();

constexpr unsigned threads = 256;
constexpr unsigned letter_bins = 7; // of four letters each: a-d, e-h, ... y-z
constexpr unsigned byte_bins = 256;
constexpr unsigned wide_bins = 65536;   // more than shared memory holds
constexpr unsigned private_bins = 8192; // of these

// The lecture's phrase over and over; bins of four letters.
[[nodiscard]] engine::sample text(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] engine::sample phrase(std::uint64_t n, std::uint64_t seed); // once
// The same as printed, with four capitals, which count.
[[nodiscard]] engine::sample phrase_with_capitals(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] std::uint64_t phrase_size(std::uint64_t n);
// Bytes, uniform.
[[nodiscard]] engine::sample uniform_bytes(std::uint64_t n, std::uint64_t seed);
// Bytes of which so many in a hundred are the same, the others uniform.
[[nodiscard]] engine::sample mixed_bytes(std::uint64_t n, std::uint64_t seed, unsigned constant_percent);
// Numbers of 32 bits below wide_bins, nine of ten below private_bins.
[[nodiscard]] engine::sample wide_numbers(std::uint64_t n, std::uint64_t seed);

// No more blocks than make every thread count 32 elements.
[[nodiscard]] inline unsigned blocks_of(const engine::stage& on) {
    const std::uint64_t by_work = on.n / (threads * 32);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(by_work, 1, std::uint64_t{on.multiprocessors} * 8));
}
inline void clear(const engine::stage& on, unsigned bins) {
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, bins * sizeof(int), on.stream));
}

engine::step_definition sections();
engine::step_definition interleaved();
engine::step_definition global_atomics();
engine::step_definition the_phrase();
engine::step_definition capitals();
engine::step_definition private_copies();
engine::step_definition private_copies_of_the_slide();
engine::step_definition private_bytes();
engine::step_definition warp_aggregated();
engine::step_definition range_testing();
engine::step_definition too_large();
// Three ways to count, each on five mixtures.
[[nodiscard]] std::vector<engine::step_definition> contention();
engine::step_definition library();
engine::step_definition peer_cub();
engine::step_definition peer_cpu();

} // namespace warpfold::ladder::histogram

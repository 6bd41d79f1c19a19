// SPDX-License-Identifier: MIT
// The ladder of convolutions: its steps, and what they share. Output = weighted sum of the neighbours of an input element;
// what lies outside counts as 0.
#pragma once

#include <cstdint>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::convolution {

[[nodiscard]] const engine::ladder_definition& ladder();

constexpr int mask_width = 9; // of the mask in one dimension
constexpr int half = mask_width / 2;
constexpr int side = 5; // of the mask in two dimensions
constexpr int half_side = side / 2;
constexpr unsigned threads = 256;
constexpr int tile = 16; // side of a block in two dimensions

// Inputs: the elements, then the mask. All are whole numbers, so that sums of products are exact.
[[nodiscard]] std::vector<float> mask_of(int width);
[[nodiscard]] engine::sample line(std::uint64_t n, std::uint64_t seed);
// With any mask; element width / 2 of it weighs the element itself.
[[nodiscard]] engine::sample line_with(std::uint64_t n, std::uint64_t seed, const std::vector<float>& mask);
// The same with the ghost elements stored: zeros before and behind.
[[nodiscard]] engine::sample line_with_ghosts(std::uint64_t n, std::uint64_t seed);
// An image as nearly square as n allows, with a mask that is the product of a column (input 2) and a row (the same).
[[nodiscard]] engine::sample image(std::uint64_t n, std::uint64_t seed);

struct extent {
    int width = 0, height = 0;
};
[[nodiscard]] extent image_of(std::uint64_t n);
[[nodiscard]] inline std::uint64_t pixels(std::uint64_t n) {
    const extent e = image_of(n);
    return static_cast<std::uint64_t>(e.width) * static_cast<std::uint64_t>(e.height);
}

// Pairs of an input element and a mask element that are multiplied: all but the ghosts.
[[nodiscard]] std::uint64_t pairs_of_line(std::uint64_t n);
[[nodiscard]] std::uint64_t pairs_of_image(std::uint64_t n);

// Elements that threads loaded from global memory.
[[nodiscard]] inline std::uint64_t loads(const step_result& step) {
    return engine::total(step.launches).global_load_bytes / sizeof(float);
}
// Floating-point operations (a multiplication and an addition a pair) for each load.
[[nodiscard]] inline double ratio(std::uint64_t pairs, const step_result& step) {
    return 2.0 * static_cast<double>(pairs) / static_cast<double>(loads(step));
}

engine::step_definition basic();
engine::step_definition ghost_elements();
engine::step_definition constant_mask();
engine::step_definition even_mask();
engine::step_definition tiled_with_halo();
engine::step_definition tiled_with_cache();
engine::step_definition basic_2d();
engine::step_definition constant_2d();
engine::step_definition tiled_2d();
engine::step_definition separable();
engine::step_definition library();
engine::step_definition library_2d();
engine::step_definition peer_cpu();

} // namespace warpfold::ladder::convolution

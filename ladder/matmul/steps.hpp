// SPDX-License-Identifier: MIT
// The ladder of matrix products: of tall and wide ones, 32 deep, as coalescedMultiply has them, and of square ones.
#pragma once

#include <cstdint>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::matmul {

[[nodiscard]] const frame::study_definition& ladder();

constexpr int tile_dim = 32; // rows and columns of a block, and the depth of the narrow products

// Side of the product for n elements: a multiple of tile_dim.
[[nodiscard]] int side_of(std::uint64_t n);
[[nodiscard]] inline std::uint64_t as_square(std::uint64_t n) {
    return static_cast<std::uint64_t>(side_of(n)) * static_cast<std::uint64_t>(side_of(n));
}

// Inputs a and b, both of whole numbers, so that every order of additions gives the same: a of side x 32 and b of
// 32 x side, or both of side x side.
[[nodiscard]] frame::sample narrow(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] frame::sample square(std::uint64_t n, std::uint64_t seed);

using kernel = void (*)(const float* a, const float* b, float* c, int side);
inline void run_kernel(const frame::stage& on, const char* name, kernel k) {
    const int side = side_of(on.n);
    const auto tiles = static_cast<unsigned>(side / tile_dim);
    frame::launch(on, name, k, dim3(tiles, tiles), dim3(tile_dim, tile_dim), 0, on.input<float>(0), on.input<float>(1),
                  on.output<float>(), side);
}

[[nodiscard]] inline std::uint64_t warps_of(const frame::evidence& e) { return e.n() / 32; }
// Loads from global memory that each warp makes.
[[nodiscard]] inline std::uint64_t loads_a_warp(const study_step& step) {
    return frame::total(step.launches).global_load_requests / (step.n / 32);
}

frame::step_definition naive();
frame::step_definition coalesced_as_on_the_slide();
frame::step_definition coalesced();
frame::step_definition both_tiled();
frame::step_definition square_naive();
frame::step_definition square_tiled();
frame::step_definition peer_cpu();

} // namespace warpfold::ladder::matmul

// SPDX-License-Identifier: MIT
// The ladder of matrix products: of tall and wide ones, 32 deep, as coalescedMultiply has them, and of square ones.
#pragma once

#include <cstdint>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::matmul {

[[nodiscard]] const engine::ladder_definition& ladder();

constexpr int tile_dim = 32; // rows and columns of a block, and the depth of the narrow products

// Side of the product for n elements: a multiple of tile_dim.
[[nodiscard]] int side_of(std::uint64_t n);
[[nodiscard]] inline std::uint64_t as_square(std::uint64_t n) {
    return static_cast<std::uint64_t>(side_of(n)) * static_cast<std::uint64_t>(side_of(n));
}

// Inputs a and b, both of whole numbers, so that every order of additions gives the same: a of side x 32 and b of
// 32 x side, or both of side x side.
[[nodiscard]] engine::sample narrow(std::uint64_t n, std::uint64_t seed);
[[nodiscard]] engine::sample square(std::uint64_t n, std::uint64_t seed);

using kernel = void (*)(const float* a, const float* b, float* c, int side);
inline void run_kernel(const engine::stage& on, const char* name, kernel k) {
    const int side = side_of(on.n);
    const auto tiles = static_cast<unsigned>(side / tile_dim);
    engine::launch(on, name, k, dim3(tiles, tiles), dim3(tile_dim, tile_dim), 0, on.input<float>(0), on.input<float>(1),
                   on.output<float>(), side);
}

[[nodiscard]] inline std::uint64_t warps_of(const engine::evidence& e) { return e.n() / 32; }
// Loads from global memory that each warp makes.
[[nodiscard]] inline std::uint64_t loads_a_warp(const step_result& step) {
    return engine::total(step.launches).global_load_requests / (step.n / 32);
}

engine::step_definition naive();
engine::step_definition coalesced_as_on_the_slide();
engine::step_definition coalesced();
engine::step_definition both_tiled();
engine::step_definition square_naive();
engine::step_definition square_tiled();
engine::step_definition peer_cpu();

} // namespace warpfold::ladder::matmul

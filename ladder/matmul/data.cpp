// SPDX-License-Identifier: MIT
// Data and references of the matrix products, and the order of the ladder.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/matmul/steps.hpp"

namespace warpfold::ladder::matmul {

namespace {

std::vector<float> product(std::span<const float> a, std::span<const float> b, std::size_t side, std::size_t depth) {
    std::vector<float> c(side * side);
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t k = 0; k < depth; ++k) {
            const float factor = a[row * depth + k];
            for (std::size_t column = 0; column < side; ++column) {
                c[row * side + column] += factor * b[k * side + column];
            }
        }
    }
    return c;
}

engine::sample of_depth(std::uint64_t n, std::uint64_t seed, std::size_t depth) {
    const auto side = static_cast<std::size_t>(side_of(n));
    const auto a = engine::numbers<float>(side * depth, seed, 7);
    const auto b = engine::numbers<float>(depth * side, seed + 1, 7);
    return {side * side,
            {engine::bytes_of(a), engine::bytes_of(b)},
            engine::bytes_of(product(a, b, side, depth)),
            engine::value_type::float32};
}

} // namespace

int side_of(std::uint64_t n) {
    const auto root = static_cast<int>(std::sqrt(static_cast<double>(n)));
    return std::max(root / tile_dim, 1) * tile_dim;
}

engine::sample narrow(std::uint64_t n, std::uint64_t seed) { return of_depth(n, seed, tile_dim); }
engine::sample square(std::uint64_t n, std::uint64_t seed) {
    return of_depth(n, seed, static_cast<std::size_t>(side_of(n)));
}

engine::step_definition peer_cpu() {
    return {.about = {"cpu", "three loops", "ladder/matmul/data.cpp", "one core of the host", "", true},
            .data = square,
            .on_host =
                [](const engine::stage& on) {
                    const engine::sample& s = *on.data;
                    const auto side = static_cast<std::size_t>(side_of(s.n));
                    return engine::bytes_of(
                        product(engine::view<float>(s.in[0]), engine::view<float>(s.in[1]), side, side));
                },
            .size = as_square};
}

const engine::ladder_definition& ladder() {
    static const engine::ladder_definition all{.name = "matmul",
                                               .data = "matrix products of floats: 32 deep, and square",
                                               .n_counted = 1u << 14,
                                               .n_timed = 1u << 20,
                                               .most = 1u << 22,
                                               .steps = {naive(), coalesced_as_on_the_slide(), coalesced(),
                                                         both_tiled(), square_naive(), square_tiled(), peer_cpu()}};
    return all;
}

} // namespace warpfold::ladder::matmul

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::matmul::ladder();
}

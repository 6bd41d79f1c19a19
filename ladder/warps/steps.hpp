// SPDX-License-Identifier: MIT
// The laboratory of warps: divergence, packing, loop overhead, predication, order within a warp.
#pragma once

#include <cstdint>
#include <vector>

#include "ladder/frame/apart.hpp"
#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::warps {

[[nodiscard]] const frame::study_definition& laboratory();
[[nodiscard]] std::vector<frame::apart_program> apart_programs();

constexpr unsigned threads = 128; // the lecture's M
constexpr unsigned strides = 7;   // 1, 2, ..., 64

// Numbers, and the sum of each 128 of them.
[[nodiscard]] frame::sample partial_sums(const std::vector<float>& in);
// The same of whole numbers as floats.
[[nodiscard]] frame::sample partial_sums(std::uint64_t n, std::uint64_t seed);

using tree = void (*)(const float* input, float* partial, std::uint64_t n);
inline void run_tree(const frame::stage& on, const char* name, tree kernel) {
    if (on.n != 0) {
        frame::launch(on, name, kernel, static_cast<unsigned>(frame::divide_up(on.n, threads)), threads, 0,
                      on.input<float>(), on.output<float>(), on.n);
    }
}

frame::step_definition modulo();
frame::step_definition packed();
frame::step_definition sequential();
frame::step_definition unrolled();
frame::step_definition half_of_each_warp();
frame::step_definition half_of_the_warps();
frame::step_definition predicated();
frame::step_definition branched();
frame::step_definition unordered_exchange();
frame::step_definition ordered_exchange();
frame::step_definition shuffle_variants();
frame::step_definition warp_sums_by_memory();
frame::step_definition warp_sums_by_shuffles();
frame::step_definition straightforward();
frame::step_definition better_step();
frame::step_definition one_thread_each();
frame::step_definition retiring();
frame::step_definition sixteen_values();
frame::step_definition without_volatile();
frame::step_definition no_barrier();
frame::step_definition stride_above_one();
frame::step_definition warp_of_33();
frame::step_definition missing_bound();
frame::step_definition words_left();
frame::step_definition shuffle_predicate();
frame::step_definition neighbour_by_neighbour();
frame::step_definition lock_in_a_warp();
frame::step_definition circle_of_waits();

} // namespace warpfold::ladder::warps

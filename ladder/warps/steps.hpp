// SPDX-License-Identifier: MIT
// The laboratory of warps: divergence, packing, loop overhead, predication, order within a warp.
#pragma once

#include <cstdint>
#include <vector>

#include "ladder/engine/child_process.hpp"
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::warps {

[[nodiscard]] const engine::ladder_definition& laboratory();
[[nodiscard]] std::vector<engine::child_program> child_programs();

constexpr unsigned threads = 128; // the lecture's M
constexpr unsigned strides = 7;   // 1, 2, ..., 64

// Numbers, and the sum of each `taken` of them.
[[nodiscard]] engine::sample partial_sums(const std::vector<float>& in, unsigned taken = threads);
// The same of whole numbers as floats.
[[nodiscard]] engine::sample partial_sums(std::uint64_t n, std::uint64_t seed);

using tree = void (*)(const float* input, float* partial, std::uint64_t n);
inline void run_tree(const engine::stage& on, const char* name, tree kernel, unsigned taken = threads,
                     unsigned block = threads) {
    if (on.n != 0) {
        engine::launch(on, name, kernel, static_cast<unsigned>(engine::divide_up(on.n, taken)), block, 0,
                       on.input<float>(), on.output<float>(), on.n);
    }
}
[[nodiscard]] inline std::uint64_t floats_read(std::uint64_t n) { return n * sizeof(float); }

// Of one block of the first launch, `count` strides: threads that store, warps with such threads, warps that diverge.
[[nodiscard]] std::vector<std::uint64_t> active(const engine::evidence& e, unsigned count);
[[nodiscard]] std::vector<std::uint64_t> warps_at_work(const engine::evidence& e, unsigned count);
[[nodiscard]] std::vector<std::uint64_t> divergent(const engine::evidence& e, unsigned count);

engine::step_definition modulo();
engine::step_definition packed();
engine::step_definition sequential();
engine::step_definition unrolled();
engine::step_definition half_of_each_warp();
engine::step_definition half_of_the_warps();
engine::step_definition predicated();
engine::step_definition branched();
engine::step_definition unordered_exchange();
engine::step_definition ordered_exchange();
engine::step_definition shuffle_variants();
engine::step_definition warp_sums_by_memory();
engine::step_definition warp_sums_by_shuffles();
engine::step_definition straightforward();
engine::step_definition better_step();
engine::step_definition one_thread_each();
engine::step_definition retiring();
engine::step_definition block_sizes();
engine::step_definition three_calls();
engine::step_definition sixteen_values();
engine::step_definition without_volatile();
engine::step_definition no_barrier();
engine::step_definition stride_above_one();
engine::step_definition warp_of_33();
engine::step_definition counting_up();
engine::step_definition missing_bound();
engine::step_definition words_left();
engine::step_definition shuffle_predicate();
engine::step_definition neighbour_by_neighbour();
engine::step_definition lock_in_a_warp();
engine::step_definition circle_of_waits();

} // namespace warpfold::ladder::warps

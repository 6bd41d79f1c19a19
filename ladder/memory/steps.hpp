// SPDX-License-Identifier: MIT
// The laboratory of global memory: access patterns, structures, stores, wide copies, constant and local memory, each with
// the figure that the 380 lecture gives for it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::memory {

[[nodiscard]] const engine::ladder_definition& laboratory();

constexpr unsigned threads = 256;

[[nodiscard]] inline unsigned blocks_for(std::uint64_t n) {
    return static_cast<unsigned>(engine::divide_up(n, threads));
}

[[nodiscard]] engine::sample copy_of(std::uint64_t n, std::uint64_t seed);  // the output is the input
[[nodiscard]] engine::sample one_more(std::uint64_t n, std::uint64_t seed); // the output is the input and 1

// `inner` where every warp is full; else the figure would be of the rest.
[[nodiscard]] inline engine::check full_warps(engine::check inner) {
    return engine::counted(engine::guarded(std::move(inner), [](const engine::evidence& e) {
        return std::string(
            e.n() < 1024 || e.n() % 32 != 0 ? "needs full warps: a multiple of 32 elements, 1024 at least" : "");
    }));
}
// The same for every launch of the step.
[[nodiscard]] std::vector<double> loads_by_launch(const engine::evidence& e);
[[nodiscard]] std::vector<double> stores_by_launch(const engine::evidence& e);
// Bytes that move for each byte that threads load.
[[nodiscard]] inline double moved_for_each(const engine::counters& c) {
    return 32 * static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_bytes);
}
[[nodiscard]] inline std::uint64_t warps_of(std::uint64_t n) { return engine::divide_up(n, 32); }

engine::step_definition aligned();
engine::step_definition permuted();
engine::step_definition misaligned();
engine::step_definition same_word();
engine::step_definition scattered();
engine::step_definition neighbours();
engine::step_definition strided();
engine::step_definition structures();
engine::step_definition structure_of_arrays();
engine::step_definition staged();
engine::step_definition read_only();
engine::step_definition padded_structures();
engine::step_definition store_patterns();
engine::step_definition store_transactions();
engine::step_definition colliding_stores();
engine::step_definition copy_by_int();
engine::step_definition copy_by_int2();
engine::step_definition copy_by_int4();
engine::step_definition copy_of_the_slide();
engine::step_definition constant_memory();
engine::step_definition constant_spread();
engine::step_definition local_memory();
engine::step_definition cache_operators();
engine::step_definition restricted();
engine::step_definition by_ldg();
engine::step_definition through_texture();
engine::step_definition sampler();
engine::step_definition stale();
engine::step_definition word_sizes();
engine::step_definition store_operators();
engine::step_definition scattered_in_l2();
engine::step_definition atomic_functions();
engine::step_definition texture_queries();
engine::step_definition state_spaces();
engine::step_definition mapped_host_memory();
engine::step_definition managed_memory_shared();
engine::step_definition replays();
engine::step_definition sharing();

} // namespace warpfold::ladder::memory

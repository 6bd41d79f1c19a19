// SPDX-License-Identifier: MIT
// The laboratory of global memory: access patterns, structures, stores, wide copies, constant and local memory, each with
// the figure that the 380 lecture gives for it.
#pragma once

#include <cstdint>
#include <utility>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::memory {

[[nodiscard]] const frame::study_definition& laboratory();

constexpr unsigned threads = 256;

[[nodiscard]] inline unsigned blocks_for(std::uint64_t n) {
    return static_cast<unsigned>(frame::divide_up(n, threads));
}

[[nodiscard]] frame::sample copy_of(std::uint64_t n, std::uint64_t seed); // the output is the input
[[nodiscard]] frame::sample one_more(std::uint64_t n, std::uint64_t seed); // the output is the input and 1

// `inner` where every warp is full; else the figure would be of the rest.
[[nodiscard]] inline frame::check full_warps(frame::check inner) {
    return frame::counted([inner = std::move(inner)](const frame::evidence& e) {
        return e.n() < 1024 || e.n() % 32 != 0 ? unseen("needs full warps: a multiple of 32 elements, 1024 at least")
                                               : inner(e);
    });
}
[[nodiscard]] inline double sectors_a_load(const frame::counters& c) {
    return static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests);
}
[[nodiscard]] inline double sectors_a_store(const frame::counters& c) {
    return static_cast<double>(c.global_store_sectors) / static_cast<double>(c.global_store_requests);
}
// Bytes that move for each byte that threads load.
[[nodiscard]] inline double moved_for_each(const frame::counters& c) {
    return 32 * static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_bytes);
}
[[nodiscard]] inline std::uint64_t warps_of(std::uint64_t n) { return frame::divide_up(n, 32); }

frame::step_definition aligned();
frame::step_definition permuted();
frame::step_definition misaligned();
frame::step_definition same_word();
frame::step_definition scattered();
frame::step_definition neighbours();
frame::step_definition strided();
frame::step_definition structures();
frame::step_definition structure_of_arrays();
frame::step_definition staged();
frame::step_definition read_only();
frame::step_definition padded_structures();
frame::step_definition store_patterns();
frame::step_definition colliding_stores();
frame::step_definition copy_by_int();
frame::step_definition copy_by_int2();
frame::step_definition copy_by_int4();
frame::step_definition copy_of_the_slide();
frame::step_definition constant_memory();
frame::step_definition constant_spread();
frame::step_definition local_memory();
frame::step_definition cache_operators();
frame::step_definition restricted();
frame::step_definition by_ldg();
frame::step_definition through_texture();
frame::step_definition sampler();
frame::step_definition stale();
frame::step_definition word_sizes();
frame::step_definition store_operators();
frame::step_definition scattered_in_l2();
frame::step_definition atomic_functions();
frame::step_definition texture_queries();
frame::step_definition state_spaces();
frame::step_definition mapped_host_memory();
frame::step_definition managed_memory_shared();

} // namespace warpfold::ladder::memory

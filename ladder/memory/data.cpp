// SPDX-License-Identifier: MIT
// Data of the laboratory of memory, and its order.
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

engine::sample copy_of(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    return {n, {in}, in};
}

engine::sample one_more(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    for (const std::int32_t x : in) {
        right.push_back(x + 1);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

std::vector<double> loads_by_launch(const engine::evidence& e) {
    std::vector<double> all;
    for (const auto& launch : e.step.launches) {
        all.push_back(engine::sectors_a_load(launch.total));
    }
    return all;
}

std::vector<double> stores_by_launch(const engine::evidence& e) {
    std::vector<double> all;
    for (const auto& launch : e.step.launches) {
        all.push_back(engine::sectors_a_store(launch.total));
    }
    return all;
}

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{
        .name = "memory",
        .data = "threads that read and write global memory in the patterns of the 380 lecture",
        .n_counted = 1u << 16,
        .n_timed = 1u << 24,
        .most = 1u << 28,
        .steps = {aligned(),
                  permuted(),
                  misaligned(),
                  same_word(),
                  scattered(),
                  scattered_in_l2(),
                  neighbours(),
                  strided(),
                  word_sizes(),
                  replays(),
                  structures(),
                  structure_of_arrays(),
                  staged(),
                  read_only(),
                  through_texture(),
                  texture_queries(),
                  padded_structures(),
                  restricted(),
                  by_ldg(),
                  sampler(),
                  stale(),
                  store_patterns(),
                  store_transactions(),
                  colliding_stores(),
                  copy_by_int(),
                  copy_by_int2(),
                  copy_by_int4(),
                  copy_of_the_slide(),
                  constant_memory(),
                  constant_spread(),
                  local_memory(),
                  cache_operators(),
                  store_operators(),
                  atomic_functions(),
                  state_spaces(),
                  sharing(),
                  mapped_host_memory(),
                  managed_memory_shared()}};
    return all;
}

} // namespace warpfold::ladder::memory

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::memory::laboratory();
}

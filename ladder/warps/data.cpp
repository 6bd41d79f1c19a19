// SPDX-License-Identifier: MIT
// Data of the laboratory of warps, and its order.
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

engine::sample partial_sums(const std::vector<float>& in, unsigned taken) {
    const std::uint64_t n = in.size();
    std::vector<float> sums;
    for (std::uint64_t first = 0; first < n; first += taken) {
        float sum = 0;
        for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + taken, n); ++i) {
            sum += in[i];
        }
        sums.push_back(sum);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(sums), engine::value_type::float32};
}

engine::sample partial_sums(std::uint64_t n, std::uint64_t seed) {
    return partial_sums(engine::numbers<float>(n, seed));
}

std::vector<std::uint64_t> active(const engine::evidence& e, unsigned count) {
    return engine::by_interval(e.first(), 1, count, [&](const engine::counters& c) {
        return c.shared_store_bytes / sizeof(float) / e.blocks();
    });
}

std::vector<std::uint64_t> warps_at_work(const engine::evidence& e, unsigned count) {
    return engine::by_interval(e.first(), 1, count,
                               [&](const engine::counters& c) { return c.shared_store_requests / e.blocks(); });
}

std::vector<std::uint64_t> divergent(const engine::evidence& e, unsigned count) {
    return engine::by_interval(e.first(), 1, count,
                               [&](const engine::counters& c) { return c.divergent_branches / e.blocks(); });
}

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{.name = "warps",
                                               .data =
                                                   "warps whose lanes do different things, in blocks of 128 threads",
                                               .n_counted = 1u << 14,
                                               .n_timed = 1u << 22,
                                               .most = 1u << 26,
                                               .steps = {modulo(),
                                                         packed(),
                                                         sequential(),
                                                         unrolled(),
                                                         sixteen_values(),
                                                         without_volatile(),
                                                         no_barrier(),
                                                         stride_above_one(),
                                                         warp_of_33(),
                                                         counting_up(),
                                                         missing_bound(),
                                                         words_left(),
                                                         straightforward(),
                                                         one_thread_each(),
                                                         better_step(),
                                                         retiring(),
                                                         block_sizes(),
                                                         three_calls(),
                                                         half_of_each_warp(),
                                                         half_of_the_warps(),
                                                         predicated(),
                                                         branched(),
                                                         unordered_exchange(),
                                                         ordered_exchange(),
                                                         shuffle_variants(),
                                                         shuffle_predicate(),
                                                         warp_sums_by_memory(),
                                                         warp_sums_by_shuffles(),
                                                         neighbour_by_neighbour(),
                                                         lock_in_a_warp(),
                                                         circle_of_waits()},
                                               .child_programs = child_programs()};
    return all;
}

} // namespace warpfold::ladder::warps

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::warps::laboratory();
}

// SPDX-License-Identifier: MIT
// Data and references of the scans, and the order of the ladder.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

engine::sample scanned(std::vector<std::int32_t> values, bool with_own) {
    std::vector<std::int32_t> right(values.size());
    std::int64_t total = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::int64_t before = total;
        total += values[k];
        right[k] = static_cast<std::int32_t>(with_own ? total : before);
    }
    return {values.size(), {engine::bytes_of(values)}, engine::bytes_of(right)};
}

} // namespace

engine::sample inclusive(std::uint64_t n, std::uint64_t seed) { return scanned(engine::numbers(n, seed, 9), true); }
engine::sample exclusive(std::uint64_t n, std::uint64_t seed) { return scanned(engine::numbers(n, seed, 9), false); }
engine::sample sausage(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    return scanned({3, 5, 2, 7, 28, 4, 3, 0, 8, 1}, true);
}

std::uint64_t power_of_two(std::uint64_t n, std::uint64_t most) { return std::min(std::bit_floor(n), most); }

namespace {

// 759, "Concluding Remarks, Parallel Scan"; source: Harris, Sengupta and Owens (2007). Milliseconds.
struct published {
    std::uint64_t n;
    double cpu, gpu;
};
constexpr std::array<published, 11> of_2007{{{1024, 0.002231, 0.079492},
                                             {32768, 0.072663, 0.106159},
                                             {65536, 0.146326, 0.137006},
                                             {131072, 0.726429, 0.200257},
                                             {262144, 1.454742, 0.326900},
                                             {524288, 2.911067, 0.624104},
                                             {1048576, 5.900097, 1.118091},
                                             {2097152, 11.848376, 2.099666},
                                             {4194304, 23.835931, 4.062923},
                                             {8388688, 47.390906, 7.987311}, // as printed; 2^23 is 8388608
                                             {16777216, 94.794598, 15.854781}}};

std::vector<extra_table> then_and_now(const ladder_report& /*report*/, const engine::stopwatch& seconds_of) {
    extra_table table{
        "The table of Harris, Sengupta and Owens (2007), as the 759 lecture prints it, and the same today: the "
        "host's std::inclusive_scan on one core, and step 11; milliseconds",
        {"elements", "CPU\n2007", "GPU\n2007", "speed-up\n2007", "CPU\ntoday", "GPU\ntoday", "speed-up\ntoday"},
        {}};
    for (const published& row : of_2007) {
        const auto cpu = seconds_of("cpu", row.n);
        const auto gpu = seconds_of("11", row.n);
        table.rows.push_back({std::to_string(row.n), number(row.cpu, 6), number(row.gpu, 6),
                              number(row.cpu / row.gpu, 2), cpu ? number(*cpu * 1e3, 6) : "–",
                              gpu ? number(*gpu * 1e3, 6) : "–", cpu && gpu ? number(*cpu / *gpu, 2) : "–"});
    }
    return {table};
}

} // namespace

const engine::ladder_definition& ladder() {
    static const engine::ladder_definition all{
        .name = "scan",
        .data = "the running totals of int32",
        .n_counted = 1u << 16,
        .n_timed = 1u << 24,
        .most = 1u << 28,
        .steps = with_applications({sequential(),         hillis_steele(),   many_launches(),     eight_values(),
                                    p_threads(),          one_barrier(),     barrier_in_branch(), two_barriers(),
                                    cut_the_sausage(),    exclusive_shift(), balanced_tree(),     trees_of_eight(),
                                    padded_tree(),        post_scan_tree(),  flawless_reentry(),  block_sums(),
                                    not_a_power_of_two(), warp_shuffles(),   look_back(),         library(),
                                    peer_cub(),           peer_cpu()}),
        .tables = then_and_now};
    return all;
}

} // namespace warpfold::ladder::scan

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::scan::ladder();
}

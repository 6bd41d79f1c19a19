// SPDX-License-Identifier: MIT
// Readings of the balanced trees' counters. Every kernel has the load of its elements in barrier interval 0, level k of
// the way up in interval 1 + k, and level k of the way down behind these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/definition/claims.hpp"

namespace warpfold::ladder::scan {

using engine::counters;

struct tree_work {
    std::vector<std::uint64_t> up;         // additions of each level
    std::vector<std::uint64_t> down;       // and on the way down
    std::vector<std::uint64_t> overwrites; // stores on the way down that are no additions: the swaps
};

// Of a scan of Harris, Sengupta and Owens in one block: every addition and every overwrite stores once, and the way down
// does one of each for every pair.
[[nodiscard]] inline tree_work balanced_work(const engine::evidence& e) {
    const unsigned levels = engine::log2_up(e.n());
    const auto& launch = e.step.launches[0];
    const auto stores = [](const counters& c) { return c.shared_store_bytes / sizeof(int); };
    tree_work work;
    work.up = engine::by_interval(launch, 1, levels, stores);
    if (levels != 0) {
        work.up.back() -= 1; // the clearing of the last element, before the barrier that begins the way down
    }
    for (const std::uint64_t stored : engine::by_interval(launch, 1 + levels, levels, stores)) {
        work.down.push_back(stored / 2);
        work.overwrites.push_back(stored - stored / 2);
    }
    return work;
}

// Passes of the banks over those that would do without conflicts, of every level up and then down.
[[nodiscard]] inline std::vector<double> conflict_degrees(const engine::evidence& e, const step_result& step,
                                                          std::size_t first) {
    std::vector<double> degrees;
    const auto& intervals = step.launches[0].by_interval;
    for (std::size_t k = first; k < first + 2 * engine::log2_up(e.n()) && k < intervals.size(); ++k) {
        const auto passes = intervals[k].shared_load_wavefronts + intervals[k].shared_store_wavefronts;
        const auto without = passes - engine::bank_conflicts(intervals[k]);
        degrees.push_back(without == 0 ? 1 : static_cast<double>(passes) / static_cast<double>(without));
    }
    return degrees;
}

} // namespace warpfold::ladder::scan

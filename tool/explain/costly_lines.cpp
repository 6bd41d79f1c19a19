// SPDX-License-Identifier: MIT
#include "tool/explain/costly_lines.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpfold::tool {
namespace {

using softgpu::observe::counters;
using softgpu::observe::point_counts;

constexpr double least_share = 0.05;

std::uint64_t bank_conflicts(const counters& c) {
    return c.shared_load_bank_conflicts + c.shared_store_bank_conflicts + c.shared_atomic_bank_conflicts;
}
std::uint64_t wavefronts(const counters& c) {
    return c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts;
}
std::uint64_t sectors(const counters& c) {
    return c.global_load_sectors + c.global_store_sectors + c.local_load_sectors + c.local_store_sectors +
           c.atomic_sectors;
}

// What of the line's work takes the resource.
double cost(const counters& c, resource of) {
    switch (of) {
    case resource::shared_memory: return static_cast<double>(wavefronts(c));
    case resource::l2:
    case resource::dram: return static_cast<double>(sectors(c));
    case resource::latency: return latencies{}.clocks(c);
    default: return static_cast<double>(c.warp_instructions);
    }
}

double ratio(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string why_of(const point_counts& p) {
    const counters& c = p.counts;
    std::vector<std::string> words;
    const double lanes = ratio(c.thread_instructions - p.guarded_off, c.warp_instructions);
    if (lanes < 31) {
        words.push_back(fmt::format("{:.1f} of 32 lanes work", lanes));
    }
    const auto access = [&](const char* what, std::uint64_t requests, std::uint64_t touched, std::uint64_t bytes) {
        if (requests == 0) {
            return;
        }
        const double each = ratio(touched, requests);
        const double least = std::max(1.0, ratio(bytes, requests) / 32);
        words.push_back(each > 1.25 * least
                            ? fmt::format("a {} touches {:.1f} sectors where {:.1f} would do", what, each, least)
                            : fmt::format("{}s of {:.1f} sectors, no more than their bytes need", what, each));
    };
    access("load", c.global_load_requests, c.global_load_sectors, c.global_load_bytes);
    access("store", c.global_store_requests, c.global_store_sectors, c.global_store_bytes);
    if (c.local_load_sectors + c.local_store_sectors != 0) {
        words.emplace_back("it goes through local memory, which registers would save");
    }
    if (const auto passes = wavefronts(c); passes != 0) {
        const auto needless = bank_conflicts(c);
        words.push_back(needless != 0 ? fmt::format("{:.1f} passes over the banks where one would do",
                                                    ratio(passes, passes - needless))
                                      : "shared memory without bank conflicts");
    }
    if (c.atomic_worst_multiplicity > 1) {
        words.push_back(fmt::format("up to {} lanes of an atomic meet at one address", c.atomic_worst_multiplicity));
    }
    if (c.divergent_branches != 0) {
        words.push_back(fmt::format("{:.0f} % of its branches divide a warp",
                                    100 * ratio(c.divergent_branches, std::max(c.branches, c.divergent_branches))));
    } else if (c.branches != 0) {
        words.emplace_back("a branch that every warp takes as a whole");
    }
    if (c.barriers != 0) {
        words.emplace_back("warps wait for the slowest of the block");
    }
    return words.empty() ? "arithmetic in all lanes" : fmt::format("{}", fmt::join(words, "; "));
}

} // namespace

std::vector<costly_line> costly_lines(const step_profile& profile, resource bound, std::size_t most) {
    const double all = cost(profile.all.counts, bound);
    std::vector<costly_line> lines;
    for (const auto& [path, numbers] : profile.lines) {
        for (const auto& [number, counts] : numbers) {
            const double share = all == 0 ? 0 : cost(counts.counts, bound) / all;
            if (share >= least_share) {
                lines.push_back({path, number, share, why_of(counts)});
            }
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    lines.resize(std::min(lines.size(), most));
    return lines;
}

} // namespace warpfold::tool

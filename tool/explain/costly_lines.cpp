// SPDX-License-Identifier: MIT
#include "tool/explain/costly_lines.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text.hpp"

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

double instructions(const counters& c) { return static_cast<double>(c.warp_instructions); }

double requests(const counters& c) {
    return static_cast<double>(c.global_load_requests + c.global_store_requests + c.local_load_requests +
                               c.local_store_requests + c.shared_load_requests + c.shared_store_requests +
                               c.constant_load_requests + c.async_copy_requests + c.atomic_requests +
                               c.shared_atomic_requests);
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

line_cost cost_of(resource r) {
    switch (r) {
    case resource::shared_memory: return cost_of_bound("shared");
    case resource::l2:
    case resource::dram: return cost_of_bound("l2");
    case resource::latency: return cost_of_bound("latency");
    default: return cost_of_bound("issue");
    }
}

line_cost cost_of_bound(std::string_view bound) {
    if (bound == "launch" || bound == "blocks") {
        return {};
    }
    if (bound == "shared") {
        return {"wavefronts", [](const counters& c) { return static_cast<double>(wavefronts(c)); }};
    }
    if (bound == "l1" || bound == "l2" || bound == "dram" || bound == "link") {
        return {"sectors", [](const counters& c) { return static_cast<double>(sectors(c)); }};
    }
    if (bound == "atomics") {
        return {"lanes of atomics", [](const counters& c) { return static_cast<double>(c.atomic_lanes); }};
    }
    if (bound == "slice") {
        return {"requests and lanes of atomics", [](const counters& c) {
                    return static_cast<double>(c.atomic_lanes + c.global_load_requests + c.global_store_requests);
                }};
    }
    if (bound == "constant") {
        return {"loads of constant memory",
                [](const counters& c) { return static_cast<double>(c.constant_load_requests); }};
    }
    if (bound == "lsu") {
        return {"memory instructions", requests};
    }
    if (bound == "shuffle") {
        return {"shuffles", [](const counters& c) { return static_cast<double>(c.shuffles); }};
    }
    if (bound == "vote" || bound == "match") {
        return {"votes", [](const counters& c) { return static_cast<double>(c.votes); }};
    }
    if (bound == "tensor") {
        return {"matrix products", [](const counters& c) { return static_cast<double>(c.matrix_products); }};
    }
    if (bound == "latency") {
        return {"cycles waited for loads and instructions", [](const counters& c) { return latencies{}.clocks(c); }};
    }
    return {bound == "issue" ? "instructions" : "instructions of all kinds", instructions};
}

std::vector<costly_line> costly_lines(const step_profile& profile, const line_cost& cost, std::size_t most) {
    const double all = cost.of ? cost.of(profile.all.counts) : 0;
    std::vector<costly_line> lines;
    for (const auto& [path, numbers] : profile.lines) {
        for (const auto& [number, counts] : numbers) {
            const double share = all == 0 ? 0 : cost.of(counts.counts) / all;
            if (share >= least_share) {
                lines.push_back({path, number, share, why_of(counts)});
            }
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    lines.resize(std::min(lines.size(), most));
    return lines;
}

std::string text_of(const std::vector<costly_line>& lines, const std::string& of, const report::style& look) {
    std::string out;
    if (!lines.empty()) {
        out += fmt::format("The lines that cost most of {}\n", of);
    }
    for (const costly_line& line : lines) {
        out += report::paragraph(fmt::format("  {:>4.0f} %  ", 100 * line.share),
                                 fmt::format("{}:{}: {}", line.path, line.number, line.why), look.width);
    }
    return out;
}

report::json json_of(const std::vector<costly_line>& lines) {
    report::json out = report::json::array();
    for (const costly_line& line : lines) {
        out.push_back({{"path", line.path}, {"line", line.number}, {"share", line.share}, {"why", line.why}});
    }
    return out;
}

} // namespace warpfold::tool

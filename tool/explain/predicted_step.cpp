// SPDX-License-Identifier: MIT
#include "tool/explain/predicted_step.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "softgpu/observe/json_parts.hpp"
#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/prediction_text.hpp"

namespace warpfold::tool {

using report::json;
using softgpu::observe::bound_time;
using softgpu::observe::prediction;

namespace {

// 0: it is the launch itself, or nothing.
double time_of(const prediction& p, const std::string& bound) {
    const auto at =
        std::find_if(p.bounds.begin(), p.bounds.end(), [&](const bound_time& b) { return b.name == bound; });
    return at == p.bounds.end() ? 0 : at->nanoseconds;
}

std::string microseconds(double nanoseconds) { return report::figure(nanoseconds / 1000, 3); }

} // namespace

double lead_of(const prediction& p) {
    const double next = time_of(p, p.next_bound);
    return next > 0 ? time_of(p, p.bound) / next : 0;
}

std::vector<predicted_step> predicted_steps(const step_profile& profile) {
    std::vector<predicted_step> all;
    for (prediction& sum : predictions_of(profile.launches)) {
        predicted_step& step = all.emplace_back();
        for (const auto& launch : profile.launches) {
            const prediction& one = launch.predictions.at(all.size() - 1);
            if (step.kernel.empty() || one.nanoseconds > step.kernel_nanoseconds) {
                step.kernel = launch.kernel;
                step.kernel_nanoseconds = one.nanoseconds;
            }
        }
        step.ranked_by = cost_of_bound(sum.bound).of ? sum.bound : sum.next_bound;
        step.cost = cost_of_bound(step.ranked_by);
        step.costly = costly_lines(profile, step.cost, 3);
        step.sum = std::move(sum);
    }
    return all;
}

double share_of(const predicted_step& step, const step_profile& profile, const softgpu::observe::counters& line) {
    const double all = step.cost.of ? step.cost.of(profile.all.counts) : 0;
    return all == 0 ? 0 : step.cost.of(line) / all;
}

std::string text_of(const predicted_step& step, const step_profile& profile, const report::style& look) {
    const prediction& p = step.sum;
    std::string head = fmt::format(
        "Predicted by the model of {} (docs/model.md), not measured, at n = {}: {} µs warm, {} µs "
        "with a cold L2 cache. ",
        p.card, report::group_digits(profile.n), microseconds(p.nanoseconds), microseconds(p.cold_nanoseconds));
    if (profile.launches.size() > 1) {
        head += fmt::format("The longest of {} launches takes {} µs: {}. ", profile.launches.size(),
                            microseconds(step.kernel_nanoseconds), report::printable(step.kernel));
    }
    head += fmt::format("{} bounds it, with {:.0f} % of the time", p.bound, 100 * p.share_of_roof);
    if (const double lead = lead_of(p); lead > 0) {
        head += fmt::format("; {} times the next bound, {}", report::figure(lead, 2), p.next_bound);
    } else if (!p.next_bound.empty()) {
        head += "; the next bound is " + p.next_bound;
    }
    std::string out = "\n" + report::paragraph("", head + ".", look.width);
    for (const bound_time& bound : p.bounds) {
        out += fmt::format("  {:>9} µs  {}\n", microseconds(bound.nanoseconds), bound.name);
    }
    return out + text_of(step.costly, step.ranked_by + ", by " + step.cost.unit, look);
}

json json_of(const std::vector<predicted_step>& steps) {
    json out = json::object();
    for (const predicted_step& step : steps) {
        json one = softgpu::observe::predictions_json({step.sum})[step.sum.card];
        one["longest_launch"] = {{"kernel", step.kernel}, {"nanoseconds", step.kernel_nanoseconds}};
        one["lines_of"] = step.cost.of ? json(step.ranked_by) : json(nullptr);
        one["lines_by"] = text_or_null(step.cost.unit);
        one["lines"] = json_of(step.costly);
        out[step.sum.card] = std::move(one);
    }
    return out;
}

} // namespace warpfold::tool

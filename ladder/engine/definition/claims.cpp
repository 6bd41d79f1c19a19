// SPDX-License-Identifier: MIT
#include "ladder/engine/definition/claims.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warpfold::ladder::engine {

const step_result* evidence::other(const std::string& id) const {
    const auto at = std::find_if(report.steps.begin(), report.steps.end(),
                                 [&](const step_result& s) { return s.id == id && s.as_expected(); });
    if (at == report.steps.end()) {
        if (missing != nullptr) {
            missing->push_back(id);
        }
        return nullptr;
    }
    return &*at;
}

check launched(check inner) {
    return [inner = std::move(inner)](const evidence& e) {
        return e.step.launches.empty() ? unseen("nothing was launched") : inner(e);
    };
}

check counted(check inner) {
    return [inner = launched(std::move(inner))](const evidence& e) {
        return e.counted ? inner(e) : unseen("needs the counters of the software GPU");
    };
}

check launched_with(std::string other, comparison inner) {
    return launched([other = std::move(other), inner = std::move(inner)](const evidence& e) {
        const step_result* const step = e.other(other);
        if (step == nullptr || step->launches.empty()) {
            return unseen("needs step " + other + " in the same run");
        }
        return inner(e, *step);
    });
}

check compared(std::string other, comparison inner) {
    return counted(launched_with(std::move(other), std::move(inner)));
}

check unseen_because(std::string why) {
    return [why = std::move(why)](const evidence&) { return unseen(why); };
}

check faster_than(std::string other, std::string published) {
    return [other = std::move(other), published = std::move(published)](const evidence& e) {
        const std::string told = published.empty() ? "" : "; " + published;
        if (!e.step.cold) {
            return unseen("needs times, so a GPU" + told);
        }
        const step_result* const step = e.other(other);
        if (step == nullptr || !step->cold) {
            return unseen("needs step " + other + " in the same run" + told);
        }
        if (step->n != e.step.n) {
            return unseen("step " + other + " ran on another number of elements" + told);
        }
        const double speedup = step->cold->median / e.step.cold->median;
        return seen(speedup > 1, number(speedup, 2) + "x here" + told);
    };
}

check comes_out_wrong() {
    return [](const evidence& e) {
        return seen(!e.step.correct, e.step.correct ? "it came out right" : e.step.difference);
    };
}

counters total(const std::vector<softgpu::observe::launch_record>& launches) {
    counters all;
    for (const auto& launch : launches) {
        all.add(launch.total);
    }
    return all;
}

counters total(const step_result& step) { return total(step.launches); }

std::uint64_t bank_conflicts(const counters& c) { return c.shared_load_bank_conflicts + c.shared_store_bank_conflicts; }

std::vector<std::uint64_t> by_interval(const softgpu::observe::launch_record& launch, std::size_t first,
                                       std::size_t count, std::function<std::uint64_t(const counters&)> of) {
    std::vector<std::uint64_t> values;
    for (std::size_t k = first; k < first + count; ++k) {
        values.push_back(k < launch.by_interval.size() ? of(launch.by_interval[k]) : 0);
    }
    return values;
}

double barriers_per_warp(const softgpu::observe::launch_record& launch) {
    const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    return static_cast<double>(launch.total.barriers) / static_cast<double>(blocks * ((threads + 31) / 32));
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

} // namespace warpfold::ladder::engine

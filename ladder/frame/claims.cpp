// SPDX-License-Identifier: MIT
#include "ladder/frame/claims.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace warpfold::ladder::frame {

const study_step* evidence::other(const std::string& id) const {
    const auto at = std::find_if(report.steps.begin(), report.steps.end(),
                                 [&](const study_step& s) { return s.id == id && s.skipped.empty(); });
    if (at == report.steps.end()) {
        if (missing != nullptr) {
            missing->push_back(id);
        }
        return nullptr;
    }
    return &*at;
}

check counted(check inner) {
    return [inner = std::move(inner)](const evidence& e) {
        if (!e.counted) {
            return unseen("needs the counters of the software GPU");
        }
        return e.step.launches.empty() ? unseen("nothing was launched") : inner(e);
    };
}

check compared(std::string other, comparison inner) {
    return counted([other = std::move(other), inner = std::move(inner)](const evidence& e) {
        const study_step* const step = e.other(other);
        if (step == nullptr || step->launches.empty()) {
            return unseen("needs step " + other + " in the same run");
        }
        return inner(e, *step);
    });
}

check faster_than(std::string other, std::string published) {
    return [other = std::move(other), published = std::move(published)](const evidence& e) {
        const std::string told = published.empty() ? "" : "; " + published;
        if (!e.step.cold) {
            return unseen("needs times, so a GPU" + told);
        }
        const study_step* const step = e.other(other);
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

unsigned log2_up(std::uint64_t n) { return n < 2 ? 0 : static_cast<unsigned>(std::bit_width(n - 1)); }

} // namespace warpfold::ladder::frame

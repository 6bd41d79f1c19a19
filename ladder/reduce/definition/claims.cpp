// SPDX-License-Identifier: MIT
// Readings of counters and launches, for the checks of claims.
#include "ladder/reduce/definition/claims.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "ladder/reduce/definition/published.hpp"

namespace warpfold::ladder::reduce {

using counters = engine::counters;

engine::check counted_power_of_two(unsigned least, engine::check inner) {
    return engine::counted(engine::guarded(std::move(inner), [least](const engine::evidence& e) -> std::string {
        if (!std::has_single_bit(e.block())) {
            return "said of blocks of a power of two of threads";
        }
        return e.block() < least ? "needs blocks of " + std::to_string(least) + " threads or more" : "";
    }));
}

engine::check share_of_reading(double least, double most, std::string published) {
    const engine::check share = [least, most, published = std::move(published)](const engine::evidence& e) {
        const auto& ceiling = e.report.device.read_gb_per_s;
        if (!e.step.cold || !ceiling || *ceiling <= 0) {
            return unseen("needs times, so a GPU; " + published);
        }
        const auto rate = [&](double seconds) {
            return static_cast<double>(e.n() * e.element_bytes()) / seconds * 1e-9;
        };
        const auto within = [&](double seconds) {
            const double here = rate(seconds) / *ceiling;
            return here >= least && here <= most;
        };
        const double median = rate(e.step.cold->median);
        const std::string figure = number(median, 0) + " GB/s here, " + number(100 * median / *ceiling, 0) +
                                   " % of the read ceiling; " + published;
        const bool fast = within(e.step.cold->low);
        return fast == within(e.step.cold->high) ? seen(fast, figure) : no_difference(figure);
    };
    const double other = least > 0 ? least / 2 : (1 + most) / 2;
    return share.refuted_by(engine::planted(
        "a time at " + number(100 * other, 0) + " % of the read ceiling", [other](engine::altered_evidence& e) {
            const double bytes =
                static_cast<double>(e.step.n) * static_cast<double>(bytes_of(e.report.request.parameters.type));
            e.report.device.read_gb_per_s = bytes / other * 1e-9;
            e.step.cold = timing{.median = 1, .low = 0.99, .high = 1.01, .samples = 31};
        }));
}

engine::check algorithm_before_code(std::string published) {
    const engine::check more = [published = std::move(published)](const engine::evidence& e) {
        timing all[8] = {};
        for (unsigned k = 1; k <= 7; ++k) {
            const std::string id = std::to_string(k);
            const step_result* const step = id == e.step.id ? &e.step : e.other(id);
            if (step == nullptr || !step->cold || step->cold->low <= 0) {
                return unseen("needs times of steps 1 to 7, so a GPU; " + published);
            }
            all[k] = *step->cold;
        }
        const double algorithm = all[1].median / all[4].median * (all[6].median / all[7].median);
        const double code = all[4].median / all[6].median;
        const double least = all[1].low / all[4].high * (all[6].low / all[7].high); // of the algorithm's gain
        const double most = all[1].high / all[4].low * (all[6].high / all[7].low);
        const std::string figure = number(algorithm, 2) + "x by the algorithm, " + number(code, 2) + "x by the code, " +
                                   number(algorithm * code, 2) + "x in all; " + published;
        if (least > all[4].high / all[6].low) {
            return seen(true, figure);
        }
        return most < all[4].low / all[6].high ? seen(false, figure) : no_difference(figure);
    };
    return more.refuted_by(engine::planted("times of which the code gains the most", [](engine::altered_evidence& e) {
        const auto about = [](double seconds) {
            return timing{.median = seconds, .low = 0.99 * seconds, .high = 1.01 * seconds, .samples = 31};
        };
        const double seconds[] = {8, 7, 6, 5, 2, 1}; // of steps 1 to 6
        for (unsigned k = 0; k < 6; ++k) {
            e.other(std::to_string(k + 1)).cold = about(seconds[k]);
        }
        e.step.cold = about(0.9);
    }));
}

engine::check lockstep_is_enough() {
    return [](const engine::evidence& e) {
        if (e.found == nullptr) {
            return unseen("needs the checks of the software GPU");
        }
        return seen(e.found->none(),
                    e.found->in_words() + "; from Volta on the lanes of a warp need not run in lockstep");
    };
}

engine::counterexample load_as_iteration() {
    return engine::planted("the load counted as the first iteration", [](engine::altered_evidence& e) {
        auto& intervals = e.step.launches.at(0).by_interval;
        intervals.insert(intervals.begin(), counters{});
    });
}

engine::counterexample reversed_iterations() {
    return engine::planted("the iterations in the opposite order", [](engine::altered_evidence& e) {
        auto& intervals = e.step.launches.at(0).by_interval;
        intervals.resize(1 + log2_up(e.report.request.parameters.block));
        std::reverse(intervals.begin() + 1, intervals.end());
    });
}

namespace {

template <class Reading>
auto by_iteration(const engine::evidence& e, Reading reading) {
    std::vector<decltype(reading(counters{}))> values;
    const auto& intervals = e.first().by_interval;
    for (unsigned j = 1; j <= log2_up(e.block()); ++j) {
        values.push_back(reading(j < intervals.size() ? intervals[j] : counters{}));
    }
    return values;
}

} // namespace

std::vector<std::uint64_t> active_threads(const engine::evidence& e) {
    return by_iteration(e, [&](const counters& c) { return c.shared_store_bytes / e.element_bytes() / e.blocks(); });
}

std::vector<std::uint64_t> active_warps(const engine::evidence& e) {
    return by_iteration(e, [&](const counters& c) { return c.shared_store_requests / e.blocks(); });
}

std::vector<std::uint64_t> divergent_warps(const engine::evidence& e) {
    return by_iteration(e, [&](const counters& c) { return c.divergent_branches / e.blocks(); });
}

std::vector<double> conflict_degrees(const engine::evidence& e) {
    return by_iteration(e, [](const counters& c) {
        const std::uint64_t passes = c.shared_load_wavefronts + c.shared_store_wavefronts;
        const std::uint64_t without = passes - engine::bank_conflicts(c);
        return without == 0 ? 1.0 : static_cast<double>(passes) / static_cast<double>(without);
    });
}

namespace {

iteration at_stride(unsigned size, unsigned stride, activity active) {
    iteration all;
    all.stride = stride;
    for (unsigned warp = 0; warp < size; warp += 32) {
        const unsigned lanes = std::min(32u, size - warp);
        unsigned on = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            on += active(warp + lane, stride, size) ? 1u : 0u;
        }
        all.threads += on;
        all.warps += on != 0 ? 1u : 0u;
        all.divergent_warps += on != 0 && on != lanes ? 1u : 0u;
    }
    return all;
}

} // namespace

std::vector<iteration> rising_strides(unsigned size, activity active) {
    std::vector<iteration> all;
    for (unsigned stride = 1; stride < size; stride *= 2) {
        all.push_back(at_stride(size, stride, active));
    }
    return all;
}

std::vector<iteration> falling_strides(unsigned size, activity active) {
    std::vector<iteration> all = rising_strides(size, active);
    std::reverse(all.begin(), all.end());
    return all;
}

std::vector<std::uint64_t> each(const std::vector<iteration>& all, std::uint64_t iteration::*field) {
    std::vector<std::uint64_t> values;
    for (const iteration& one : all) {
        values.push_back(one.*field);
    }
    return values;
}

verdict launches_shrink_by(const engine::evidence& e, std::uint64_t per_block) {
    bool holds = true;
    std::uint64_t left = e.n();
    for (const auto& launch : e.step.launches) {
        left = divide_up(left, per_block);
        holds = holds && launch.grid[0] == left;
    }
    if (e.report.request.parameters.finish_on == finish::device) {
        holds = holds && left == 1;
    }
    return seen(holds, "blocks launched: " + grids(e.step));
}

double elements_per_thread(const engine::evidence& e) {
    return static_cast<double>(e.n()) / (static_cast<double>(e.blocks()) * e.block());
}

verdict one_barrier_a_warp(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.first());
    return seen(barriers == 1, number(barriers, 0) + " barriers a warp");
}

std::string grids(const step_result& step) {
    std::vector<std::uint64_t> blocks;
    for (const auto& launch : step.launches) {
        blocks.push_back(launch.grid[0]);
    }
    return list(blocks);
}

namespace published {

std::string step_speedup(unsigned k) {
    return number(g80_ms.at(k - 2) / g80_ms.at(k - 1), 2) + "x on the G80 (2^22 ints, 128 threads), " +
           number(k40m_s.at(k - 2) / k40m_s.at(k - 1), 2) + "x on the K40m (2^26 ints, 1024 threads)";
}

std::string t4_speedup(const t4_times& slower, const t4_times& faster) {
    double least = slower[0] / faster[0];
    double most = least;
    for (std::size_t k = 1; k < slower.size(); ++k) {
        least = std::min(least, slower[k] / faster[k]);
        most = std::max(most, slower[k] / faster[k]);
    }
    return number(least, 2) + "x to " + number(most, 2) + "x on the T4 (2^24 to 2^30 floats, 256 and 1024 threads)";
}

} // namespace published

} // namespace warpfold::ladder::reduce

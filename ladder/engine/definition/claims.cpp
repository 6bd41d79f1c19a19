// SPDX-License-Identifier: MIT
#include "ladder/engine/definition/claims.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
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

step_result& altered_evidence::other(const std::string& id) {
    const auto at =
        std::find_if(report.steps.begin(), report.steps.end(), [&](const step_result& s) { return s.id == id; });
    if (at == report.steps.end()) {
        throw std::out_of_range("no step " + id + " in the run");
    }
    return *at;
}

check guarded(check inner, std::function<std::string(const evidence&)> obstacle) {
    const auto against = inner.against();
    const check outer = [inner = std::move(inner), obstacle = std::move(obstacle)](const evidence& e) {
        std::string why = obstacle(e);
        return why.empty() ? inner(e) : unseen(std::move(why));
    };
    return against ? outer.refuted_by(*against) : outer;
}

check launched(check inner) {
    return guarded(std::move(inner), [](const evidence& e) {
        return std::string(e.step.launches.empty() ? "nothing was launched" : "");
    });
}

check counted(check inner) {
    return launched(guarded(std::move(inner), [](const evidence& e) {
        return std::string(e.counted ? "" : "needs the counters of the software GPU");
    }));
}

check launched_with(std::string other, comparison inner) {
    const check both = [other, inner = std::move(inner)](const evidence& e) {
        const step_result* const step = e.other(other);
        if (step == nullptr || step->launches.empty()) {
            return unseen("needs step " + other + " in the same run");
        }
        return inner(e, *step);
    };
    return launched(both.refuted_by(step_in_place(other)));
}

check compared(std::string other, comparison inner) {
    return counted(launched_with(std::move(other), std::move(inner)));
}

verdict shorter(const timing& here, const timing& there, std::string figure) {
    if (here.high < there.low) {
        return seen(true, std::move(figure));
    }
    return there.high < here.low ? seen(false, std::move(figure)) : no_difference(std::move(figure));
}

namespace {

// What the times that the model gives both steps say: "holds in the model of h200". It is no verdict: `holds` stays empty.
verdict in_the_model(const step_result& here, const step_result& there, const std::string& told,
                     const std::function<verdict(const timing&, const timing&)>& decide) {
    const auto cold_of = [](const step_result& step, std::size_t card) {
        timing t;
        for (const auto& launch : step.launches) {
            t.median += card < launch.predictions.size() ? launch.predictions[card].cold_nanoseconds * 1e-9 : 0;
        }
        t.low = t.high = t.median;
        return t;
    };
    std::string text;
    for (std::size_t card = 0; card < here.launches.front().predictions.size(); ++card) {
        const timing a = cold_of(here, card);
        const timing b = cold_of(there, card);
        if (a.median <= 0 || b.median <= 0) {
            return unseen("needs times, so a GPU" + told);
        }
        text += std::string(decide(a, b).holds == true ? "holds" : "does not hold") + " in the model of " +
                here.launches.front().predictions[card].card + " (" + number(a.median / b.median, 2) +
                " of the other's time); ";
    }
    return unseen(text + "not measured" + told);
}

// `decide` with the cold times of both steps on the same n; `told` goes behind every figure.
check with_times(const std::string& other, const std::string& told,
                 std::function<verdict(const timing& here, const timing& there)> decide) {
    return [other, told, decide = std::move(decide)](const evidence& e) {
        if (!e.step.cold && !e.step.launches.empty() && !e.step.launches.front().predictions.empty()) {
            const step_result* const there = e.other(other);
            if (there != nullptr && !there->launches.empty() && there->n == e.step.n) {
                return in_the_model(e.step, *there, told, decide);
            }
        }
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
        return decide(*e.step.cold, *step->cold);
    };
}

counterexample times_planted(const std::string& what, const std::string& other, double factor) {
    return planted(what + " of step " + other, [=](altered_evidence& e) {
        e.other(other).cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
        e.step.cold = timing{.median = factor, .low = factor - 0.1, .high = factor + 0.1, .samples = 31};
        e.step.n = e.other(other).n;
    });
}

} // namespace

check faster_than(std::string other, std::string published) {
    const std::string told = published.empty() ? "" : "; " + published;
    return with_times(other, told,
                      [told](const timing& here, const timing& there) {
                          return shorter(here, there, number(there.median / here.median, 2) + "x here" + told);
                      })
        .refuted_by(times_planted("twice the time", other, 2));
}

check slower_than(std::string other) {
    return with_times(other, "",
                      [other](const timing& here, const timing& there) {
                          return shorter(there, here,
                                         number(here.median / there.median, 2) + "x the time of step " + other);
                      })
        .refuted_by(times_planted("the time", other, 1));
}

check at_most_times(double factor, std::string other) {
    return with_times(other, "",
                      [=](const timing& here, const timing& there) {
                          const double times = here.median / there.median;
                          return seen(times < factor, number(times, 2) + "x the time of step " + other + ", " +
                                                          number(factor, 2) + "x at most");
                      })
        .refuted_by(times_planted(number(2 * factor, 1) + "x the time", other, 2 * factor));
}

check races(std::string kind, const std::string& without) {
    const check raced = [kind = std::move(kind)](const evidence& e) {
        const std::string result = e.step.correct ? "it came out right here" : e.step.difference;
        if (e.found == nullptr) {
            return e.step.correct ? unseen(result + "; needs the checks of the software GPU") : seen(true, result);
        }
        return seen(e.found->has(kind), result + "; " + e.found->in_words());
    };
    return raced.refuted_by(step_in_place(without));
}

counterexample step_in_place(const std::string& id) { return {.what = "step " + id + " in its place", .step = id}; }

counterexample on_size(std::uint64_t n) { return {.what = "n = " + std::to_string(n), .n = n}; }

counterexample mutant(std::string what, std::function<void(const stage&)> run) {
    return {.what = std::move(what), .run = std::move(run)};
}

counterexample launches_exchanged(std::size_t a, std::size_t b) {
    return planted("launches " + std::to_string(a + 1) + " and " + std::to_string(b + 1) + " exchanged",
                   [a, b](altered_evidence& e) { std::swap(e.step.launches.at(a), e.step.launches.at(b)); });
}

counterexample planted(std::string what, std::function<void(altered_evidence&)> change) {
    return {.what = std::move(what), .change = std::move(change)};
}

std::uint64_t right_words(const evidence& e) {
    const auto got = view<std::int32_t>(e.result);
    const auto right = view<std::int32_t>(e.data.right);
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < std::min(got.size(), right.size()); ++k) {
        found += got[k] == right[k] ? 1 : 0;
    }
    return found;
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
    return static_cast<double>(launch.total.barriers) / static_cast<double>(launch.warps());
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

} // namespace warpfold::ladder::engine

// SPDX-License-Identifier: MIT
// The checks behind the claims of all ladders: guards that say why a claim cannot be seen, comparisons with other steps,
// counter-examples, and readings of the counters. A guard keeps the counter-example of the check inside.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/engine/definition/integers.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::engine {

using counters = softgpu::observe::counters;
using comparison = std::function<verdict(const evidence& here, const step_result& other)>;

// Of global memory, on average of the requests of warps.
[[nodiscard]] inline double sectors_a_load(const counters& c) {
    return static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests);
}
[[nodiscard]] inline double sectors_a_store(const counters& c) {
    return static_cast<double>(c.global_store_sectors) / static_cast<double>(c.global_store_requests);
}

// `inner` where `obstacle` says nothing; else the claim cannot be seen, for that reason.
[[nodiscard]] check guarded(check inner, std::function<std::string(const evidence&)> obstacle);
// `inner` where the step launched something; else the claim cannot be seen.
[[nodiscard]] check launched(check inner);
// `inner` where the launches were counted as well.
[[nodiscard]] check counted(check inner);
// `inner` with an earlier step of the same run, both launched. Refuted by that step in the place of this one: what does
// not differ must not be claimed to.
[[nodiscard]] check launched_with(std::string other, comparison inner);
// `inner` with an earlier step of the same run, both counted. Refuted as launched_with is.
[[nodiscard]] check compared(std::string other, comparison inner);
// Holds where this step's cold times are below the other's on the same n: the 95th percentile below the 5th. "No
// difference" where the two ranges overlap. `published` is the lecture's figure, if any. Refuted by twice the other's time.
[[nodiscard]] check faster_than(std::string other, std::string published = {});
// "Holds", "does not hold" or "no difference" of the claim that `here` is the shorter time, by their spreads.
[[nodiscard]] verdict shorter(const timing& here, const timing& there, std::string figure);
// Holds where this step's cold times are above the other's on the same n, by their spreads. Refuted by equal times.
[[nodiscard]] check slower_than(std::string other);
// Holds where this step's median cold time is at most `factor` times the other's on the same n. Refuted by twice that.
[[nodiscard]] check at_most_times(double factor, std::string other);
// A claim about figures of its own: `measure` takes them, on a GPU that is timed, and `decide` judges them. Counter-examples
// give other figures: figures_in_place().
template <class Figures>
[[nodiscard]] check measured(Figures (*measure)(const evidence&), verdict (*decide)(const evidence&, const Figures&)) {
    return [=](const evidence& e) {
        if (const Figures* const given = e.given<Figures>()) {
            return decide(e, *given);
        }
        return e.step.cold ? decide(e, measure(e)) : unseen("needs the clock of a GPU");
    };
}
// Holds where the checks find that kind of fault, or the result is wrong; a right result alone shows nothing. Refuted by
// step `without` in its place.
[[nodiscard]] check races(std::string kind, const std::string& without);

// Another step of the ladder in the place of the claim's.
[[nodiscard]] counterexample step_in_place(const std::string& id);
// The claim's step on another size.
[[nodiscard]] counterexample on_size(std::uint64_t n);
// The claim's step with a kernel of its own, `what` in words.
[[nodiscard]] counterexample mutant(std::string what, std::function<void(const stage&)> run);
// Two launches of the step in each other's place.
[[nodiscard]] counterexample launches_exchanged(std::size_t a, std::size_t b);
// Recorded evidence with a change, `what` in words. For what neither another step nor a mutant can show.
[[nodiscard]] counterexample planted(std::string what, std::function<void(altered_evidence&)> change);
// These in the place of the figures that the check measures itself, `what` in words.
template <class Figures>
[[nodiscard]] counterexample figures_in_place(std::string what, Figures figures) {
    return planted(std::move(what), [figures = std::move(figures)](altered_evidence& e) { e.figures = figures; });
}

// Words of the result that are the right ones.
[[nodiscard]] std::uint64_t right_words(const evidence& e);
// Sums over launches.
[[nodiscard]] counters total(const std::vector<softgpu::observe::launch_record>& launches);
[[nodiscard]] counters total(const step_result& step);
[[nodiscard]] std::uint64_t bank_conflicts(const counters& c);
// One value for each barrier interval of the launch from `first` on, `count` of them; 0 past the last interval.
[[nodiscard]] std::vector<std::uint64_t> by_interval(const softgpu::observe::launch_record& launch, std::size_t first,
                                                     std::size_t count,
                                                     std::function<std::uint64_t(const counters&)> of);
// Barriers of its block that a warp arrives at, on average.
[[nodiscard]] double barriers_per_warp(const softgpu::observe::launch_record& launch);
[[nodiscard]] std::uint64_t sum(const std::vector<std::uint64_t>& values);

} // namespace warpfold::ladder::engine

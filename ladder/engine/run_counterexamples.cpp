// SPDX-License-Identifier: MIT
// The part of step_runner that holds the checks of claims against their counter-examples.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "ladder/engine/step_runner.hpp"

namespace warpfold::ladder::engine {

void step_runner::run_counterexamples() {
    for (const performed& here : performed_) {
        const step_definition& step = *std::find_if(ladder_.steps.begin(), ladder_.steps.end(),
                                                    [&](const auto& s) { return s.about.id == here.step.id; });
        auto& result = *std::find_if(report_.steps.begin(), report_.steps.end(),
                                     [&](const auto& s) { return s.id == here.step.id; });
        for (std::size_t k = 0; here.step.skipped.empty() && k < step.claims.size(); ++k) {
            if (step.claims[k].holds.against()) {
                result.claims[k].refutation = refute(step, here, step.claims[k]);
            }
        }
    }
}

verdict step_runner::refute(const step_definition& step, const performed& here, const claim_check& claim) {
    const counterexample& against = *claim.holds.against();
    const performed* stand_in = &here;
    if (!against.step.empty()) {
        const auto at = std::find_if(performed_.begin(), performed_.end(),
                                     [&](const performed& p) { return p.step.id == against.step; });
        if (at == performed_.end() || !at->step.skipped.empty()) {
            return unseen("needs step " + against.step + " in the same run");
        }
        stand_in = &*at;
    }
    const step_parameters asked = report_.request.parameters;
    performed again;
    if (against.n != 0 || against.block != 0 || against.run) {
        step_definition other = step;
        if (against.run) {
            other.run = against.run;
        }
        if (against.block != 0) {
            report_.request.parameters.block = against.block;
        }
        again = perform(other, against.n != 0 ? against.n : report_.n);
        stand_in = &again;
    }
    verdict v;
    if (against.change) {
        altered_evidence changed{report_, stand_in->step, stand_in->result, stand_in->found.value_or(findings{}),
                                 stand_in->said};
        try {
            against.change(changed);
            const performed as_changed{std::move(changed.step), stand_in->data, std::move(changed.result),
                                       std::move(changed.found), std::move(changed.said)};
            evidence seen_there = evidence_of(changed.report, as_changed, nullptr);
            seen_there.figures = std::move(changed.figures);
            v = claim.holds(seen_there);
        } catch (const std::out_of_range&) {
            v = unseen("this run does not have what the counter-example changes");
        }
    } else {
        v = claim.holds(evidence_of(report_, *stand_in, nullptr));
    }
    report_.request.parameters = asked;
    return v;
}

} // namespace warpfold::ladder::engine

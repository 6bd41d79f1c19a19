// SPDX-License-Identifier: MIT
// The host's own scan, on one core, into memory that is there before it begins.
#include <cstdint>
#include <numeric>
#include <string>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

// Holds where the GPU's step takes less time than this loop: its 95th percentile is below the loop's 5th. Refuted by
// exchanged times.
engine::check gpu_is_faster(std::string id, std::string told) {
    const engine::check faster = [id, told = std::move(told)](const engine::evidence& e) {
        const step_result* const other = e.other(id);
        if (!e.step.cold || other == nullptr || !other->cold || other->n != e.step.n) {
            return unseen("needs times, so a GPU; " + told);
        }
        return engine::shorter(*other->cold, *e.step.cold,
                               number(e.step.cold->median / other->cold->median, 2) + "x by step " + id + " for " +
                                   std::to_string(e.n()) + " elements here; " + told);
    };
    return faster.refuted_by(engine::planted("a GPU that takes twice the time", [id](engine::altered_evidence& e) {
        e.step.cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
        e.other(id).cold = timing{.median = 2, .low = 1.9, .high = 2.1, .samples = 31};
    }));
}

} // namespace

engine::step_definition peer_cpu() {
    return {.about = {"cpu", "std::inclusive_scan", "ladder/scan/peers/cpu.cpp", "one core of the host", "", true},
            .data = inclusive,
            .on_host =
                [](const engine::stage& on) {
                    const auto in = engine::view<std::int32_t>(on.data->in[0]);
                    std::inclusive_scan(in.begin(), in.end(), on.output<std::int32_t>());
                    return engine::bytes{};
                },
            .least_bytes = engine::read_and_written,
            // The lecture's table ends at 2^24 elements. Step 8 makes 2n - 2 additions, this loop n - 1.
            .claims = {{"even if it doesn't fit like a glove, leads to good speedup",
                        "759, Concluding Remarks, Parallel Scan",
                        gpu_is_faster("9", "5.98x for 16,777,216 elements in 2007")},
                       {"the benefit of parallelism can easily overcome the 2X work when there is sufficient hardware",
                        "Parallel patterns, Work Analysis", gpu_is_faster("8", "step 8 makes twice the additions")}}};
}

} // namespace warpfold::ladder::scan

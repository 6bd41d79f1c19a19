// SPDX-License-Identifier: MIT
// The host's own scan, on one core.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

// The lecture's table ends at 2^24 elements.
verdict leads_to_speedup(const engine::evidence& e) {
    const step_result* const other = e.other("9");
    const std::string told = "5.98x for 16,777,216 elements in 2007";
    if (!e.step.cold || other == nullptr || !other->cold || other->n != e.step.n) {
        return unseen("needs times, so a GPU; " + told);
    }
    const double speedup = e.step.cold->median / other->cold->median;
    return seen(speedup > 1,
                number(speedup, 1) + "x by step 9 for " + std::to_string(e.n()) + " elements here; " + told);
}

// Step 8 makes 2n - 2 additions, this loop n - 1.
verdict overcomes_twice_the_work(const engine::evidence& e) {
    const step_result* const other = e.other("8");
    if (!e.step.cold || other == nullptr || !other->cold || other->n != e.step.n) {
        return unseen("needs times, so a GPU");
    }
    const double speedup = e.step.cold->median / other->cold->median;
    return seen(speedup > 1, number(speedup, 1) + "x by step 8, which makes twice the additions");
}

} // namespace

engine::step_definition peer_cpu() {
    return {.about = {"cpu", "std::inclusive_scan", "ladder/scan/cpu.cpp", "one core of the host", "", true},
            .data = inclusive,
            .on_host =
                [](const engine::stage& on) {
                    const engine::sample& s = *on.data;
                    const auto in = engine::view<std::int32_t>(s.in[0]);
                    engine::bytes out(s.in[0].size());
                    std::inclusive_scan(in.begin(), in.end(), reinterpret_cast<std::int32_t*>(out.data()));
                    return out;
                },
            .least_bytes = read_and_written,
            .claims = {{"even if it doesn't fit like a glove, a GPU leads to good speedup",
                        "759, Concluding Remarks, Parallel Scan", leads_to_speedup},
                       {"the benefit of parallelism can easily overcome the 2X work when there is sufficient hardware",
                        "Parallel patterns, Work Analysis", overcomes_twice_the_work}}};
}

} // namespace warpfold::ladder::scan

// SPDX-License-Identifier: MIT
// Scan, step 12: the library's own call.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/steps.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

void run(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<int>(on.n));
    warpfold::inclusive_scan(target, on.input<int>(), on.n, on.output<int>());
}

verdict once_over_memory(const engine::evidence& e) {
    if (e.n() < 32768) {
        return unseen("needs many tiles");
    }
    const auto c = engine::total(e.step.launches);
    const double passes = static_cast<double>(c.global_bytes_requested()) / static_cast<double>(8 * e.n());
    // A second read of the elements makes it 1.5; words read again while a block waits for another one are a few.
    return seen(passes < 1.25, number(passes, 3) + "x the bytes that have to be read and written, in " +
                                   std::to_string(e.step.launches.size()) + " launch");
}

} // namespace

engine::step_definition library() {
    return {.about = {"12", "warpfold::inclusive_scan", "ladder/scan/12_library.cu",
                      "the library's call: look-back in one launch", "beyond the lectures"},
            .data = inclusive,
            .run = run,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"every element is read and written once", "beyond the lectures",
                 engine::counted(once_over_memory).refuted_by(engine::step_in_place("9"))},
                {"faster than step 11", "beyond the lectures", engine::faster_than("11")},
            }};
}

} // namespace warpfold::ladder::scan

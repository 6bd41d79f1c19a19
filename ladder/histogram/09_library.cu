// SPDX-License-Identifier: MIT
// Histogram, step 9: the library's own call, on bytes.
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/histogram/steps.hpp"
#include "warpfold/histogram.cuh"

namespace warpfold::ladder::histogram {

namespace {

void run(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, histogram_workspace());
    warpfold::histogram(target, on.input<std::uint8_t>(), on.n, on.output<std::int32_t>(),
                        even_bins<int>(0, static_cast<int>(byte_bins), byte_bins));
}

} // namespace

engine::step_definition library() {
    return {.about = {"9", "warpfold::histogram", "ladder/histogram/09_library.cu", "the library's call, on bytes",
                      "beyond the lectures"},
            .data = uniform_bytes,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .claims = {{"faster than step 5", "beyond the lectures", engine::faster_than("5")}}};
}

} // namespace warpfold::ladder::histogram

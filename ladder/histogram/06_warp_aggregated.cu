// SPDX-License-Identifier: MIT
// Histogram, step 6: warp-aggregated, beyond the lectures: of the lanes with the same value one adds for all.
#include "ladder/histogram/aggregated.cuh"

namespace warpfold::ladder::histogram {

namespace {

void run(const engine::stage& on) {
    clear(on, byte_bins);
    engine::launch(on, "count_bytes_aggregated", count_bytes_aggregated, blocks_of(on), threads, 0,
                   on.input<unsigned char>(), on.n, on.output<int>());
}

verdict fewer_atomics(const engine::evidence& e, const step_result& other) {
    if (e.n() < 1000) {
        return unseen("needs many bytes");
    }
    const auto here = e.step.launches[0].total.shared_atomic_lanes;
    const auto before = other.launches[0].total.shared_atomic_lanes;
    return seen(here < before, std::to_string(here) + " atomic operations on the private copies for " +
                                   std::to_string(e.n()) + " uniform bytes, " + std::to_string(before) + " in step 5");
}

verdict at_what_price(const engine::evidence& e, const step_result& other) {
    if (e.n() < 1000) {
        return unseen("needs many bytes");
    }
    const auto here = e.step.launches[0].total;
    const auto before = other.launches[0].total;
    return seen(here.thread_instructions > before.thread_instructions,
                number(static_cast<double>(here.thread_instructions) / static_cast<double>(e.n()), 1) +
                    " instructions a byte, " +
                    number(static_cast<double>(before.thread_instructions) / static_cast<double>(e.n()), 1) +
                    " in step 5: it pays where many lanes meet (see steps a0 to a100)");
}

} // namespace

engine::step_definition warp_aggregated() {
    return {.about = {"6", "warp-aggregated", "ladder/histogram/aggregated.cuh",
                      "lanes with the same value find each other by __match_any_sync; one adds for all",
                      "beyond the lectures"},
            .data = uniform_bytes,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .claims = {
                {"fewer atomic operations than without", "beyond the lectures", engine::compared("5", fewer_atomics)},
                {"more instructions for uniform data", "beyond the lectures", engine::compared("5", at_what_price)},
            }};
}

} // namespace warpfold::ladder::histogram

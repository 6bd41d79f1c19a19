// SPDX-License-Identifier: MIT
// Histogram, implementation 2: all threads process a contiguous piece, then move on to the next. Coalesced, and racing as
// before. (Parallel patterns "Implementation 2".)
#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_interleaved(const unsigned char* buffer, std::uint64_t size, int* histo) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    for (std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; i < size; i += stride) {
        const int position = buffer[i] - 'a';
        if (position >= 0 && position < 26) {
            histo[position / 4]++;
        }
    }
}

void run(const engine::stage& on) {
    clear(on, letter_bins);
    engine::launch(on, "count_interleaved", count_interleaved, blocks_of(on), threads, 0, on.input<unsigned char>(),
                   on.n, on.output<int>());
}

verdict better_patterns(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total.global_load_sectors;
    const auto before = other.launches[0].total.global_load_sectors;
    return seen(here < before, std::to_string(here) + " sectors loaded, " + std::to_string(before) + " in step 1");
}

} // namespace

engine::step_definition interleaved() {
    return {.about = {"2", "interleaved", "ladder/histogram/02_interleaved.cu",
                      "all threads process a contiguous piece, then the next", "Parallel patterns, Implementation 2"},
            .data = text,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .expected = outcome::by_luck,
            .lesson = "neighbours now count neighbouring characters, and collide as before",
            .finds = "race in global memory",
            .claims = {
                {"better memory access patterns", "Parallel patterns, Evaluation of Implementation 2",
                 engine::compared("1", better_patterns)},
                {"still possibility of collision due to data races",
                 "Parallel patterns, Evaluation of Implementation 2", engine::races("race in global memory", "3")},
            }};
}

} // namespace warpfold::ladder::histogram

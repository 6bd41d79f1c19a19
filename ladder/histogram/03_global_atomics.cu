// SPDX-License-Identifier: MIT
// Histogram, implementation 3: each increment is one atomic operation on the bins in global memory. (Parallel patterns
// "Implementation 3".)
// Mended: the slide's typographic quotes, and "alpha_position" for alphabet_position.
#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void histo_kernel(const unsigned char* buffer, std::uint64_t size, int* histo) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    while (i < size) {
        const int alphabet_position = buffer[i] - 'a';
        if (alphabet_position >= 0 && alphabet_position < 26) {
            atomicAdd(&histo[alphabet_position / 4], 1);
        }
        i += stride;
    }
}

void run(const engine::stage& on) {
    clear(on, letter_bins);
    engine::launch(on, "histo_kernel", histo_kernel, blocks_of(on), threads, 0, on.input<unsigned char>(), on.n,
                   on.output<int>());
}

verdict coalesced(const engine::evidence& e) {
    const double sectors = sectors_a_load(e.step);
    return seen(sectors <= 1.01, number(sectors, 2) + " sectors a load of 32 characters");
}

verdict one_atomic_each(const engine::evidence& e) {
    const auto lanes = e.step.launches[0].total.atomic_lanes;
    std::int64_t letters = 0;
    for (const std::int32_t count : engine::view<std::int32_t>(e.data.right)) {
        letters += count;
    }
    return seen(lanes == static_cast<std::uint64_t>(letters),
                std::to_string(lanes) + " atomic operations for " + std::to_string(letters) + " letters");
}

verdict serialised(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    if (e.n() < 32) {
        return unseen("needs a full warp");
    }
    return seen(c.atomic_worst_multiplicity > 1,
                "up to " + std::to_string(c.atomic_worst_multiplicity) + " lanes of a warp at one bin");
}

} // namespace

engine::step_definition global_atomics() {
    return {.about = {"3", "global atomics", "ladder/histogram/03_global_atomics.cu",
                      "read, modify and write as one operation that nobody can come between",
                      "Parallel patterns, Implementation 3"},
            .data = text,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .claims = {
                {"no data race: every letter is one atomic operation",
                 "Parallel patterns, Evaluation of Implementation 3", engine::counted(one_atomic_each)},
                {"coalesced memory access", "Parallel patterns, Evaluation of Implementation 3",
                 engine::counted(coalesced)},
                {"performance loss due to serialization: threads at the same location are held in a queue",
                 "Parallel patterns, Implementation 3", engine::counted(serialised)},
            }};
}

engine::step_definition the_phrase() {
    return {.about = {"phrase", "the lecture's phrase", "ladder/histogram/03_global_atomics.cu",
                      "\"Programming Massively Parallel Processors\" in bins of four letters",
                      "Parallel patterns, Example"},
            .data = phrase,
            .run = run,
            .size = [](std::uint64_t) { return std::uint64_t{41}; },
            .claims = {
                {"a-d, e-h, i-l, m-p, q-t, u-x, y-z: 5, 5, 6, 10, 10, 1, 1", "Parallel patterns, Example",
                 [](const engine::evidence& e) {
                     const auto bins = engine::view<std::int32_t>(e.result);
                     const std::vector<std::uint64_t> here(bins.begin(), bins.end());
                     return seen(here == std::vector<std::uint64_t>{5, 5, 6, 10, 10, 1, 1}, list(here));
                 }},
            }};
}

} // namespace warpfold::ladder::histogram

// SPDX-License-Identifier: MIT
// Histogram, implementation 3: each increment is one atomic operation on the bins in global memory. (Parallel patterns
// "Implementation 3".)
// Mended: the slide's typographic quotes, and "alpha_position" for alphabet_position.
#include <cstring>

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
    const double sectors = engine::sectors_a_load(engine::total(e.step.launches));
    return seen(sectors <= 1.01, number(sectors, 2) + " sectors a load of 32 characters");
}

verdict one_atomic_each(const engine::evidence& e) {
    const auto lanes = e.step.launches[0].total.atomic_lanes;
    std::int64_t letters = 0;
    for (const std::int32_t count : engine::view<std::int32_t>(e.data.right)) {
        letters += count;
    }
    const bool races = e.found != nullptr && !e.found->none();
    return seen(lanes == static_cast<std::uint64_t>(letters) && !races,
                std::to_string(lanes) + " atomic operations for " + std::to_string(letters) + " letters" +
                    (e.found == nullptr ? "" : "; " + e.found->in_words()));
}

verdict seven_counts(const engine::evidence& e) {
    const auto bins = engine::view<std::int32_t>(e.result);
    const std::vector<std::uint64_t> here(bins.begin(), bins.end());
    return seen(here == std::vector<std::uint64_t>{5, 5, 6, 10, 10, 1, 1}, list(here));
}

constexpr const char* source = "ladder/histogram/03_global_atomics.cu";
constexpr const char* example = "Parallel patterns, Example";

} // namespace

engine::step_definition global_atomics() {
    return {
        .about = step_description{"3", "global atomics", source,
                                  "read, modify and write as one operation that nobody can come between",
                                  "Parallel patterns, Implementation 3"}
                     .leads_to("4"),
        .data = text,
        .run = run,
        .least_bytes = [](std::uint64_t n) { return n; },
        .claims = {
            {"no data race: every letter is one atomic operation", "Parallel patterns, Evaluation of Implementation 3",
             engine::counted(one_atomic_each).refuted_by(engine::step_in_place("2"))},
            {"coalesced memory access", "Parallel patterns, Evaluation of Implementation 3",
             engine::counted(coalesced).refuted_by(engine::step_in_place("1"))},
        }};
}

engine::step_definition the_phrase() {
    return {.about = {"phrase", "the lecture's phrase", source,
                      "\"Programming Massively Parallel Processors\", all letters small, in bins of four letters",
                      example},
            .data = phrase,
            .run = run,
            .size = phrase_size,
            .claims = {{"a-d, e-h, i-l, m-p, q-t, u-x, y-z: 5, 5, 6, 10, 10, 1, 1", example,
                        engine::check(seven_counts).refuted_by(engine::step_in_place("capitals"))}}};
}

engine::step_definition capitals() {
    return {.about = {"capitals", "the phrase with its capitals", source, "the same kernel on the phrase as printed",
                      example},
            .data = phrase_with_capitals,
            .run = run,
            .size = phrase_size,
            .expected = outcome::wrong,
            .lesson = "the kernel takes 'M' and 'P' for no letters: 'P' - 'a' is below 0",
            .claims = {{"in the phrase \"Programming Massively Parallel Processors\" each character increments its bin",
                        example, engine::check(seven_counts).refuted_by(engine::planted("a letter less", [](auto& e) {
                            std::int32_t first = 0;
                            std::memcpy(&first, e.result.data(), sizeof first);
                            --first;
                            std::memcpy(e.result.data(), &first, sizeof first);
                        }))}}};
}

} // namespace warpfold::ladder::histogram

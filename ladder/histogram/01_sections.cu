// SPDX-License-Identifier: MIT
// Histogram, implementation 1: the input is cut into sections, each thread takes one and increments the bins. Counts are
// lost where two threads increment at once. (Parallel patterns "Implementation 1".)
#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_sections(const unsigned char* buffer, std::uint64_t size, int* histo) {
    const std::uint64_t all_threads = std::uint64_t{blockDim.x} * gridDim.x;
    const std::uint64_t section = (size + all_threads - 1) / all_threads;
    const std::uint64_t begin = (threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x) * section;
    const std::uint64_t end = begin + section < size ? begin + section : size;
    for (std::uint64_t i = begin; i < end; ++i) {
        const int position = buffer[i] - 'a';
        if (position >= 0 && position < 26) {
            histo[position / 4]++;
        }
    }
}

void run(const engine::stage& on) {
    clear(on, letter_bins);
    engine::launch(on, "count_sections", count_sections, blocks_of(on), threads, 0, on.input<unsigned char>(), on.n,
                   on.output<int>());
}

verdict not_coalesced(const engine::evidence& e) {
    if (e.n() < 32 * threads) {
        return unseen("needs sections of 32 characters or more");
    }
    // Half of the loads are of the bins, whose 28 bytes lie in one sector.
    const auto c = e.step.launches[0].total;
    const double characters = static_cast<double>(e.n());
    const double sectors = static_cast<double>(c.global_load_sectors);
    return seen(sectors > 0.9 * characters,
                number(sectors / characters, 2) + " sectors of 32 bytes moved for each character of one byte");
}

// Sectors that are asked for say nothing of DRAM: caches keep a section's sector for the characters that follow. So it is
// the time that counts, even of the best sample.
verdict poorly_utilised(const engine::evidence& e) {
    const auto ceiling = e.report.device.read_gb_per_s;
    if (!e.step.cold || !ceiling) {
        return unseen("needs times, so a GPU: caches stand before DRAM");
    }
    const double rate = static_cast<double>(e.n()) / e.step.cold->low / 1e9;
    return seen(rate < 0.1 * *ceiling, number(rate, 1) + " GB/s of characters, " + number(100 * rate / *ceiling, 2) +
                                           " % of the read ceiling");
}

engine::counterexample half_the_ceiling() {
    return engine::planted("half the read ceiling", [](engine::altered_evidence& e) {
        e.report.device.read_gb_per_s = 4000;
        const double seconds = static_cast<double>(e.step.n) / 2000e9;
        e.step.cold = timing{.median = seconds, .low = seconds, .high = seconds, .samples = 31};
    });
}

} // namespace

engine::step_definition sections() {
    return {.about = {"1", "a section for each thread", "ladder/histogram/01_sections.cu",
                      "every thread counts a section of its own into the bins of all",
                      "Parallel patterns, Implementation 1"},
            .data = text,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .expected = outcome::by_luck,
            .lesson = "bin++ reads, adds and writes: what another thread has written meanwhile is lost",
            .finds = "race in global memory",
            .claims = {
                {"possible collision: counts are lost", "Parallel patterns, Evaluation of Implementation 1",
                 engine::races("race in global memory", "3")},
                {"adjacent threads do not access adjacent memory locations: accesses are not coalesced",
                 "Parallel patterns, Evaluation of Implementation 1",
                 engine::counted(not_coalesced).refuted_by(engine::step_in_place("2"))},
                {"DRAM bandwidth is poorly utilised", "Parallel patterns, Evaluation of Implementation 1",
                 engine::check(poorly_utilised).refuted_by(half_the_ceiling())},
            }};
}

} // namespace warpfold::ladder::histogram

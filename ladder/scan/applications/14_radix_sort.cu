// SPDX-License-Identifier: MIT
// Scan, step 14: radix sort of keys of 32 bits, by a stable split for each bit (Blelloch, 1990).
#include "ladder/engine/definition/claims.hpp"
#include "ladder/scan/applications/split.cuh"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned key_bits = 32;

// Places keys with a 1 from the end on: in the other order.
__global__ void split_from_both_ends(unsigned* output, const unsigned* keys, const unsigned* zeros_before,
                                     bit_is_zero is_zero, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n) {
        output[is_zero(keys[k]) ? zeros_before[k] : n - 1 - (k - zeros_before[k])] = keys[k];
    }
}

void sort(const engine::stage& on, split_kernel kernel) {
    if (on.n == 0) {
        return;
    }
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<unsigned>(on.n));
    sort_by_bits(on, target, kernel, on.input<unsigned>(), on.output<unsigned>(), on.temporary<unsigned>(), key_bits);
}

void run(const engine::stage& on) { sort(on, split); }

verdict one_scan_a_bit(const engine::evidence& e) {
    const std::uint64_t scans = library_launches(e.step);
    const std::uint64_t others = e.step.launches.size() - scans;
    return seen(scans == key_bits && others == key_bits,
                "scans: " + std::to_string(scans) + ", other launches: " + std::to_string(others));
}

verdict stable(const engine::evidence& e) {
    const auto keys = engine::view<std::uint32_t>(e.result);
    std::uint64_t wrong = 0;
    for (std::size_t k = 1; k < keys.size(); ++k) {
        wrong += keys[k] < keys[k - 1] ? 1 : 0;
    }
    return e.n() < 2 ? unseen("needs two keys")
                     : seen(wrong == 0, std::to_string(wrong) + " of " + std::to_string(keys.size() - 1) +
                                            " neighbours are in the wrong order");
}

} // namespace

engine::step_definition radix_sort() {
    return {.about = {"14", "radix sort", "ladder/scan/applications/14_radix_sort.cu",
                      "split by each bit, lowest first: a scan counts the zeros before each key",
                      "Parallel patterns, Why?"},
            .data = keys_to_sort,
            .run = run,
            .scratch_bytes = sort_scratch,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"scan is used as a building block of radix sort: one scan a bit", "Parallel patterns, Why?",
                 engine::counted(one_scan_a_bit).refuted_by(engine::step_in_place("13"))},
                {"a split keeps the order of keys with equal bits, so that the keys come out sorted",
                 "beyond the lectures: Blelloch (1990)",
                 engine::launched(stable).refuted_by(
                     engine::mutant("a split that fills the output from both ends",
                                    [](const engine::stage& on) { sort(on, split_from_both_ends); }))},
            }};
}

} // namespace warpfold::ladder::scan

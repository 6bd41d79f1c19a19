// SPDX-License-Identifier: MIT
// Histogram, contention: three ways to count bytes, from uniform ones to all the same: global atomics, private copies,
// warp-aggregated. (Parallel patterns "Implementation 3": "all threads perform their atomic operations serially on the
// same location".)
#include "ladder/histogram/aggregated.cuh"
#include "ladder/histogram/private.cuh"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_bytes_globally(const unsigned char* buffer, std::uint64_t size, int* histo) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    for (std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; i < size; i += stride) {
        atomicAdd(&histo[buffer[i]], 1);
    }
}

void run(const engine::stage& on) {
    clear(on, mixtures * 3 * byte_bins);
    int* out = on.output<int>();
    for (unsigned k = 0; k < mixtures; ++k) {
        const auto* const bytes = on.input<unsigned char>(k);
        engine::launch(on, "count_bytes_globally", count_bytes_globally, blocks_of(on), threads, 0, bytes, on.n, out);
        engine::launch(on, "count_bytes_privately", count_bytes_privately, blocks_of(on), threads, 0, bytes, on.n,
                       out + byte_bins);
        engine::launch(on, "count_bytes_aggregated", count_bytes_aggregated, blocks_of(on), threads, 0, bytes, on.n,
                       out + 2 * byte_bins);
        out += 3 * byte_bins;
    }
}

using counters = engine::counters;

std::vector<double> of_way(const engine::evidence& e, unsigned way, std::uint64_t counters::*count) {
    std::vector<double> values;
    for (unsigned k = 0; k < mixtures; ++k) {
        values.push_back(static_cast<double>(e.step.launches[3 * k + way].total.*count) / static_cast<double>(e.n()));
    }
    return values;
}

bool rises(const std::vector<double>& values) { return std::is_sorted(values.begin(), values.end()); }

verdict globally(const engine::evidence& e) {
    if (e.n() < 1000) {
        return unseen("needs many bytes");
    }
    std::vector<std::uint64_t> worst;
    for (unsigned k = 0; k < mixtures; ++k) {
        worst.push_back(e.step.launches[3 * k].total.atomic_worst_multiplicity);
    }
    return seen(worst.back() == 32 && worst.front() < 32,
                "most lanes of a warp at one bin, with 0, 25, 50, 75 and 100 % of the bytes the same: " + list(worst));
}

verdict privately(const engine::evidence& e) {
    if (e.n() < 1000) {
        return unseen("needs many bytes");
    }
    const auto passes = of_way(e, 1, &counters::shared_atomic_wavefronts);
    return seen(rises(passes) && passes.back() > 4 * passes.front(),
                "passes of shared memory for each byte counted: " + list(passes, 3) + ", from uniform to constant");
}

verdict aggregated(const engine::evidence& e) {
    if (e.n() < 1000) {
        return unseen("needs many bytes");
    }
    const auto atomics = of_way(e, 2, &counters::shared_atomic_lanes);
    return seen(atomics.back() < 0.05,
                "atomic operations for each byte counted: " + list(atomics, 3) + ", from uniform to constant");
}

} // namespace

engine::step_definition contention() {
    return {
        .about = {"contention", "from uniform to constant", "ladder/histogram/08_contention.cu",
                  "three ways to count five mixtures: the more values are the same, the longer the queue",
                  "Parallel patterns, Implementation 3"},
        .data = mixed_bytes,
        .run = run,
        .size = engine::at_most(1u << 20),
        .least_bytes = [](std::uint64_t n) { return 3 * mixtures * n; },
        .claims = {
            {"threads that attempt an atomic operation on the same location will typically be held in a queue",
             "Parallel patterns, Implementation 3", engine::counted(globally)},
            {"all threads perform their atomic operations serially on the same location: in shared memory too",
             "Parallel patterns, Implementation 3", engine::counted(privately)},
            {"warp aggregation turns the worst case into the best", "beyond the lectures", engine::counted(aggregated)},
        }};
}

} // namespace warpfold::ladder::histogram

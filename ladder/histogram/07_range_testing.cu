// SPDX-License-Identifier: MIT
// Histogram, step 7: too large to privatise. A part of the bins has private copies; a range test sends each value to
// shared or to global memory. (Parallel patterns "About Privatization".)
#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_with_range_test(const unsigned* values, std::uint64_t n, int* histo) {
    __shared__ int bins[private_bins];
    for (unsigned k = threadIdx.x; k < private_bins; k += blockDim.x) {
        bins[k] = 0;
    }
    __syncthreads();
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    for (std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; i < n; i += stride) {
        const unsigned bin = values[i];
        if (bin < private_bins) {
            atomicAdd(&bins[bin], 1);
        } else {
            atomicAdd(&histo[bin], 1);
        }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < private_bins; k += blockDim.x) {
        if (bins[k] != 0) {
            atomicAdd(&histo[k], bins[k]);
        }
    }
}

void run(const engine::stage& on) {
    clear(on, wide_bins);
    const unsigned blocks = std::clamp(blocks_of(on) / 4, 1u, on.multiprocessors * 2);
    engine::launch(on, "count_with_range_test", count_with_range_test, blocks, threads, 0, on.input<unsigned>(), on.n,
                   on.output<int>());
}

// Every value below private_bins is an atomic operation on shared memory, and others go to global memory.
verdict either_memory(const engine::evidence& e) {
    const auto counts = engine::view<std::int32_t>(e.data.right);
    std::uint64_t below = 0;
    for (std::size_t k = 0; k < counts.size() && k < private_bins; ++k) {
        below += static_cast<std::uint64_t>(counts[k]);
    }
    const auto& c = e.first().total;
    return seen(c.shared_atomic_lanes == below && below < e.n() && c.atomic_lanes >= e.n() - below,
                std::to_string(c.shared_atomic_lanes) + " of " + std::to_string(e.n()) +
                    " values are counted in shared memory, which holds " + std::to_string(private_bins) + " of " +
                    std::to_string(wide_bins) + " bins; " + std::to_string(c.atomic_lanes) +
                    " atomic operations on global memory");
}

} // namespace

engine::step_definition range_testing() {
    return {.about = {"7", "range testing, 65,536 bins", "ladder/histogram/07_range_testing.cu",
                      "some bins have private copies; a test of the range sends each value to the one or the other",
                      "Parallel patterns, About Privatization"},
            .data = wide_numbers,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return 4 * n; },
            .claims = {
                {"partially privatize an output histogram and use range testing to go to either global memory or "
                 "shared memory",
                 "Parallel patterns, About Privatization",
                 engine::counted(either_memory).refuted_by(engine::step_in_place("3"))},
            }};
}

} // namespace warpfold::ladder::histogram

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

verdict partially_private(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    const double share = static_cast<double>(c.shared_atomic_lanes) / static_cast<double>(e.n());
    return seen(c.shared_atomic_lanes > 0 || e.n() < 100,
                number(100 * share, 1) + " % of the values are counted in shared memory, which holds " +
                    std::to_string(private_bins) + " of " + std::to_string(wide_bins) + " bins");
}

verdict does_not_fit(const engine::evidence& e) {
    const auto bytes = e.step.launches[0].static_shared_bytes;
    return seen(bytes <= 49152 && wide_bins * sizeof(int) > 49152, std::to_string(bytes) +
                                                                       " bytes of shared memory; all bins would take " +
                                                                       std::to_string(wide_bins * sizeof(int)));
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
                {"what if the histogram is too large to privatize?", "Parallel patterns, About Privatization",
                 engine::counted(does_not_fit)},
                {"one can partially privatize an output histogram and use range testing",
                 "Parallel patterns, About Privatization", engine::counted(partially_private)},
            }};
}

} // namespace warpfold::ladder::histogram

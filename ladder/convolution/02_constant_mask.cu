// SPDX-License-Identifier: MIT
// Convolution, step 2: the mask in constant memory: small, never changed, and read by all threads in the same order.
// (Parallel patterns "Mask M and Constant Memory".)
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

__constant__ float mask_1d[mask_width];

__global__ void convolution_1d_constant(const float* n, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0;
    const int start = i - half;
    for (int j = 0; j < mask_width; ++j) {
        if (start + j >= 0 && start + j < width) {
            pvalue += n[start + j] * mask_1d[j];
        }
    }
    p[i] = pvalue;
}

void run(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(mask_1d, on.in[1], sizeof mask_1d, 0, cudaMemcpyDeviceToDevice, on.stream));
    engine::launch(on, "convolution_1d_constant", convolution_1d_constant,
                   static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0, on.input<float>(),
                   on.output<float>(), static_cast<int>(on.n));
}

verdict half_the_loads(const engine::evidence& e, const step_result& other) {
    const double here = ratio(pairs_of_line(e.n()), e.step);
    return seen(here > 1.9 && here < 2.1 && 2 * loads(e.step) <= loads(other) + e.n(),
                number(here, 2) + " operations a load; " + std::to_string(loads(e.step)) + " loads, " +
                    std::to_string(loads(other)) + " in step 1");
}

verdict same_order(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    const double a_warp = static_cast<double>(c.constant_load_requests) / static_cast<double>((e.n() + 31) / 32);
    return seen(c.constant_load_requests > 0, number(a_warp, 1) +
                                                  " loads from constant memory by each warp, whose lanes "
                                                  "all want the same word");
}

} // namespace

engine::step_definition constant_mask() {
    return {.about = {"2", "mask in constant memory", "ladder/convolution/02_constant_mask.cu",
                      "the mask is small and never changes: a cached broadcast instead of a load for each thread",
                      "Parallel patterns, Mask M and Constant Memory"},
            .data = line,
            .run = run,
            .least_bytes = read_and_written,
            .claims = {
                {"the mask is not loaded from global memory any more: 2 operations for each load",
                 "Parallel patterns, Mask M and Constant Memory", engine::compared("1", half_the_loads)},
                {"all threads need to access M and in the same order", "Parallel patterns, Regarding Mask M",
                 engine::counted(same_order)},
                {"faster than step 1", "Parallel patterns, Regarding Mask M", engine::faster_than("1")},
            }};
}

} // namespace warpfold::ladder::convolution

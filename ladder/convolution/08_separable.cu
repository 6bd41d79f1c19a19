// SPDX-License-Identifier: MIT
// Convolution, step 8: a mask that is a column times a row takes two passes of 5 products each instead of 25, with an
// image between them. Beyond the lectures.
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

__constant__ float weights[side];

// Along rows where dx is 1, along columns where dy is.
__global__ void convolution_pass(const float* in, float* out, int width, int height, int dx, int dy) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0;
    for (int k = -half_side; k <= half_side; ++k) {
        const int xx = x + k * dx;
        const int yy = y + k * dy;
        if (xx >= 0 && xx < width && yy >= 0 && yy < height) {
            sum += in[static_cast<std::int64_t>(yy) * width + xx] * weights[k + half_side];
        }
    }
    out[static_cast<std::int64_t>(y) * width + x] = sum;
}

void run(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const extent e = image_of(on.n);
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(weights, on.in[2], sizeof weights, 0, cudaMemcpyDeviceToDevice, on.stream));
    const dim3 block(32, 8);
    const dim3 grid(static_cast<unsigned>(engine::divide_up(static_cast<std::uint64_t>(e.width), block.x)),
                    static_cast<unsigned>(engine::divide_up(static_cast<std::uint64_t>(e.height), block.y)));
    engine::launch(on, "convolution_pass", convolution_pass, grid, block, 0, on.input<float>(), on.temporary<float>(),
                   e.width, e.height, 1, 0);
    engine::launch(on, "convolution_pass", convolution_pass, grid, block, 0, on.temporary<float>(), on.output<float>(),
                   e.width, e.height, 0, 1);
}

verdict fewer_products(const engine::evidence& e) {
    if (e.n() < 1000) {
        return unseen("needs more than ghosts");
    }
    // A product for each load: the weights are in constant memory.
    const auto here = loads(e.step);
    const auto before = pairs_of_image(e.n());
    const double less = static_cast<double>(before) / static_cast<double>(here);
    return seen(less > 2.3 && less < 2.6, std::to_string(here) + " products, " + std::to_string(before) +
                                              " with the whole mask: " + number(less, 2) + "x less");
}

} // namespace

engine::step_definition separable() {
    return {.about = {"8", "separable, two passes", "ladder/convolution/08_separable.cu",
                      "rows first, then columns: 5 + 5 products instead of 25", "beyond the lectures"},
            .data = image,
            .run = run,
            .size = [](std::uint64_t n) { return pixels(n); },
            .scratch_bytes = [](std::uint64_t n) { return n * sizeof(float); },
            .least_bytes = engine::read_and_written,
            .claims =
                {
                    {"5 + 5 products a pixel instead of 25", "beyond the lectures",
                     engine::counted(fewer_products).refuted_by(engine::step_in_place("6"))},
                    {"faster than step 7", "beyond the lectures", engine::faster_than("7")},
                }};
}

} // namespace warpfold::ladder::convolution

// SPDX-License-Identifier: MIT
// Convolution, steps 5 to 7: an image, basic; with the mask in constant memory; tiled with its halo in shared memory.
// (Parallel patterns "Convolution can also be 2D".)
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

__constant__ float mask_2d[side * side];

__device__ int column() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ int row() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }

__device__ float weighted(const float* in, const float* mask, int x, int y, int width, int height) {
    float sum = 0;
    for (int dy = 0; dy < side; ++dy) {
        for (int dx = 0; dx < side; ++dx) {
            const int yy = y - half_side + dy;
            const int xx = x - half_side + dx;
            if (yy >= 0 && yy < height && xx >= 0 && xx < width) {
                sum += in[static_cast<std::int64_t>(yy) * width + xx] * mask[dy * side + dx];
            }
        }
    }
    return sum;
}

__global__ void convolution_2d_basic(const float* in, const float* mask, float* out, int width, int height) {
    const int x = column();
    const int y = row();
    if (x < width && y < height) {
        out[static_cast<std::int64_t>(y) * width + x] = weighted(in, mask, x, y, width, height);
    }
}

__global__ void convolution_2d_constant(const float* in, const float*, float* out, int width, int height) {
    const int x = column();
    const int y = row();
    if (x < width && y < height) {
        out[static_cast<std::int64_t>(y) * width + x] = weighted(in, mask_2d, x, y, width, height);
    }
}

__global__ void convolution_2d_tiled(const float* in, const float*, float* out, int width, int height) {
    constexpr int extended = tile + 2 * half_side;
    __shared__ float part[extended][extended];
    const int left = static_cast<int>(blockIdx.x) * tile - half_side;
    const int top = static_cast<int>(blockIdx.y) * tile - half_side;
    for (int k = static_cast<int>(threadIdx.y) * tile + static_cast<int>(threadIdx.x); k < extended * extended;
         k += tile * tile) {
        const int xx = left + k % extended;
        const int yy = top + k / extended;
        const bool inside = xx >= 0 && xx < width && yy >= 0 && yy < height;
        part[k / extended][k % extended] = inside ? in[static_cast<std::int64_t>(yy) * width + xx] : 0.0f;
    }
    __syncthreads();
    const int x = column();
    const int y = row();
    if (x < width && y < height) {
        float sum = 0;
        for (int dy = 0; dy < side; ++dy) {
            for (int dx = 0; dx < side; ++dx) {
                sum += part[static_cast<int>(threadIdx.y) + dy][static_cast<int>(threadIdx.x) + dx] *
                       mask_2d[dy * side + dx];
            }
        }
        out[static_cast<std::int64_t>(y) * width + x] = sum;
    }
}

using kernel_2d = void (*)(const float*, const float*, float*, int, int);

void run_one(const engine::stage& on, const char* name, kernel_2d kernel) {
    const extent e = image_of(on.n);
    if (on.n == 0) {
        return;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(mask_2d, on.in[1], sizeof mask_2d, 0, cudaMemcpyDeviceToDevice, on.stream));
    const dim3 grid(static_cast<unsigned>(engine::divide_up(static_cast<std::uint64_t>(e.width), tile)),
                    static_cast<unsigned>(engine::divide_up(static_cast<std::uint64_t>(e.height), tile)));
    engine::launch(on, name, kernel, grid, dim3(tile, tile), 0, on.input<float>(0), on.input<float>(1),
                   on.output<float>(), e.width, e.height);
}

void run_basic(const engine::stage& on) { run_one(on, "convolution_2d_basic", convolution_2d_basic); }
void run_constant(const engine::stage& on) { run_one(on, "convolution_2d_constant", convolution_2d_constant); }
void run_tiled(const engine::stage& on) { run_one(on, "convolution_2d_tiled", convolution_2d_tiled); }

verdict ratio_of_one(const engine::evidence& e) {
    const double here = ratio(pairs_of_image(e.n()), e.step);
    return seen(here > 0.95 && here < 1.05, number(here, 3) + ": " + std::to_string(loads(e.step)) + " loads");
}

verdict ratio_of_two(const engine::evidence& e) {
    const double here = ratio(pairs_of_image(e.n()), e.step);
    return seen(here > 1.9 && here < 2.1, number(here, 3) + ": " + std::to_string(loads(e.step)) + " loads");
}

verdict tile_and_halo(const engine::evidence& e) {
    if (e.n() < 10'000) {
        return unseen("needs many tiles");
    }
    const double a_pixel = static_cast<double>(loads(e.step)) / static_cast<double>(e.n());
    const double expected = static_cast<double>((tile + 2 * half_side) * (tile + 2 * half_side)) / (tile * tile);
    return seen(a_pixel > 0.8 * expected && a_pixel < 1.1 * expected,
                number(a_pixel, 3) + " loads a pixel, " + number(expected, 3) + " in an endless image; " +
                    number(ratio(pairs_of_image(e.n()), e.step), 1) + " operations a load");
}

std::uint64_t as_image(std::uint64_t n) { return pixels(n); }

} // namespace

engine::step_definition basic_2d() {
    return {.about = {"5", "two dimensions, basic", "ladder/convolution/05_two_dimensions.cu",
                      "a thread for each pixel, blocks of 16 x 16", "Parallel patterns, Convolution can also be 2D"},
            .data = image,
            .run = run_basic,
            .size = as_image,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"the ratio of arithmetic to global memory access is ~ 1.0 in two dimensions too",
                 "beyond the lectures", engine::counted(ratio_of_one).refuted_by(engine::step_in_place("6"))},
            }};
}

engine::step_definition constant_2d() {
    return {
        .about = {"6", "two dimensions, constant mask", "ladder/convolution/05_two_dimensions.cu",
                  "the 25 weights in constant memory", "Parallel patterns, Mask M and Constant Memory"},
        .data = image,
        .run = run_constant,
        .size = as_image,
        .least_bytes = engine::read_and_written,
        .claims = {
            {"M is a good candidate for constant memory: 2 operations for each load from global memory",
             "Parallel patterns, Regarding Mask M",
             engine::counted(ratio_of_two).refuted_by(engine::step_in_place("5"))},
            {"isn't the constant memory also in DRAM? Why is it assumed faster than global memory? Faster than step 5",
             "Parallel patterns, Question: Isn't the constant memory also in DRAM?", engine::faster_than("5")},
        }};
}

engine::step_definition tiled_2d() {
    return {.about = {"7", "two dimensions, tiled", "ladder/convolution/05_two_dimensions.cu",
                      "a tile of 16 x 16 with a halo of 2 around it in shared memory", "Parallel patterns, This means"},
            .data = image,
            .run = run_tiled,
            .size = as_image,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"a tile of 16 x 16 needs 20 x 20 loads: 1.56 a pixel instead of 25", "beyond the lectures",
                 engine::counted(tile_and_halo).refuted_by(engine::step_in_place("6"))},
                {"faster than step 6", "beyond the lectures", engine::faster_than("6")},
            }};
}

} // namespace warpfold::ladder::convolution

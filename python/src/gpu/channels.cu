// SPDX-License-Identifier: MIT
// Correlations of images of several channels, summed over the channels. Masks are in device memory.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"

namespace warpfold::python::on_gpu {

namespace {

// A block computes a tile of `side` * `side` results of `group` output channels: a thread one column and every 8th row. For each
// channel it stages parts of at most `most_rows` * `most_columns` values of the masks, and the samples that they meet.
constexpr int side = 32, threads_down = 8, rows_of_thread = side / threads_down, group = 8;
constexpr int most_rows = 8, most_columns = 32;

struct channel_sizes {
    std::int64_t channels, outputs, height, width, mask_height, mask_width;

    [[nodiscard]] WARPFOLD_HD std::int64_t rows() const { return height - mask_height + 1; }
    [[nodiscard]] WARPFOLD_HD std::int64_t columns() const { return width - mask_width + 1; }
    [[nodiscard]] WARPFOLD_HD std::int64_t tiles_down() const { return (rows() + side - 1) / side; }
    [[nodiscard]] WARPFOLD_HD std::int64_t tiles_across() const { return (columns() + side - 1) / side; }
    [[nodiscard]] WARPFOLD_HD std::int64_t groups() const { return (outputs + group - 1) / group; }
};

template <class T>
__global__ void __launch_bounds__(side* threads_down)
    channels_kernel(channel_sizes sizes, const T* images, const T* masks, T* out) {
    __shared__ T samples[(side + most_rows - 1) * (side + most_columns - 1)];
    __shared__ __align__(16) T mask_values[most_rows * most_columns * group]; // those of one place together
    const int tx = threadIdx.x % side, ty = threadIdx.x / side;
    std::int64_t block = blockIdx.x;
    const std::int64_t left = block % sizes.tiles_across() * side;
    block /= sizes.tiles_across();
    const std::int64_t top = block % sizes.tiles_down() * side;
    block /= sizes.tiles_down();
    const std::int64_t first = block % sizes.groups() * group, image = block / sizes.groups();
    T sums[rows_of_thread][group] = {};
    for (std::int64_t c = 0; c < sizes.channels; ++c) {
        const T* const channel = images + (image * sizes.channels + c) * sizes.height * sizes.width;
        for (std::int64_t down = 0; down < sizes.mask_height; down += most_rows) {
            const int rows = static_cast<int>(min(sizes.mask_height - down, std::int64_t{most_rows}));
            for (std::int64_t across = 0; across < sizes.mask_width; across += most_columns) {
                const int columns = static_cast<int>(min(sizes.mask_width - across, std::int64_t{most_columns}));
                const int pitch = side + columns - 1;
                __syncthreads(); // all have read the part before
                for (int k = threadIdx.x; k < (side + rows - 1) * pitch; k += side * threads_down) {
                    const std::int64_t y = top + down + k / pitch, x = left + across + k % pitch;
                    samples[k] = y < sizes.height && x < sizes.width ? channel[y * sizes.width + x] : T{0};
                }
                for (int k = threadIdx.x; k < rows * columns * group; k += side * threads_down) {
                    const int at = k % (rows * columns), of = k / (rows * columns);
                    const std::int64_t y = down + at / columns, x = across + at % columns, o = first + of;
                    mask_values[at * group + of] =
                        o < sizes.outputs
                            ? masks[((o * sizes.channels + c) * sizes.mask_height + y) * sizes.mask_width + x]
                            : T{0};
                }
                __syncthreads();
                for (int y = 0; y < rows; ++y) {
                    for (int x = 0; x < columns; ++x) {
                        T sample[rows_of_thread], mask_value[group];
#pragma unroll
                        for (int o = 0; o < group; ++o) {
                            mask_value[o] = mask_values[(y * columns + x) * group + o];
                        }
#pragma unroll
                        for (int r = 0; r < rows_of_thread; ++r) {
                            sample[r] = samples[(ty + r * threads_down + y) * pitch + tx + x];
                        }
#pragma unroll
                        for (int r = 0; r < rows_of_thread; ++r) {
#pragma unroll
                            for (int o = 0; o < group; ++o) {
                                sums[r][o] += sample[r] * mask_value[o];
                            }
                        }
                    }
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r) {
        const std::int64_t y = top + ty + r * threads_down, x = left + tx;
#pragma unroll
        for (int o = 0; o < group; ++o) {
            if (y < sizes.rows() && x < sizes.columns() && first + o < sizes.outputs) {
                out[((image * sizes.outputs + first + o) * sizes.rows() + y) * sizes.columns() + x] = sums[r][o];
            }
        }
    }
}

} // namespace

void correlate_channels(const gpu& on, const array& in, const array& masks, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const channel_sizes sizes{in.shape[1], masks.shape[0], in.shape[2], in.shape[3], masks.shape[2], masks.shape[3]};
    const std::int64_t blocks = in.shape[0] * sizes.groups() * sizes.tiles_down() * sizes.tiles_across();
    if (blocks > std::numeric_limits<int>::max()) {
        throw invalid_argument("warpfold: correlate_channels: the results need more than 2^31 - 1 blocks");
    }
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        detail::pdl_launch({}, channels_kernel<T>, static_cast<unsigned>(blocks), side * threads_down, 0, on.stream,
                           sizes, in.required<const T>(in.type), masks.required<const T>(in.type),
                           out.required<T>(in.type));
    };
    if (in.type == element::float32) {
        run(float{});
    } else {
        run(double{});
    }
}

} // namespace warpfold::python::on_gpu

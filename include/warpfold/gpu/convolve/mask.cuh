// SPDX-License-Identifier: MIT
// Masks of the kernels: a kernel parameter for a mask of the host, or device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/gpu/convolve/samples.cuh"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

// A mask as a kernel parameter. A value at a constant index is an operand in the constant bank.
template <class A, int N>
struct mask_parameter {
    static constexpr bool in_memory = false;

    A value[N];
};

template <class A>
inline constexpr int parameter_mask_v = 3872 / sizeof(A); // mask values of a kernel parameter: 31 x 31 floats

// A mask of any size: the parameter, or, unless `values` is null, an array of the call's memory.
template <class A>
struct long_mask {
    static constexpr bool in_memory = false;

    const A* values;
    mask_parameter<A, parameter_mask_v<A>> parameter;

    __device__ A operator[](std::int64_t k) const { return values != nullptr ? __ldg(values + k) : parameter.value[k]; }
};

// A mask of elements M in device memory; value k is at data[step * k], so a step of -1 turns it. Nothing is known of its values
// on the host. Elements outside that are 0 are left out of its sums: infinity times one of them is not NaN.
template <class A, class M>
struct mask_in_memory {
    using number = A;
    static constexpr bool in_memory = true;

    const M* data;
    std::int64_t step = 1;

    __device__ A operator[](std::int64_t k) const { return number_of<A>(load_one(data + step * k)); }
    [[nodiscard]] mask_in_memory operator+(std::int64_t k) const { return {data + step * k, step}; }
};

// Both masks of a separable one, in device memory: the kx values across, then those down. They are finite.
template <class A, class M>
struct masks_in_memory {
    using number = A;
    static constexpr bool in_memory = true;

    mask_in_memory<A, M> across, down;
    int kx;

    __device__ A operator[](int k) const { return k < kx ? across[k] : down[k - kx]; }
};

// What a kernel for N values gets of a mask of `count` values.
template <int N, class A>
mask_parameter<A, N> for_kernel(const A* mask, std::int64_t count = N) {
    mask_parameter<A, N> values;
    std::copy(mask, mask + count, values.value);
    return values;
}
template <int N, class Mask>
requires(Mask::in_memory) Mask for_kernel(const Mask& mask, std::int64_t /*unused*/ = N) { return mask; }

// Copies a part of a mask from a kernel parameter to device memory.
template <class A>
__global__ void convolve_put(A* to, int n, const __grid_constant__ mask_parameter<A, parameter_mask_v<A>> part) {
    for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
        to[k] = part.value[k];
    }
}

// Bytes of a mask in the call's memory.
template <class A>
std::size_t mask_bytes(std::int64_t n) {
    return n <= parameter_mask_v<A> ? 0 : (static_cast<std::size_t>(n) * sizeof(A) + 255) / 256 * 256;
}

// A mask of n values for convolve_line and convolve_tile. One that is too long for a parameter is put in `room`.
template <class A>
long_mask<A> placed(const gpu& on, const A* mask, std::int64_t n, void* room) {
    constexpr std::int64_t most = parameter_mask_v<A>;
    long_mask<A> all;
    all.values = n <= most ? nullptr : static_cast<A*>(room);
    for (std::int64_t k = 0; k < n; k += most) {
        const int part = static_cast<int>(std::min(most, n - k));
        std::copy(mask + k, mask + k + part, all.parameter.value);
        if (n > most) {
            convolve_put<<<1, 256, 0, on.stream>>>(static_cast<A*>(room) + k, part, all.parameter);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }
    return all;
}
template <class A, class M>
const mask_in_memory<A, M>& placed(const gpu& /*unused*/, const mask_in_memory<A, M>& mask, std::int64_t /*unused*/,
                                   void* /*unused*/) {
    return mask;
}
template <class A>
std::size_t room_of(const A* /*unused*/, std::int64_t n) {
    return mask_bytes<A>(n);
}
template <class A, class M>
std::size_t room_of(const mask_in_memory<A, M>& /*unused*/, std::int64_t /*unused*/) {
    return 0;
}

// The values of a mask, for indices that are constants.
template <int N, class A>
__device__ const mask_parameter<A, N>& in_registers(const mask_parameter<A, N>& mask) {
    return mask;
}
template <int N, class A, class M>
__device__ mask_parameter<A, N> in_registers(const mask_in_memory<A, M>& mask) {
    mask_parameter<A, N> values;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        values.value[k] = mask[k];
    }
    return values;
}

// The values of a mask for any index. Those of device memory are copied to `room` in shared memory; a barrier of the block has
// to follow.
template <class A, int N>
__device__ const mask_parameter<A, N>& in_shared_memory(const mask_parameter<A, N>& mask, A* /*unused*/,
                                                        int /*unused*/) {
    return mask;
}
template <class A>
struct mask_in_shared_memory {
    const A* value;
};
template <class Mask>
requires(Mask::in_memory) __device__ mask_in_shared_memory<typename Mask::number> in_shared_memory(
    const Mask& mask, typename Mask::number* room, int count) {
    for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) {
        room[k] = mask[k];
    }
    return {room};
}

template <class A>
__device__ bool is_finite(A x) {
    return x - x == A(0);
}

// Result (x, y) of an image without elements outside, in double.
template <class T, class O, class A, class M>
__device__ O result_without_ghosts(const convolve_task<T, O>& task, const T* image, const mask_in_memory<A, M>& mask,
                                   std::int64_t kx, std::int64_t ky, std::int64_t x, std::int64_t y) {
    const std::int64_t left = x - task.lead_x, top = y - task.lead_y;
    double sum = 0;
    for (std::int64_t j = max(-top, std::int64_t{0}); j < min(ky, task.height - top); ++j) {
        for (std::int64_t i = max(-left, std::int64_t{0}); i < min(kx, task.width - left); ++i) {
            sum += number_of<double>(load_one(image + (top + j) * task.pitch + left + i)) *
                   static_cast<double>(mask[j * kx + i]);
        }
    }
    return sample_of<O>(static_cast<A>(sum));
}

// After a thread has written results (x, y) to (x + columns - 1, y) of image `number`: leaves elements outside out of them, if
// they are 0 and the mask has values that are not finite.
template <class T, class O, class Mask>
__device__ void leave_out_ghosts(const convolve_task<T, O>& task, const Mask& mask, std::int64_t kx, std::int64_t ky,
                                 std::int64_t number, std::int64_t x, std::int64_t y, int columns) {
    if constexpr (Mask::in_memory) {
        const std::int64_t left = x - task.lead_x, top = y - task.lead_y;
        const bool inside = left >= 0 && left + columns - 1 + kx <= task.width && top >= 0 && top + ky <= task.height;
        if (inside || task.outside != border::zero) {
            return;
        }
        bool all_finite = true;
#pragma unroll 8
        for (std::int64_t k = 0; k < kx * ky; ++k) { // many loads in flight
            all_finite &= is_finite(mask[k]);
        }
        for (int c = 0; c < columns && !all_finite; ++c) {
            if (x + c >= 0 && x + c < task.out_width) {
                task.out[number * task.out_distance + y * task.out_pitch + x + c] =
                    result_without_ghosts(task, task.in + number * task.distance, mask, kx, ky, x + c, y);
            }
        }
    }
}

// The same for all results, behind the launches that wrote them.
template <class Task, class A, class M>
__global__ void convolve_without_ghosts(const __grid_constant__ Task task, const mask_in_memory<A, M> mask,
                                        std::int64_t kx, std::int64_t ky) {
    bool all_finite = true;
    for (std::int64_t k = threadIdx.x; k < kx * ky; k += blockDim.x) {
        all_finite = all_finite && is_finite(mask[k]);
    }
    if (__syncthreads_and(all_finite)) {
        return;
    }
    const std::int64_t all = task.out_width * task.out_height * task.count;
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < all;
         k += std::int64_t{gridDim.x} * blockDim.x) {
        const std::int64_t row = k / task.out_width;
        leave_out_ghosts(task, mask, kx, ky, row / task.out_height, k % task.out_width, row % task.out_height, 1);
    }
}

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// Halos in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/ranks/gpu_target.cuh"
#include "warpfold/ranks/halo_memory.hpp"

namespace warpfold::detail {

// All of halo_memory but the exchange.
template <gpu_target On>
struct device_halo_memory {
    template <class T>
    using array = typename rank_target<On>::template array<T>;

    template <class T>
    static array<T> allocate(const On& on, std::size_t n) {
        return array<T>(on, n, true);
    }
    template <class T>
    static void take(const On& on, T* to, const T* from, std::int64_t rows, std::int64_t width, std::int64_t pitch) {
        if (rows > 0) {
            const auto bytes = static_cast<std::size_t>(width) * sizeof(T);
            WARPFOLD_CHECK_CUDA(cudaMemcpy2DAsync(to, bytes, from, static_cast<std::size_t>(pitch) * sizeof(T), bytes,
                                                  static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, on.stream));
        }
    }
    template <class T>
    static void copy(const On& on, T* to, const T* from, std::int64_t n) {
        if (n > 0) {
            WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T),
                                                cudaMemcpyDeviceToDevice, on.stream));
        }
    }
    template <class T, class Run>
    static void on_target(const On& /*on*/, const array<T>& of, const Run& run) {
        run(static_cast<const T*>(of.data()));
    }
};

} // namespace warpfold::detail

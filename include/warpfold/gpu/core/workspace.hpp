// SPDX-License-Identifier: MIT
// Device memory that calls use during their launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "warpfold/gpu/core/error.hpp"

namespace warpfold {

// Memory for calls that must neither allocate nor wait, as in a captured graph. A workspace serves any number of calls,
// one after another: calls of one stream, or of graphs that never run at the same time. NAME_workspace() gives the
// bytes that a call needs.
class workspace {
public:
    // Allocates `bytes` on the current device and waits. Throws out_of_memory, cuda_error.
    explicit workspace(std::size_t bytes) : workspace(allocated{}, bytes) {
        WARPFOLD_CHECK_CUDA(cudaMemset(memory_, 0, bytes_));
        WARPFOLD_CHECK_CUDA(cudaDeviceSynchronize());
    }
    // The same, but the caller clears memory() before the first call, in the order of its stream. Throws the same.
    [[nodiscard]] static workspace uncleared(std::size_t bytes) { return {allocated{}, bytes}; }
    workspace(workspace&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          device_(other.device_) {}
    workspace& operator=(workspace&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(device_, other.device_);
        return *this;
    }
    ~workspace() {
        if (memory_ != nullptr) {
            (void)cudaFree(memory_);
        }
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // The device that was current when the workspace was made. Calls with the workspace are for this device.
    [[nodiscard]] int device() const noexcept { return device_; }

    // All bytes are zero between calls: every call resets what it writes.
    [[nodiscard]] void* memory() const noexcept { return memory_; }

private:
    struct allocated {};
    workspace(allocated /*unused*/, std::size_t bytes) : bytes_((bytes + 255) / 256 * 256) {
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&device_));
        WARPFOLD_CHECK_CUDA(cudaMalloc(&memory_, bytes_ == 0 ? 256 : bytes_));
    }

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    int device_ = 0;
};

} // namespace warpfold

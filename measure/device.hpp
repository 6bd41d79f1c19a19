// SPDX-License-Identifier: MIT
// Owners of device memory, a stream, an event.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "measure/check.hpp"

namespace warpfold::measure {

// Device memory; 0 bytes allocate nothing. Throws cuda_error if the device has less.
class device_memory {
public:
    device_memory() = default;
    explicit device_memory(std::size_t bytes) : bytes_(bytes) {
        if (bytes != 0) {
            WARPFOLD_CUDA_CHECK(cudaMalloc(&data_, bytes));
        }
    }
    device_memory(device_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    device_memory& operator=(device_memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~device_memory() {
        if (data_ != nullptr) {
            (void)cudaFree(data_);
        }
    }

    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

class stream {
public:
    stream() { WARPFOLD_CUDA_CHECK(cudaStreamCreate(&handle_)); }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { (void)cudaStreamDestroy(handle_); }

    [[nodiscard]] cudaStream_t handle() const noexcept { return handle_; }
    void synchronize() const { WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(handle_)); }

private:
    cudaStream_t handle_ = nullptr;
};

class event {
public:
    event() { WARPFOLD_CUDA_CHECK(cudaEventCreate(&handle_)); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    ~event() { (void)cudaEventDestroy(handle_); }

    void record(cudaStream_t on) const { WARPFOLD_CUDA_CHECK(cudaEventRecord(handle_, on)); }
    void synchronize() const { WARPFOLD_CUDA_CHECK(cudaEventSynchronize(handle_)); }

    // Seconds from `from` to this event. Both are complete.
    [[nodiscard]] double seconds_since(const event& from) const {
        float milliseconds = 0;
        WARPFOLD_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, from.handle_, handle_));
        return static_cast<double>(milliseconds) * 1e-3;
    }

private:
    cudaEvent_t handle_ = nullptr;
};

} // namespace warpfold::measure

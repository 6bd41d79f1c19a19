// SPDX-License-Identifier: MIT
// Device memory of one call.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "warpfold/gpu/core/error.hpp"

namespace warpfold::detail {

// Allocated and freed in the order of `stream`; without memory pools by cudaMalloc and cudaFree, which waits for the
// device.
class stream_ordered_memory {
public:
    // Throws out_of_memory, cuda_error.
    stream_ordered_memory(cudaStream_t stream, std::size_t bytes) : stream_(stream) {
        bytes = std::max<std::size_t>(bytes, 1);
        const cudaError_t code = cudaMallocAsync(&memory_, bytes, stream);
        pooled_ = code != cudaErrorNotSupported;
        if (pooled_) {
            detail::cuda_check(code, "cudaMallocAsync", __FILE__, __LINE__);
        } else {
            (void)cudaGetLastError();
            WARPFOLD_CHECK_CUDA(cudaMalloc(&memory_, bytes));
        }
    }
    stream_ordered_memory(const stream_ordered_memory&) = delete;
    stream_ordered_memory& operator=(const stream_ordered_memory&) = delete;
    ~stream_ordered_memory() {
        if (pooled_) {
            (void)cudaFreeAsync(memory_, stream_);
        } else {
            (void)cudaFree(memory_);
        }
    }
    [[nodiscard]] void* data() const noexcept { return memory_; }

private:
    cudaStream_t stream_;
    void* memory_ = nullptr;
    bool pooled_ = true;
};

} // namespace warpfold::detail

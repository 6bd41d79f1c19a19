// SPDX-License-Identifier: MIT
// Device memory of one call.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "warpfold/gpu/core/memory_resource.hpp"

namespace warpfold::detail {

// Allocated and freed in the order of `stream`.
class stream_ordered_memory {
public:
    // Throws what resource_ref::allocate() throws.
    stream_ordered_memory(cudaStream_t stream, std::size_t bytes, const resource_ref& from = {})
        : stream_(stream),
          bytes_(std::max<std::size_t>(bytes, 1)),
          from_(from),
          memory_(from_.allocate(stream_, bytes_, pooled_)) {}
    stream_ordered_memory(const stream_ordered_memory&) = delete;
    stream_ordered_memory& operator=(const stream_ordered_memory&) = delete;
    ~stream_ordered_memory() { from_.deallocate(stream_, memory_, bytes_, pooled_); }
    [[nodiscard]] void* data() const noexcept { return memory_; }

private:
    cudaStream_t stream_;
    std::size_t bytes_;
    resource_ref from_;
    bool pooled_ = true;
    void* memory_;
};

} // namespace warpfold::detail

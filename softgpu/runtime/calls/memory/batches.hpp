// SPDX-License-Identifier: MIT
// Batches of copies, which CUDA 12 and 13 declare differently. Copies of a batch have no order among each other; here they
// run one after the other, and pageable sources are read before the call returns. The legacy default stream is not allowed.
#pragma once

#include "softgpu/runtime/abi/batch.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// cudaMemcpyBatchAsync. The attributes, hints when sources are read and where they are, are not used. Throws failure.
void copy_batch(context& gpu, locked& lock, void* const* destinations, const void* const* sources,
                const std::size_t* sizes, std::size_t count, const std::size_t* attribute_indices,
                std::size_t attribute_count, stream* on);
// cudaMemcpy3DBatchAsync. Throws failure; nothing is copied if an operation is invalid.
void copy_batch_of_boxes(context& gpu, locked& lock, const batch_operation* operations, std::size_t count,
                         unsigned long long flags, stream* on);

} // namespace softgpu::runtime

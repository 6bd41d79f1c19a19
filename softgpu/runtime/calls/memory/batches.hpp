// SPDX-License-Identifier: MIT
// cudaMemcpy3DBatchAsync, which CUDA 12 and 13 have in forms of their own.
#pragma once

#include "softgpu/runtime/abi/batch.hpp"

namespace softgpu::runtime {

struct stream;

// In no order among each other, though here one after the other; a pageable source has been read when this returns. Not on
// the legacy default stream. Throws failure, before anything is copied where an operation makes no sense.
void copy_batch_of_boxes(const batch_operation* operations, std::size_t count, unsigned long long flags, stream* on);

} // namespace softgpu::runtime

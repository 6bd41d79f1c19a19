// SPDX-License-Identifier: MIT
// What all copies and fills share: may these bytes be touched, and then touching them.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/context.hpp"

namespace softgpu::runtime {

// Rows of `width` bytes, `pitch` bytes apart, in slices of `slice_rows` rows.
struct block_of_rows {
    const void* base = nullptr;
    std::size_t pitch = 0;
    std::size_t slice_rows = 0;
};

// Throws invalid_memcpy_direction for what is no kind.
void require_kind(copy_kind kind);

// Throws invalid_value where [pointer, pointer + bytes) must not be touched: a null pointer, a range that leaves its
// allocation, device memory that is not allocated and, where the side has to be the device's, memory that it does not
// know. bytes > 0.
void require_accessible(context& gpu, const void* pointer, std::size_t bytes, bool on_device);

// Copies count bytes, as the direction allows.
void copy_bytes(context& gpu, locked& lock, void* destination, const void* source, std::size_t bytes, copy_kind kind);

// Copies width x height x depth; width in bytes. The pitches are at least the width.
void copy_rows(context& gpu, locked& lock, const block_of_rows& destination, const block_of_rows& source, extent size,
               copy_kind kind);

// cudaMemcpyBatchAsync: the attributes say when sources are read and where they are, but every copy has run when this
// returns. Not on the legacy default stream, as on a GPU.
void copy_batch(void* const* destinations, const void* const* sources, const std::size_t* sizes, std::size_t count,
                const std::size_t* attribute_indices, std::size_t attribute_count, stream* on);

// Bytes from the first to the last one touched. Throws invalid_value where that is more than an address space.
[[nodiscard]] std::size_t span_of(const block_of_rows& rows, extent size);

} // namespace softgpu::runtime

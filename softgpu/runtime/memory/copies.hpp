// SPDX-License-Identifier: MIT
// What all copies and fills share: may these bytes be touched, and what does the host wait for.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/core/context.hpp"

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

// How a call of the runtime treats the host: cudaMemcpy's way or cudaMemcpyAsync's.
enum class host_order : bool { synchronous, asynchronous };

// What a copy asks of the host by CUDA's rules ("API synchronization behavior"): the asynchronous form returns once a
// pageable source is read and a pageable destination written; the synchronous one returns at once where both sides are the
// device's.
void copy_bytes(context& gpu, locked& lock, void* destination, const void* source, std::size_t bytes, copy_kind kind,
                stream& on, host_order order);
// Copies of planes and boxes, checked, also from and to arrays.
void copy_box(context& gpu, locked& lock, const copy_3d& what, stream& on, host_order order);

// The same for rows that are checked already, where nothing is captured.
void issue_copy(context& gpu, locked& lock, const copy_3d& rows, stream& on, host_order order);

[[nodiscard]] copy_3d linear_copy(void* destination, const void* source, std::size_t bytes, copy_kind kind);
// The copy as rows of bytes, without arrays. Throws invalid_value, invalid_pitch_value, invalid_memcpy_direction or
// invalid_resource_handle where it must not be done.
[[nodiscard]] copy_3d require_copy(context& gpu, const copy_3d& what);
// Whether there is nothing to copy.
[[nodiscard]] inline bool is_empty(const extent& e) noexcept { return e.width == 0 || e.height == 0 || e.depth == 0; }

// Where a box begins inside a pitched allocation.
[[nodiscard]] block_of_rows rows_at(const pitched_pointer& p, const position& at, const extent& size);

// cudaMemcpyBatchAsync: the attributes say when sources are read and where they are; here a pageable source has been read
// when this returns. Not on the legacy default stream, as on a GPU.
void copy_batch(void* const* destinations, const void* const* sources, const std::size_t* sizes, std::size_t count,
                const std::size_t* attribute_indices, std::size_t attribute_count, stream* on);

// Bytes from the first to the last one touched. Throws invalid_value where that is more than an address space.
[[nodiscard]] std::size_t span_of(const block_of_rows& rows, extent size);

} // namespace softgpu::runtime

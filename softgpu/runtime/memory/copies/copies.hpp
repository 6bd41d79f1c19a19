// SPDX-License-Identifier: MIT
// Copies of rows of bytes: checked, issued to a stream, run. Arrays are resolved to rows before (array_copies.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

inline constexpr std::size_t largest_pitch = 0x7FFFFFFF; // bytes

// Rows of bytes, `pitch` bytes apart, in slices of `slice_rows` rows.
struct block_of_rows {
    const void* base = nullptr;
    std::size_t pitch = 0;
    std::size_t slice_rows = 0;
};

struct copy_work {
    copy_3d what{}; // as the program described it
    copy_3d rows{}; // the same in bytes, without arrays
    std::shared_ptr<std::vector<std::byte>>
        staged{}; // the source's bytes, if the program may change the source meanwhile
};

// Whether the call follows the rules of cudaMemcpy or of cudaMemcpyAsync.
enum class host_order : bool { synchronous, asynchronous };

// Whether the kind says that this side is device memory.
[[nodiscard]] constexpr bool has_device_destination(copy_kind kind) noexcept {
    return kind == copy_kind::host_to_device || kind == copy_kind::device_to_device;
}
[[nodiscard]] constexpr bool has_device_source(copy_kind kind) noexcept {
    return kind == copy_kind::device_to_host || kind == copy_kind::device_to_device;
}

// Throws invalid_memcpy_direction for an unknown kind.
void require_kind(copy_kind kind);
// Throws invalid_memcpy_direction unless the kind fits a copy to, or from, device memory; the default kind always does.
void require_to_device(copy_kind kind);
void require_from_device(copy_kind kind);

// Throws invalid_value if a copy or fill must not touch [pointer, pointer + bytes): a null pointer, a range that leaves its
// allocation, device memory that is not allocated, or, with on_device, memory that the device does not know. bytes > 0.
void require_accessible(context& gpu, const void* pointer, std::size_t bytes, bool on_device);

[[nodiscard]] inline bool is_empty(const extent& e) noexcept { return e.width == 0 || e.height == 0 || e.depth == 0; }
[[nodiscard]] copy_3d linear_copy(void* destination, const void* source, std::size_t bytes, copy_kind kind);
// The rows of a box that begins at a position inside a pitched allocation.
[[nodiscard]] block_of_rows rows_at(const pitched_pointer& p, const position& at, const extent& size);
// Bytes from the first to the last byte of a box. Throws invalid_value if they exceed an address space.
[[nodiscard]] std::size_t span_of(const block_of_rows& rows, extent size);

// Issues a copy of checked rows to a stream that is not capturing. When it returns follows CUDA's rules ("API
// synchronization behavior"): an asynchronous copy returns once a pageable source is read and a pageable destination is
// written, a synchronous one at once if both sides are device memory, else after the copy.
void issue_copy(context& gpu, locked& lock, const copy_3d& rows, stream& on, host_order order);

// Copies now, on this thread.
void run_copy(const copy_work& work);
// Describes the operation, just issued, for timelines.
void describe_copy(context& gpu, const operation& issued, const copy_work& work);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Fills of rows of memory: issued to a stream, run.
#pragma once

#include <cstddef>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {

// Rows of `width` elements of 1, 2 or 4 bytes, `pitch` bytes apart, in slices of `slice_rows` rows.
struct fill_work {
    void* base = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t depth = 1;
    std::size_t slice_rows = 1;
};

// Issues a fill of checked rows to a stream that is not capturing. A synchronous fill returns at once, unless it fills
// memory of the host or managed memory.
void issue_fill(context& gpu, locked& lock, const fill_work& work, stream& on, host_order order);

// Fills now, on this thread.
void run_fill(const fill_work& work);
// Describes the operation, just issued, for timelines.
void describe_fill(const operation& issued, const fill_work& work);

} // namespace softgpu::runtime

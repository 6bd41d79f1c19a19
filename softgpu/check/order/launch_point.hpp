// SPDX-License-Identifier: MIT
// Where a kernel launches another one: the child comes after what the launching thread knew then, and is in no order with the
// rest of its parent.
#pragma once

#include <memory>

#include "softgpu/check/order/operation.hpp"
#include "softgpu/check/order/release_graph.hpp"

namespace softgpu::check {

struct launch_point {
    record_pointer parent;                // the launch that launches
    std::shared_ptr<release_graph> graph; // of the parent
    const release_graph::block_record* block = nullptr;
    std::uint32_t release = 0; // by the launching thread
    lane_mask by = 0;

    // Whether the access of `of`, in this block of it, that left the stamp comes before the launch: of the parent, or of one
    // above it.
    [[nodiscard]] bool follows(const operation_record& of, std::uint64_t in_block, stamp s, bool of_write) const;
    // Whether the launch is below `of`.
    [[nodiscard]] bool is_below(const operation_record& of) const noexcept;
};

} // namespace softgpu::check

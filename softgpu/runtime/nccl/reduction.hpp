// SPDX-License-Identifier: MIT
// Reductions of NCCL's types and operations, rank after rank in their order. Types of 16 bits and fewer are rounded after each
// operation; an average divides at the end, integers towards zero.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "softgpu/runtime/nccl/nccl.h"

namespace softgpu::runtime::nccl {

[[nodiscard]] std::size_t bytes_of(ncclDataType_t type) noexcept;

// `in`: each rank's elements. `scales`: what each rank's are multiplied by first, or empty. Returns as many results.
[[nodiscard]] std::vector<std::byte> reduced(std::span<const void* const> in, std::size_t count, ncclDataType_t type,
                                             ncclRedOp_t op, std::span<const void* const> scales = {});

} // namespace softgpu::runtime::nccl

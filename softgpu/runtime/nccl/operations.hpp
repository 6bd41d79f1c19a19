// SPDX-License-Identifier: MIT
// Operations of reductions: NCCL's own, and those that a program makes.
#pragma once

#include <memory>

#include "softgpu/runtime/nccl/rank_call.hpp"

namespace softgpu::runtime::nccl {

[[nodiscard]] bool is_operation(ncclRedOp_t op, ncclDataType_t type);
// Of an operation of ncclRedOpCreatePreMulSum; nullptr of others.
[[nodiscard]] std::shared_ptr<const input_scale> scale_of(ncclRedOp_t op);

} // namespace softgpu::runtime::nccl

// SPDX-License-Identifier: MIT
// A rank's call of NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/stream.hpp"
#include "softgpu/runtime/nccl/nccl.h"

namespace softgpu::runtime::nccl {

enum class collective : std::uint8_t { all_reduce, reduce, reduce_scatter, broadcast, all_gather };

// What a rank's elements are multiplied by before they are added (ncclRedOpCreatePreMulSum).
struct input_scale {
    ncclDataType_t type = ncclInt8;
    alignas(8) std::byte value[8] = {};
    const void* on_device = nullptr; // instead of the value: read when the call takes place
};
inline constexpr auto scaled_sum = static_cast<ncclRedOp_t>(ncclNumOps); // in the place of such an operation

// What a rank calls.
struct rank_call {
    const void* in = nullptr;
    void* out = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;
    context* gpu = nullptr;
    stream* on = nullptr;
    std::shared_ptr<const input_scale> scale{};
};

} // namespace softgpu::runtime::nccl

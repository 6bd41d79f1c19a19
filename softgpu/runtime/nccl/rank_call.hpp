// SPDX-License-Identifier: MIT
// A rank's call of NCCL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/stream.hpp"
#include "softgpu/runtime/nccl/nccl.h"

namespace softgpu::runtime::nccl {

enum class collective : std::uint8_t { all_reduce, reduce, reduce_scatter, broadcast, all_gather };

// What a rank calls.
struct rank_call {
    const void* in = nullptr;
    void* out = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;
    context* gpu = nullptr;
    stream* on = nullptr;
};

} // namespace softgpu::runtime::nccl

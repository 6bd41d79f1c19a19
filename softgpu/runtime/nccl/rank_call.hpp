// SPDX-License-Identifier: MIT
// A rank's call of NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"
#include "softgpu/runtime/nccl/nccl.h"

namespace softgpu::runtime::nccl {

enum class call_kind : std::uint8_t { all_reduce, reduce, reduce_scatter, broadcast, all_gather, send, receive, split };

// What all ranks of a call have to agree in. A sender and its receiver agree in the number of bytes.
struct call_terms {
    call_kind what = call_kind::all_reduce;
    ncclRedOp_t op = ncclSum;
    int root = 0; // of a transfer: the other rank
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;

    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] const char* name() const noexcept; // "ncclAllReduce"
    [[nodiscard]] std::string title() const;         // "ncclAllReduce of 400 bytes"
};
// The first term in which two ranks do not agree; empty if there is none.
[[nodiscard]] std::string difference(const call_terms& a, int rank_a, const call_terms& b, int rank_b);

// Bytes that a rank reads at `in` and writes at `out`; 0: the rank does not use it.
struct sizes {
    std::size_t in = 0;
    std::size_t out = 0;
};
[[nodiscard]] sizes sizes_of(const call_terms& terms, int rank, int ranks);

// What a rank's elements are multiplied by before they are added (ncclRedOpCreatePreMulSum).
struct input_scale {
    ncclDataType_t type = ncclInt8;
    alignas(8) std::byte value[8] = {};
    const void* on_device = nullptr; // instead of the value: read when the call takes place

    [[nodiscard]] const void* at() const noexcept { return on_device == nullptr ? value : on_device; }
};
inline constexpr auto scaled_sum = static_cast<ncclRedOp_t>(ncclNumOps); // in the place of such an operation

// Where a rank calls.
struct rank_call {
    const void* in = nullptr;
    void* out = nullptr;
    context* gpu = nullptr;
    stream* on = nullptr;
    std::shared_ptr<const input_scale> scale{};
};

} // namespace softgpu::runtime::nccl

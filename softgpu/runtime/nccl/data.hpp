// SPDX-License-Identifier: MIT
// What a call does with the ranks' memory.
#pragma once

#include <span>
#include <string>

#include "softgpu/runtime/nccl/rank_call.hpp"

namespace softgpu::runtime::nccl {

// Bytes that a rank reads at `in` and writes at `out`; 0: the rank does not use it.
struct sizes {
    std::size_t in = 0;
    std::size_t out = 0;
};
[[nodiscard]] sizes sizes_of(collective what, const rank_call& call, int rank, int root, std::size_t ranks);

// All of a collective call's data, in an operation of a stream or in a host function of a graph. A call without `out` gets no
// result.
void carry_out(collective what, ncclRedOp_t op, int root, std::span<const rank_call> calls);
// A transfer's.
void carry_out(const rank_call& from, const rank_call& to);

// Tells the checks which bytes the operation that this thread runs has read and written.
void note(const std::string& name, collective what, int root, std::span<const rank_call> calls);
void note(const std::string& name, const rank_call& from, const rank_call& to);
// Of one rank.
void note(const std::string& name, const rank_call& of, const sizes& used);

} // namespace softgpu::runtime::nccl

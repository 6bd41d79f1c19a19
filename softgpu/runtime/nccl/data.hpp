// SPDX-License-Identifier: MIT
// What a call does with the ranks' memory.
#pragma once

#include <span>
#include <string>

#include "softgpu/runtime/nccl/rank_call.hpp"

namespace softgpu::runtime::nccl {

// All of a collective call's data, in an operation of a stream or in a host function of a graph. A call without `out` gets no
// result.
void carry_out(const call_terms& terms, std::span<const rank_call> calls);
void transfer(std::size_t bytes, const rank_call& from, const rank_call& to);

// Tells the checks which bytes the operation that this thread runs has read and written: for each call its sizes.
void note(const std::string& title, std::span<const rank_call> calls, std::span<const sizes> used);

} // namespace softgpu::runtime::nccl

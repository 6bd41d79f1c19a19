// SPDX-License-Identifier: MIT
// Memory operations of streams, which write a value or wait for one: CUDA's values and layouts under our names.
#pragma once

#include <cstdint>

namespace softgpu::runtime {

struct driver_context;

// CUstreamBatchMemOpType
enum class memory_operation_type : int { wait_32 = 1, write_32 = 2, flush = 3, wait_64 = 4, write_64 = 5, barrier = 6 };

// CUstreamWaitValue_flags, but for the flush
enum class value_comparison : unsigned { at_least = 0, equal = 1, any_bit = 2, nor = 3 };
inline constexpr unsigned wait_flush = 1u << 30;

// CUstreamBatchMemOpParams
struct memory_operation_parameters {
    memory_operation_type type;
    unsigned flags_of_barrier; // and of a flush
    std::uint64_t address;
    std::uint64_t value; // of 32 bits: the lower half
    unsigned flags;
    std::uint64_t alias;
    std::uint64_t rest;
};

// CUDA_BATCH_MEM_OP_NODE_PARAMS
struct memory_batch_parameters {
    driver_context* context;
    unsigned count;
    memory_operation_parameters* list;
    unsigned flags;
};

} // namespace softgpu::runtime

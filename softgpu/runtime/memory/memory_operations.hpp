// SPDX-License-Identifier: MIT
// Memory operations of streams: a value is written, or waited for. Other streams, kernels and the host see the writes and end
// the waits, so the checks take both for signals: who sees a value comes after who wrote it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/memory_operations.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

struct memory_operation {
    bool waits = false;
    unsigned bytes = 4; // or 8
    memory::address at = 0;
    std::uint64_t value = 0;
    value_comparison until = value_comparison::at_least;
};

// Those of one node of a graph, one after the other.
struct memory_batch_work {
    std::shared_ptr<const std::vector<memory_operation>> operations;
    std::shared_ptr<const std::vector<memory_operation_parameters>> given;
};

// Barriers and flushes, which order nothing that is not in order here, are checked and left out. Throws failure.
[[nodiscard]] memory_batch_work memory_batch_of(context& gpu, std::span<const memory_operation_parameters> list);
[[nodiscard]] memory_batch_work memory_batch_of(context& gpu, const memory_batch_parameters& p);

// Issues them one after the other, after these; returns the last one.
operation_pointer issue_memory_operations(context& gpu, const memory_batch_work& work,
                                          std::vector<operation_pointer> before, int priority, std::uint64_t stream);

// Runs now, on this thread. A wait that nothing can end is a deadlock, which fails the device as that of a kernel does.
void run_memory_operation(context& gpu, const memory_operation& what);

} // namespace softgpu::runtime

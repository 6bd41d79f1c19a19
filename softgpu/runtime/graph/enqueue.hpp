// SPDX-License-Identifier: MIT
// Puts work into a stream: it is issued, or, if the stream is capturing, becomes a node of the capture's graph. All throw
// failure for wrong arguments and for what a capture forbids.
#pragma once

#include <cstddef>

#include "softgpu/runtime/graph/graph.hpp"
#include "softgpu/runtime/memory/pools.hpp"

namespace softgpu::runtime {

// work.what, the grid and the block are set; the arguments are copied. With CUDA_LAUNCH_BLOCKING=1 waits for the kernel.
void enqueue_kernel(context& gpu, locked& lock, kernel_work work, void* const* arguments, stream& on);

// Copies of boxes, from and to arrays too. When they return is described at issue_copy().
void enqueue_copy(context& gpu, locked& lock, const copy_3d& what, stream& on, host_order order);
void enqueue_copy(context& gpu, locked& lock, void* destination, const void* source, std::size_t bytes, copy_kind kind,
                  stream& on, host_order order);
// A fill of checked rows.
void enqueue_fill(context& gpu, locked& lock, const fill_work& work, stream& on, host_order order);

void enqueue_memory_operations(context& gpu, const memory_batch_work& work, stream& on);

// cudaMallocAsync and cudaFreeAsync. An allocation exists at once; only its use is bound to the stream's order.
void enqueue_allocation(context& gpu, locked& lock, void** pointer, std::size_t bytes, context& home, memory_pool& pool,
                        stream* on);
void enqueue_free(context& gpu, void* pointer, stream& on);

void enqueue_host_function(context& gpu, const host_work& work, stream& on);
// Describes the operation, just issued, for timelines.
void describe_host_function(const operation& issued);

} // namespace softgpu::runtime

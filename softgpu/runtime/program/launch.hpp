// SPDX-License-Identifier: MIT
// Launches of kernels: checked against the card, then run on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

struct operation;

struct kernel_work {
    function* what = nullptr;
    kernel_image image{}; // on the device that it is launched on
    dimensions grid{1, 1, 1};
    dimensions block{1, 1, 1};
    std::size_t dynamic_shared_bytes = 0;
    dimensions cluster{0, 0, 0}; // blocks, where the launch says so; 0: it does not
    bool has_cluster = false;    // %is_explicit_cluster
    bool cooperative = false;
    bool may_start_early = false;          // programmatic dependent launch
    std::uint64_t stack_bytes = 1024;      // cudaLimitStackSize
    std::uint64_t heap_bytes = 8 << 20;    // cudaLimitMallocHeapSize
    std::uint64_t pending_launches = 2048; // cudaLimitDevRuntimePendingLaunchCount
    bool follows_kernel = false;           // directly in its stream, and the host has not waited between the launches
    int preferred_carveout = -1;           // per cent of a multiprocessor's shared memory; -1: as much as blocks need
    bool starts_early = false;             // likewise, and the kernel before it has let it start
    std::vector<std::byte> parameters{};   // laid out as in the kernel's parameter space
};

// Loads the kernel, sets work.image, and checks the configuration. Throws failure, with the errors of a GPU, if the card does
// not accept it.
void require_launchable(context& gpu, kernel_work& work);
// Takes over the limits that cudaDeviceSetLimit has set.
void apply_limits(context& gpu, kernel_work& work);
// Lays the arguments out as the kernel expects them. Throws invalid_value for a missing one. Never empty.
[[nodiscard]] std::vector<std::byte> pack_arguments(const machine::kernel_facts& facts, void* const* arguments);

// What a kernel runs in.
struct kernel_surroundings {
    machine::device_runtime* runtime = nullptr; // that the kernel calls
    std::string launched_by{};                  // observe::launch_record::launched_by
    bool amid_another = false;                  // this thread runs another kernel, which has called
};
// Runs the kernel now, on this thread and the machine's workers. A fault sets the context's sticky error. launch: its number
// in the order of launches.
void run_kernel(context& gpu, const kernel_work& work, std::uint64_t launch, const kernel_surroundings& around);
// Describes the operation, just issued, for timelines.
void describe_kernel(const operation& issued, const function& what, std::uint64_t launch);

} // namespace softgpu::runtime

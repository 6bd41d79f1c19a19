// SPDX-License-Identifier: MIT
// What an operation of a stream, or a node of a graph, does: described, so that it can be asked for, changed and done again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

class context;
struct operation;

struct kernel_work {
    function* what = nullptr;
    dimensions grid{1, 1, 1};
    dimensions block{1, 1, 1};
    std::size_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    std::uint64_t stack_bytes = 1024;    // cudaLimitStackSize
    std::uint64_t heap_bytes = 8 << 20;  // cudaLimitMallocHeapSize
    std::vector<std::byte> parameters{}; // as the kernel expects them in its parameter space
};

struct copy_work {
    copy_3d what{};                                   // as the program asked for it
    std::shared_ptr<std::vector<std::byte>> staged{}; // the source's bytes, where the program may change them meanwhile
    copy_3d rows{};                                   // what is done: bytes, and no arrays
};

// Rows of `width` elements of 1, 2 or 4 bytes, `pitch` bytes apart, in slices.
struct fill_work {
    void* base = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t depth = 1;
    std::size_t slice_rows = 1;
};

// They do it now, on this thread. A kernel's fault poisons the context.
void perform(context& gpu, const kernel_work& work, std::uint64_t launch);
void perform(const copy_work& work);
void perform(const fill_work& work);

// For whoever keeps an account of operations: what was issued just now.
void describe_kernel(const operation& issued, const std::string& name, std::uint64_t launch);
void describe_copy(context& gpu, const operation& issued, const copy_work& work);
void describe_fill(const operation& issued, const fill_work& work);
void describe_host_function(const operation& issued);

// Throws failure where a launch is not one that the card takes.
void require_launchable(context& gpu, const kernel_work& work);
// Takes the limits that cudaDeviceSetLimit has set.
void apply_limits(context& gpu, kernel_work& work);
// Lays the arguments out as the kernel expects them.
[[nodiscard]] std::vector<std::byte> pack_arguments(context& gpu, function& f, void* const* arguments);

} // namespace softgpu::runtime

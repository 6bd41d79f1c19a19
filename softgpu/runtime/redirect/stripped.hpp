// SPDX-License-Identifier: MIT
// The static CUDA runtime in a file without a symbol table.
//
// A function of the runtime hands its own name to profilers, so its code refers to that text. The functions that nvcc's glue
// calls do not: they stand together, in the same order in all runtimes from CUDA 12.9 to 13.5, and the glue calls the first
// one with the address of a fat binary. A file without kernels calls none of them. The table for unwinding says where
// functions begin.
#pragma once

#include "softgpu/runtime/redirect/symbols.hpp"

namespace softgpu::redirect {

// In the order of their addresses. None for a file without this runtime, with one before CUDA 12, or for another processor
// than x86-64.
[[nodiscard]] std::vector<symbol> functions_of_stripped(const mapped_file& file);

} // namespace softgpu::redirect

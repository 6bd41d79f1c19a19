// SPDX-License-Identifier: MIT
// Code of kernels and of the functions that they call, decoded at first use. Callers hold link_group::mutex.
#pragma once

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

// Parses the body; finds control flow, places of registers, shared memory and stack. Throws ptx::error.
void prepare(module::implementation& home, kernel& k);
// Throws ptx::error.
const program_code& code_of(module::implementation& home, kernel& k, code_variant how);
// Of a function that the kernel calls.
const program_code& code_of(kernel& k, const function_entry& f, code_variant how);

} // namespace softgpu::machine

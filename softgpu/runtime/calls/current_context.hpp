// SPDX-License-Identifier: MIT
// The one context of the process, put together from the core, the program's code and the accounts.
#pragma once

#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// Created by the first call and never destroyed, because static constructors and destructors of the program make calls too.
// Throws failure if the environment asks for something that does not exist, and in a child forked from a process that has
// used CUDA.
context& current_context();
// nullptr before the first call.
[[nodiscard]] context* existing_context() noexcept;

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Where a variable of the program stands in device memory.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

class context;

// Throws invalid_symbol for what is none, and invalid_value where [offset, offset + bytes) leaves it.
char* place_in_symbol(context& gpu, const void* symbol, std::size_t bytes, std::size_t offset);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The program's variables in device memory, found by the address of the host's variable of the same name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::runtime {

class context;

// These throw invalid_symbol for an address that is not registered.
[[nodiscard]] char* address_of_symbol(context& gpu, const void* symbol);
[[nodiscard]] std::uint64_t bytes_of_symbol(const void* symbol);
// The address of byte `offset`. Throws invalid_value if [offset, offset + bytes) leaves the variable.
[[nodiscard]] char* place_in_symbol(context& gpu, const void* symbol, std::size_t bytes, std::size_t offset);

} // namespace softgpu::runtime

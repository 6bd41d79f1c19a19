// SPDX-License-Identifier: MIT
// Where the shared variables of a kernel and its callees are in the block's shared memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

// Places the shared variables that `f`, a function of `unit`, names; `shared` bytes are taken before and after.
void place_shared(const module::implementation& unit, kernel& k, const ptx::function& f, std::uint64_t& shared);
// The offset of a shared variable; symbol_value::kind::unknown where the name is something else.
[[nodiscard]] symbol_value shared_symbol(const module::implementation& unit, const kernel& k, const ptx::function& f,
                                         std::string_view name);

} // namespace softgpu::machine

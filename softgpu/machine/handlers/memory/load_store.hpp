// SPDX-License-Identifier: MIT
// Handlers of the usual loads and stores: elements of 4 or 8 bytes in registers that are as wide.
#pragma once

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// nullptr: there is none for this vector.
template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements);
template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements);

} // namespace softgpu::machine::SOFTGPU_TARGET

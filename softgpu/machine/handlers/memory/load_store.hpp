// SPDX-License-Identifier: MIT
// Handlers of the common loads and stores: elements of 4 or 8 bytes in registers of the same width.
#pragma once

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// nullptr: there is no such handler for this vector.
template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements);
template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements);

} // namespace softgpu::machine::SOFTGPU_TARGET

// SPDX-License-Identifier: MIT
// Handlers of the usual loads and stores: elements of 4 or 8 bytes in registers that are as wide.
#pragma once

#include "softgpu/machine/families/access.hpp"
#include "softgpu/machine/handler_set.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// nullptr: there is none for this vector.
template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements);
template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements);

} // namespace softgpu::machine::SOFTGPU_TARGET

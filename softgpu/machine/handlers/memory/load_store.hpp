// SPDX-License-Identifier: MIT
// Handlers of the common loads and stores: elements of 4 or 8 bytes in registers of the same width.
#pragma once

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// choice.operator()<T, V>() for vectors of V elements of type T, 4 or 8 bytes each; nullptr for any other.
template <class Choice>
handler choose_vector(unsigned element_bytes, unsigned elements, Choice&& choice) {
    switch (element_bytes << 8 | elements) {
    case 4 << 8 | 1: return choice.template operator()<std::uint32_t, 1>();
    case 4 << 8 | 2: return choice.template operator()<std::uint32_t, 2>();
    case 4 << 8 | 4: return choice.template operator()<std::uint32_t, 4>();
    case 8 << 8 | 1: return choice.template operator()<std::uint64_t, 1>();
    case 8 << 8 | 2: return choice.template operator()<std::uint64_t, 2>();
    default: return nullptr;
    }
}

// nullptr: there is no such handler for this vector.
template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements);
template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements);

} // namespace softgpu::machine::SOFTGPU_TARGET

// SPDX-License-Identifier: MIT
// Handlers of the common loads and stores: in global and shared memory, of 8 bytes a lane and fewer, or of 16 in elements
// of 4 or 8.
#pragma once

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/handlers/memory/move_elements.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// choice.operator()<E>() for a way to move elements (move_elements.hpp); nullptr: there is none.
template <class Choice>
handler choose_elements(unsigned element_bytes, unsigned elements, unsigned register_bytes, Choice&& choice) {
    if (register_bytes == element_bytes) {
        switch (element_bytes << 8 | elements) {
        case 4 << 8 | 1: return choice.template operator()<whole_elements<std::uint32_t, 1>>();
        case 4 << 8 | 2: return choice.template operator()<whole_elements<std::uint32_t, 2>>();
        case 4 << 8 | 4: return choice.template operator()<whole_elements<std::uint32_t, 4>>();
        case 8 << 8 | 1: return choice.template operator()<whole_elements<std::uint64_t, 1>>();
        case 8 << 8 | 2: return choice.template operator()<whole_elements<std::uint64_t, 2>>();
        default: break;
        }
    }
    if (register_bytes < element_bytes || register_bytes > 8) {
        return nullptr;
    }
    switch (element_bytes * elements) {
    case 1: return choice.template operator()<narrow_elements<std::uint8_t>>();
    case 2: return choice.template operator()<narrow_elements<std::uint16_t>>();
    case 4: return choice.template operator()<narrow_elements<std::uint32_t>>();
    case 8: return choice.template operator()<narrow_elements<std::uint64_t>>();
    default: return nullptr;
    }
}

// nullptr: there is no such handler for this vector.
template <verb Verb>
handler quick_shared(unsigned element_bytes, unsigned elements, unsigned register_bytes);
template <verb Verb>
handler quick_global(unsigned element_bytes, unsigned elements, unsigned register_bytes);

} // namespace softgpu::machine::SOFTGPU_TARGET

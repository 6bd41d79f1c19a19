// SPDX-License-Identifier: MIT
// From a type suffix to a C++ type.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

inline bool is_float(ptx::suffix t) { return t == ptx::suffix::f32 || t == ptx::suffix::f64; }

// choice(T{}) for the integer type; bit types count as unsigned. nullptr for any other.
template <class Choice>
handler choose_int(ptx::suffix t, Choice&& choice) {
    using ptx::suffix;
    switch (t) {
    case suffix::u16:
    case suffix::b16: return choice(std::uint16_t{});
    case suffix::s16: return choice(std::int16_t{});
    case suffix::u32:
    case suffix::b32: return choice(std::uint32_t{});
    case suffix::s32: return choice(std::int32_t{});
    case suffix::u64:
    case suffix::b64: return choice(std::uint64_t{});
    case suffix::s64: return choice(std::int64_t{});
    default: return nullptr;
    }
}

// The same for unsigned types by size only.
template <class Choice>
handler choose_bits(unsigned bytes, Choice&& choice) {
    switch (bytes) {
    case 2: return choice(std::uint16_t{});
    case 4: return choice(std::uint32_t{});
    case 8: return choice(std::uint64_t{});
    default: return nullptr;
    }
}

// choice(T{}) for the type of a number, of 8 bits and more. nullptr for any other.
template <class Choice>
handler choose_number(ptx::suffix t, Choice&& choice) {
    using ptx::suffix;
    switch (t) {
    case suffix::u8: return choice(std::uint8_t{});
    case suffix::s8: return choice(std::int8_t{});
    case suffix::u16: return choice(std::uint16_t{});
    case suffix::s16: return choice(std::int16_t{});
    case suffix::u32: return choice(std::uint32_t{});
    case suffix::s32: return choice(std::int32_t{});
    case suffix::u64: return choice(std::uint64_t{});
    case suffix::s64: return choice(std::int64_t{});
    case suffix::f32: return choice(float{});
    case suffix::f64: return choice(double{});
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET

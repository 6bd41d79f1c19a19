// SPDX-License-Identifier: MIT
// The suffixes of opcodes (.u32, .global, .rn), from the table suffixes.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::ptx {

enum class suffix_kind : std::uint8_t {
    none,
    type,
    space,
    vector,
    rounding,
    compare,
    boolean,
    order,
    scope,
    cache,
    mode
};

enum class suffix : std::uint16_t {
    none,
#define SOFTGPU_SUFFIX(id, text, kind, bytes) id,
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
};

// How many there are, none among them.
inline constexpr unsigned suffix_count = 1
#define SOFTGPU_SUFFIX(id, text, kind, bytes) +1
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
    ;

[[nodiscard]] std::string_view name_of(suffix s) noexcept; // without the dot
[[nodiscard]] suffix_kind kind_of(suffix s) noexcept;
// Bytes of a type (b8 1, f16x2 4, pred 1, b128 16); 0 for what is no type.
[[nodiscard]] std::uint32_t bytes_of(suffix s) noexcept;
[[nodiscard]] std::optional<suffix> find_suffix(std::string_view text) noexcept; // without the dot

} // namespace softgpu::ptx

// SPDX-License-Identifier: MIT
// Names and properties of suffixes, from suffixes.def.
#include "softgpu/ptx/isa/suffix.hpp"

#include <cstdint>
#include <iterator>

#include "softgpu/ptx/isa/name_table.hpp"

namespace softgpu::ptx {

namespace {

// The first entry stands for suffix::none, which no text names.
constexpr std::string_view names[]{
    std::string_view(),
#define SOFTGPU_SUFFIX(id, text, kind, bytes) std::string_view(text),
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
};

constexpr suffix_kind kinds[]{
    suffix_kind::none,
#define SOFTGPU_SUFFIX(id, text, kind, bytes) suffix_kind::kind,
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
};

constexpr std::uint8_t type_bytes[]{
    0,
#define SOFTGPU_SUFFIX(id, text, kind, bytes) bytes,
#include "softgpu/ptx/isa/suffixes.def"
#undef SOFTGPU_SUFFIX
};

constexpr name_table<std::size(names), 2048> table(names);
static_assert(!table.has_duplicate());

} // namespace

std::string_view name_of(suffix s) noexcept { return names[static_cast<std::size_t>(s)]; }

suffix_kind kind_of(suffix s) noexcept { return kinds[static_cast<std::size_t>(s)]; }

std::uint32_t bytes_of(suffix s) noexcept { return type_bytes[static_cast<std::size_t>(s)]; }

std::optional<suffix> find_suffix(std::string_view text) noexcept {
    const std::uint16_t place = table.find(text);
    return place == table.absent || place == 0 ? std::nullopt : std::optional(static_cast<suffix>(place));
}

} // namespace softgpu::ptx

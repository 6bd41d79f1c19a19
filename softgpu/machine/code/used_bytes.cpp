// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/used_bytes.hpp"

#include <cstdlib>
#include <string_view>

namespace softgpu::machine {

std::unordered_map<std::uint32_t, std::uint32_t> used_bytes_of(const ptx::function& f) {
    constexpr std::string_view pragma = "used_bytes_mask ";
    std::unordered_map<std::uint32_t, std::uint32_t> masks;
    std::uint32_t mask = 0; // of the next load
    for (const ptx::statement& s : f.statements) {
        if (s.kind == ptx::statement_kind::pragma && s.text.starts_with(pragma)) {
            mask = static_cast<std::uint32_t>(std::strtoul(s.text.c_str() + pragma.size(), nullptr, 0));
        } else if (s.kind == ptx::statement_kind::instruction && mask != 0) {
            masks[s.index] = mask;
            mask = 0;
        }
    }
    return masks;
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/register_definitions.hpp"

#include <algorithm>

#include "softgpu/program/program.hpp"

namespace softgpu::machine {

register_definitions::register_definitions(const ptx::function& f)
    : writes_(f.registers.size(), 0), first_read_(f.registers.size(), 0xFFFFFFFFu) {
    for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
        const program::access named = program::registers_of(f.instructions[n]);
        for (const std::uint32_t reg : named.written) {
            ++writes_[reg];
        }
        for (const std::uint32_t reg : named.read) {
            first_read_[reg] = std::min(first_read_[reg], n);
        }
    }
}

} // namespace softgpu::machine

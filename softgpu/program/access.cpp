// SPDX-License-Identifier: MIT
// What an instruction reads and writes, and how wide registers are.
#include <algorithm>
#include <cstdint>

#include "softgpu/program/program.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::program {

access registers_of(const ptx::instruction& i) {
    access found;
    visit_registers(i, [&](std::uint32_t reg, use how) {
        std::vector<std::uint32_t>& list = how == use::written ? found.written : found.read;
        if (std::find(list.begin(), list.end(), reg) == list.end()) {
            list.push_back(reg);
        }
    });
    found.partial = writes_partly(i);
    return found;
}

std::uint32_t warp_bytes(ptx::suffix type) noexcept {
    constexpr std::uint32_t lanes = 32;
    if (type == ptx::suffix::pred) {
        return lanes / 8;
    }
    return lanes * std::max(ptx::bytes_of(type), 2u);
}

} // namespace softgpu::program

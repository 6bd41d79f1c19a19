// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/constant_address.hpp"

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

std::uint64_t whole_constant_address(const module::implementation& home, std::uint32_t bits) {
    const auto in = [bits](const module::implementation& unit) -> std::uint64_t {
        for (const auto& [name, v] : unit.variables) {
            const std::uint32_t from_base = bits - static_cast<std::uint32_t>(v.address);
            if (v.constant && from_base < v.bytes) {
                return v.address + from_base;
            }
        }
        return 0;
    };
    std::uint64_t found = in(home);
    for (const module::implementation* const unit : home.linked->units) {
        found = found == 0 ? in(*unit) : found;
    }
    return found == 0 ? bits : found;
}

} // namespace softgpu::machine

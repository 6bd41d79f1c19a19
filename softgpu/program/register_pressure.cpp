// SPDX-License-Identifier: MIT
#include "softgpu/program/register_pressure.hpp"

#include <algorithm>

namespace softgpu::program {

register_pressure::register_pressure(const ptx::function& f, const control_flow& flow)
    : ranges_(find_live_ranges(f, flow)), words_(f.registers.size()) {
    const std::vector<bool> varies = varying_registers(f, flow);
    std::vector<std::int64_t> change(2 * f.instructions.size() + 3, 0);
    for (std::uint32_t reg = 0; reg < f.registers.size(); ++reg) {
        words_[reg] = !varies[reg] ? 0 : register_words(f.registers[reg]);
        for (std::uint32_t r = ranges_.first_of[reg]; r != live_ranges::none; r = ranges_.all[r].next) {
            change[ranges_.all[r].first] += words_[reg];
            change[ranges_.all[r].last] -= words_[reg];
        }
    }
    std::int64_t now = 0;
    for (const std::int64_t c : change) {
        now += c;
        alive_.push_back(static_cast<std::uint32_t>(now));
        most_ = std::max(most_, alive_.back());
    }
}

bool register_pressure::is_alive_before(std::uint32_t n, std::uint32_t reg) const {
    for (std::uint32_t r = ranges_.first_of[reg]; r != live_ranges::none; r = ranges_.all[r].next) {
        if (ranges_.all[r].first < 2 * n && 2 * n < ranges_.all[r].last) {
            return true;
        }
    }
    return false;
}

} // namespace softgpu::program

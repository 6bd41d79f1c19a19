// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/live_values.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

// The registers that ptxas 13.0 gives a kernel without a limit: those with which a multiprocessor has all its warps, or in steps of
// `unit` what the code needs at once, and more to load early. (Of 135 kernels that need fewer than 20 words 130 have 32 at most; of 34
// that need more, 12 more rounded up are too few for 4.)
constexpr std::uint32_t least = 32;
constexpr std::uint32_t unit = 8;
constexpr std::uint32_t ahead = 8;
constexpr std::uint32_t own = 4; // of the compiler

} // namespace

std::uint32_t live_values::new_value(std::uint32_t reg) {
    values_.push_back({pressure_->words_of(reg)});
    return static_cast<std::uint32_t>(values_.size()) - 1;
}

void live_values::add(const ptx::instruction& i) {
    add_none();
    if (pressure_ == nullptr) {
        return;
    }
    use& u = uses_.back();
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        if (how != program::use::read && !program::writes_partly(i)) {
            return;
        }
        if (!held_.contains(reg)) {
            held_[reg] = new_value(reg);
        }
        const std::uint32_t v = held_[reg];
        if (std::find(u.reads.begin(), u.reads.end(), v) == u.reads.end()) {
            u.reads.push_back(v);
            ++values_[v].readers;
        }
    });
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        if (how == program::use::written) {
            held_[reg] = new_value(reg);
            u.writes.push_back(held_[reg]);
        }
    });
}

void live_values::begin(std::uint32_t first, std::uint32_t last) {
    if (pressure_ == nullptr) {
        return;
    }
    alive_ = pressure_->words_before(first);
    for (const auto& [reg, v] : held_) {
        values_[v].stays = pressure_->is_alive_before(last, reg);
    }
}

std::int64_t live_values::more(std::uint32_t n) const {
    std::int64_t words = 0;
    for (const std::uint32_t v : uses_[n].writes) {
        words += values_[v].readers != 0 || values_[v].stays ? values_[v].words : 0;
    }
    for (const std::uint32_t v : uses_[n].reads) {
        words -= values_[v].readers == 1 && !values_[v].stays ? values_[v].words : 0;
    }
    return words;
}

bool live_values::fits(std::uint32_t n) const {
    if (pressure_ == nullptr) {
        return true;
    }
    const std::uint32_t needed = (pressure_->most() + ahead + own + unit - 1) / unit * unit;
    const std::int64_t words = more(n);
    return words <= 0 || alive_ + words <= std::max(needed, least) - own;
}

void live_values::issue(std::uint32_t n) {
    alive_ += more(n);
    for (const std::uint32_t v : uses_[n].reads) {
        --values_[v].readers;
    }
}

} // namespace softgpu::machine

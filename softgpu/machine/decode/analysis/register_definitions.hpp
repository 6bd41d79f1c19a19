// SPDX-License-Identifier: MIT
// Where the registers of a body are written and first read, in the order of the text.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

class register_definitions {
public:
    explicit register_definitions(const ptx::function& f);

    // Whether instruction `n`, which writes the register, is the only one that does, and all reads stand below it.
    [[nodiscard]] bool defines_once(std::uint32_t n, std::uint32_t reg) const {
        return writes_[reg] == 1 && first_read_[reg] > n;
    }

private:
    std::vector<std::uint32_t> writes_;     // by register: instructions that write it
    std::vector<std::uint32_t> first_read_; // by register: the first instruction that reads it
};

} // namespace softgpu::machine

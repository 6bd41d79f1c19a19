// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/emit/fixups.hpp"

#include <utility>

namespace softgpu::machine {

void fixups::jump(std::size_t at, std::uint32_t block) { branch(at, block, program::no_block); }

void fixups::branch(std::size_t at, std::uint32_t block, std::uint32_t meeting, std::uint32_t outer) {
    fix& x = fixes_.emplace_back();
    x.at = at;
    x.block = block;
    x.meeting = meeting;
    x.outer = outer;
}

void fixups::indexed_branch(std::size_t at, std::vector<std::uint32_t> blocks, std::uint32_t meeting) {
    fix& x = fixes_.emplace_back();
    x.at = at;
    x.meeting = meeting;
    x.list = std::move(blocks);
}

void fixups::skip(std::size_t at, std::size_t index) {
    fix& x = fixes_.emplace_back();
    x.at = at;
    x.index = index;
    x.is_skip = true;
}

void fixups::resolve(program_code& code) const {
    const instruction* const base = code.code.data();
    const auto header = [&](std::uint32_t b) { return b == program::no_block ? nullptr : base + first_of_block_[b]; };
    const auto meeting = [&](std::uint32_t b) {
        return b == program::no_block ? nullptr : base + meeting_of_block_[b];
    };
    for (const fix& x : fixes_) {
        instruction& i = code.code[x.at];
        if (x.is_skip) {
            i.target = base + x.index;
            i.meeting = i.target;
        } else if (!x.list.empty()) {
            auto& list = code.target_lists.emplace_back();
            for (const std::uint32_t b : x.list) {
                list.push_back(header(b));
            }
            i.targets = list.data();
            i.target = meeting(x.meeting);
        } else {
            i.target = header(x.block);
            i.meeting = meeting(x.meeting);
            i.immediate = x.outer == program::no_block ? 0 : meeting(x.outer) - &i;
        }
    }
}

} // namespace softgpu::machine

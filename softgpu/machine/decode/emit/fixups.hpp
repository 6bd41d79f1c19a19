// SPDX-License-Identifier: MIT
// Targets of branches. The code moves while it grows, so a target is kept as a basic block or an index, and becomes a
// pointer at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

// `at`: the index of the branch in the code. `meeting`: the block at which its lanes meet again.
class fixups {
public:
    explicit fixups(std::size_t blocks) : first_of_block_(blocks), meeting_of_block_(blocks) {}

    // Basic block `b` begins at this index of the code.
    void begin_block(std::uint32_t b, std::size_t index) { first_of_block_[b] = meeting_of_block_[b] = index; }
    // Lanes that meet in front of it do so at this index.
    void meet_at(std::uint32_t b, std::size_t index) { meeting_of_block_[b] = index; }

    void jump(std::size_t at, std::uint32_t block);
    // `outer`: where lanes meet that leave the loop of `meeting`, or no_block.
    void branch(std::size_t at, std::uint32_t block, std::uint32_t meeting, std::uint32_t outer = program::no_block);
    void indexed_branch(std::size_t at, std::vector<std::uint32_t> blocks, std::uint32_t meeting);
    // To an index of the code, where the lanes meet too.
    void skip(std::size_t at, std::size_t index);

    // Fills in the targets. From here on the code must not move.
    void resolve(program_code& code) const;

private:
    struct fix {
        std::size_t at = 0;
        std::uint32_t block = program::no_block;
        std::uint32_t meeting = program::no_block;
        std::uint32_t outer = program::no_block;
        std::size_t index = 0; // of a skip
        bool is_skip = false;
        std::vector<std::uint32_t> list; // blocks of an indexed branch
    };

    std::vector<std::size_t> first_of_block_;
    std::vector<std::size_t> meeting_of_block_;
    std::vector<fix> fixes_;
};

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// Which registers may have different values in the lanes of a warp.
#include <algorithm>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::program {

namespace {

using ptx::opcode;
using ptx::suffix;

enum class result : std::uint8_t { same, as_operands, different };

bool reads_thread_index(const ptx::instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(), [](const ptx::operand& o) {
        return o.kind == ptx::operand_kind::special &&
               (o.name.starts_with("%tid") || o.name.starts_with("%lane") || o.name.starts_with("%warpid"));
    });
}

result result_of(const ptx::instruction& i) {
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic:
    case ptx::family::logic:
    case ptx::family::compare:
    case ptx::family::convert: return reads_thread_index(i) ? result::different : result::as_operands;
    case ptx::family::memory:
        return i.op == opcode::ld && i.space() != suffix::local ? result::as_operands : result::different;
    case ptx::family::warp: {
        const bool of_one_lane =
            i.op == opcode::shfl && i.has(suffix::idx) && i.operands.at(2).kind == ptx::operand_kind::integer;
        return of_one_lane || i.op == opcode::vote || i.op == opcode::redux || i.op == opcode::activemask
                   ? result::same
                   : result::different;
    }
    default: return result::different;
    }
}

class search {
public:
    search(const ptx::function& f, const control_flow& flow)
        : f_(f), flow_(flow), varies_(f.registers.size()), writes_(f.registers.size()), parted_(flow.blocks.size()) {
        for (const ptx::instruction& i : f.instructions) {
            visit_registers(i, [&](std::uint32_t reg, use how) { writes_[reg] += how == use::written ? 1 : 0; });
        }
        while (look_at_all()) {
        }
    }

    [[nodiscard]] std::vector<bool> varying() && { return std::move(varies_); }

private:
    // Whether anything was found.
    bool look_at_all() {
        bool more = false;
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
            const basic_block& block = flow_.blocks[b];
            for (std::uint32_t n = block.first; n < block.last; ++n) {
                more = look_at(f_.instructions[n], b) || more;
            }
            more = (block.first < block.last && part_behind(b, f_.instructions[block.last - 1])) || more;
        }
        return more;
    }

    bool look_at(const ptx::instruction& i, std::uint32_t block) {
        const result made = result_of(i);
        bool varies = made == result::different;
        visit_registers(i, [&](std::uint32_t reg, use how) {
            varies = varies || (made == result::as_operands && how == use::read && varies_[reg]);
        });
        bool more = false;
        visit_registers(i, [&](std::uint32_t reg, use how) {
            // Lanes that are elsewhere keep what another instruction wrote.
            if (how == use::written && !varies_[reg] && (varies || (parted_[block] && writes_[reg] > 1))) {
                varies_[reg] = more = true;
            }
        });
        return more;
    }

    // Of a branch that some lanes take: the blocks up to where all meet again.
    bool part_behind(std::uint32_t b, const ptx::instruction& last) {
        bool parts = false;
        if (last.op == opcode::bra || last.op == opcode::brx) {
            visit_registers(last, [&](std::uint32_t reg, use) { parts = parts || varies_[reg]; });
        }
        const basic_block& block = flow_.blocks[b];
        const std::uint32_t end = block.meets_within == no_loop ? block.immediate_post_dominator : block.outer_meeting;
        std::vector<std::uint32_t> next = parts ? block.successors : std::vector<std::uint32_t>{};
        bool more = false;
        while (!next.empty()) {
            const std::uint32_t here = next.back();
            next.pop_back();
            if (here != end && !parted_[here]) {
                parted_[here] = more = true;
                next.insert(next.end(), flow_.blocks[here].successors.begin(), flow_.blocks[here].successors.end());
            }
        }
        return more;
    }

    const ptx::function& f_;
    const control_flow& flow_;
    std::vector<bool> varies_;          // by register
    std::vector<std::uint32_t> writes_; // by register: instructions that write it
    std::vector<bool> parted_;          // by block: lanes of a warp may be elsewhere
};

} // namespace

std::vector<bool> varying_registers(const ptx::function& f, const control_flow& flow) {
    return search(f, flow).varying();
}

} // namespace softgpu::program

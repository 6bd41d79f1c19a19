// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/wide_loads.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using observe::instruction_class;
using ptx::opcode;
using ptx::operand_kind;

constexpr std::uint64_t widest = 16; // bytes; ptxas places variables so

// What each register's values are multiples of, at most `widest`.
class alignment {
public:
    explicit alignment(const ptx::function& f) : f_(f), writers_(f.registers.size()), known_(f.registers.size()) {
        for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
            program::visit_registers(f.instructions[n], [&](std::uint32_t reg, program::use how) {
                if (how == program::use::written) {
                    writers_[reg].push_back(n);
                }
            });
        }
    }

    [[nodiscard]] std::uint64_t of(std::uint32_t reg) {
        if (known_[reg] == 0) {
            known_[reg] = widest; // round a loop nothing gets less aligned but by what is added
            std::uint64_t least = writers_[reg].empty() ? 1 : widest;
            for (const std::uint32_t n : writers_[reg]) {
                least = std::min(least, of_result(f_.instructions[n]));
            }
            known_[reg] = least;
        }
        return known_[reg];
    }

private:
    static std::uint64_t of_number(std::uint64_t bits) {
        return bits == 0 ? widest : std::min(widest, std::uint64_t{1} << std::countr_zero(bits));
    }
    [[nodiscard]] std::uint64_t of_operand(const ptx::operand& o) {
        switch (o.kind) {
        case operand_kind::integer: return of_number(o.bits);
        case operand_kind::symbol: return std::min(widest, of_number(static_cast<std::uint64_t>(o.offset)));
        case operand_kind::reg: return of(o.reg);
        default: return 1;
        }
    }
    [[nodiscard]] std::uint64_t of_result(const ptx::instruction& i) {
        const auto operand = [&](std::size_t k) { return of_operand(i.operands.at(k)); };
        switch (i.op) {
        case opcode::mov:
        case opcode::cvt:
        case opcode::cvta: return operand(1);
        case opcode::add:
        case opcode::sub:
        case opcode::or_: return std::min(operand(1), operand(2));
        case opcode::and_: return std::max(operand(1), operand(2));
        case opcode::mul: return i.has(ptx::suffix::hi) ? 1 : std::min(widest, operand(1) * operand(2));
        case opcode::mad: return i.has(ptx::suffix::hi) ? 1 : std::min({widest, operand(1) * operand(2), operand(3)});
        case opcode::shl:
            return i.operands.at(2).kind == operand_kind::integer && i.operands[2].bits < 32
                       ? std::min(widest, operand(1) << i.operands[2].bits)
                       : operand(1);
        default: return 1;
        }
    }

    const ptx::function& f_;
    std::vector<std::vector<std::uint32_t>> writers_; // by register
    std::vector<std::uint64_t> known_;                // by register; 0: not yet
};

bool is_word_load(const ptx::instruction& i) {
    const instruction_class what = cost_of(i).what;
    return i.op == opcode::ld && (what == instruction_class::shared_load || what == instruction_class::constant) &&
           !i.predicate && !i.has(ptx::suffix::volatile_) && i.vector_width() == 1 && ptx::bytes_of(i.type()) == 4 &&
           i.operands.at(0).kind == operand_kind::reg && i.operands.at(1).kind == operand_kind::address;
}

bool may_store_to_shared(const ptx::instruction& i) {
    const ptx::family family = ptx::family_of(i.op);
    return i.space() != ptx::suffix::global && i.op != opcode::ld &&
           (family == ptx::family::memory || family == ptx::family::atomic || family == ptx::family::async ||
            i.op == opcode::stmatrix);
}

} // namespace

std::vector<wide_load> wide_loads(const ptx::function& f, const program::control_flow& flow) {
    std::vector<wide_load> all(f.instructions.size());
    alignment aligned(f);
    // Loads by class, base and which aligned bytes from it; `all` of `to` is the first one's.
    std::map<std::tuple<instruction_class, std::uint32_t, std::string, std::int64_t>, std::vector<std::uint32_t>> open;
    const auto close = [&](const auto& entry) {
        const std::vector<std::uint32_t>& loads = entry.second;
        unsigned words = 0; // of the four
        for (const std::uint32_t n : loads) {
            words |= 1u << ((f.instructions[n].operands[1].offset & 15) / 4);
        }
        const bool is_half = words == 0b0011 || words == 0b1100;
        if (std::popcount(words) < 3 && !is_half) {
            return;
        }
        for (const std::uint32_t n : loads) {
            all[n].first = loads.front();
        }
        all[loads.front()].bytes = is_half ? 8 : 16;
        all[loads.front()].loads = static_cast<unsigned>(loads.size());
    };
    const auto close_all = [&] {
        std::for_each(open.begin(), open.end(), close);
        open.clear();
    };
    for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
        all[n].first = n;
        const ptx::instruction& i = f.instructions[n];
        if (n == 0 || flow.block_of_instruction[n] != flow.block_of_instruction[n - 1]) {
            close_all();
        }
        const instruction_class what = cost_of(i).what;
        if (is_word_load(i)) {
            const ptx::operand& at = i.operands[1];
            const std::uint64_t base = at.has_register ? aligned.of(at.reg) : widest;
            const std::int64_t unit = std::min<std::int64_t>(static_cast<std::int64_t>(base),
                                                             what == instruction_class::constant ? 8 : widest);
            if (unit >= 8 && at.offset % 4 == 0) {
                open[{what, at.has_register ? at.reg : no_register, at.name, at.offset & ~(unit - 1)}].push_back(n);
            }
        } else if (is_fixed(what) || may_store_to_shared(i)) {
            close_all();
        }
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                for (auto at = open.begin(); at != open.end();) {
                    const bool is_gone = std::get<1>(at->first) == reg;
                    if (is_gone) {
                        close(*at);
                    }
                    at = is_gone ? open.erase(at) : std::next(at);
                }
            }
        });
    }
    close_all();
    return all;
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/merged.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand_kind;
using ptx::suffix;

enum class sort : std::uint8_t { other, logic, sum, shift };

bool is_word(suffix t) { return t == suffix::b32 || t == suffix::u32 || t == suffix::s32; }

sort sort_of(const ptx::instruction& i) {
    if (i.predicate || !is_word(i.type()) || i.has(suffix::cc) || i.has(suffix::sat)) {
        return sort::other;
    }
    switch (i.op) {
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
    case opcode::not_: return sort::logic;
    case opcode::add:
    case opcode::sub: return sort::sum;
    case opcode::shl: return i.operands.at(2).kind == operand_kind::integer ? sort::shift : sort::other;
    default: return sort::other;
    }
}

struct uses {
    std::uint32_t writes = 0;
    std::uint32_t reads = 0;
    std::uint32_t writer = 0; // the last one
};

class merging {
public:
    merging(const ptx::function& f, const program::control_flow& flow)
        : f_(f), flow_(flow), of_(f.registers.size()), inputs_(f.instructions.size()), merged_(f.instructions.size()) {
        for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
            program::visit_registers(f.instructions[n], [&](std::uint32_t reg, program::use how) {
                uses& u = of_[reg];
                (how == program::use::written ? u.writes : u.reads) += 1;
                u.writer = how == program::use::written ? n : u.writer;
            });
        }
    }

    std::vector<bool> all() {
        for (std::uint32_t n = 0; n < f_.instructions.size(); ++n) {
            take_in_sources(n);
        }
        return merged_;
    }

private:
    // The operation whose result the operand is, if nothing else needs it.
    [[nodiscard]] std::optional<std::uint32_t> source(std::uint32_t n, std::size_t operand) const {
        const ptx::operand& o = f_.instructions[n].operands[operand];
        if (o.kind != operand_kind::reg) {
            return std::nullopt;
        }
        const uses& u = of_[o.reg];
        const bool is_own = u.writes == 1 && u.reads == 1 && u.writer < n &&
                            flow_.block_of_instruction[u.writer] == flow_.block_of_instruction[n];
        return is_own ? std::optional(u.writer) : std::nullopt;
    }

    void take_in_sources(std::uint32_t n) {
        constexpr std::size_t most_inputs = 3;
        const sort mine = sort_of(f_.instructions[n]);
        if (mine == sort::other || mine == sort::shift) {
            return;
        }
        std::size_t inputs = f_.instructions[n].operands.size() - 1;
        bool has_shift = false;
        for (std::size_t k = 1; k < f_.instructions[n].operands.size(); ++k) {
            const std::optional<std::uint32_t> from = source(n, k);
            const sort theirs = from ? sort_of(f_.instructions[*from]) : sort::other;
            const std::size_t more = theirs == mine && !has_shift ? inputs_[*from] - 1 : most_inputs;
            if (inputs + more <= most_inputs) {
                inputs += more;
                merged_[*from] = true;
            } else if (mine == sort::sum && theirs == sort::shift && inputs == 2 && !has_shift &&
                       f_.instructions[n].op == opcode::add) {
                has_shift = true;
                merged_[*from] = true;
            }
        }
        inputs_[n] = static_cast<std::uint8_t>(has_shift ? most_inputs : inputs);
    }

    const ptx::function& f_;
    const program::control_flow& flow_;
    std::vector<uses> of_;             // by register
    std::vector<std::uint8_t> inputs_; // by instruction, with those of what it took in
    std::vector<bool> merged_;
};

} // namespace

std::vector<bool> merged_into_later(const ptx::function& f, const program::control_flow& flow) {
    return merging(f, flow).all();
}

} // namespace softgpu::machine

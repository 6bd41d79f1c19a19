// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/merged.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand_kind;
using ptx::suffix;

enum class sort : std::uint8_t { other, logic, zero_test, sum, negation, left_shift, right_shift, widening, extreme };

bool is_word(suffix t) { return t == suffix::b32 || t == suffix::u32 || t == suffix::s32; }
bool is_double_word(suffix t) { return t == suffix::b64 || t == suffix::u64 || t == suffix::s64; }
bool is_real(suffix t) {
    return t == suffix::f32 || t == suffix::f64 || t == suffix::f16 || t == suffix::f16x2 || t == suffix::bf16 ||
           t == suffix::bf16x2;
}

bool is_integer(const ptx::operand& o) { return o.kind == operand_kind::integer; }

sort sort_of(const ptx::instruction& i) {
    const bool is_wide = is_double_word(i.type());
    if (i.predicate || !(is_word(i.type()) || is_wide) || i.has(suffix::cc) || i.has(suffix::sat)) {
        return sort::other;
    }
    switch (i.op) {
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
    case opcode::not_: return sort::logic;
    case opcode::setp: {
        const bool is_equality = i.has(suffix::eq) || i.has(suffix::ne);
        return is_equality && i.operands.size() == 3 && is_integer(i.operands[2]) && i.operands[2].bits == 0
                   ? sort::zero_test
                   : sort::other;
    }
    case opcode::add:
    case opcode::sub: return sort::sum;
    case opcode::neg: return is_wide ? sort::other : sort::negation;
    case opcode::shl: return is_integer(i.operands.at(2)) ? sort::left_shift : sort::other;
    case opcode::shr:
        return is_integer(i.operands.at(2)) && i.type() != suffix::s32 && i.type() != suffix::s64 ? sort::right_shift
                                                                                                  : sort::other;
    case opcode::cvt: return i.type(0) == suffix::s64 && i.type(1) == suffix::s32 ? sort::widening : sort::other;
    case opcode::min:
    case opcode::max: return is_wide ? sort::other : sort::extreme;
    default: return sort::other;
    }
}

// An operand, to be told from others.
std::uint64_t identity(const ptx::operand& o) {
    constexpr std::uint64_t constant = 1ULL << 63;
    return o.kind == operand_kind::reg ? o.reg : constant | o.bits;
}

constexpr std::uint64_t nothing = ~0ULL; // no operand's identity

// Up to three different operands.
class inputs {
public:
    void add(std::uint64_t input) {
        if (std::find(of_.begin(), of_.begin() + count_, input) == of_.begin() + count_) {
            of_[count_] = input;
            count_ += 1;
        }
    }
    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    // With those of `other` in the place of `input`; nothing if they are more than three.
    [[nodiscard]] std::optional<inputs> with(std::uint64_t input, const inputs& other) const {
        inputs all;
        for (unsigned k = 0; k < count_ + other.count_; ++k) {
            const std::uint64_t next = k < count_ ? of_[k] : other.of_[k - count_];
            if (next != input) {
                all.add(next);
            }
            if (all.count_ > most) {
                return std::nullopt;
            }
        }
        return all;
    }

private:
    static constexpr unsigned most = 3;

    std::array<std::uint64_t, most + 1> of_{};
    unsigned count_ = 0;
};

struct uses {
    std::uint32_t writes = 0;
    std::uint32_t reads = 0;
    std::uint32_t real_reads = 0; // by what takes a negated number, or one without its sign
    std::uint32_t writer = 0;     // the last one
};

// Floating-point arithmetic, comparisons, conversions and choices.
bool takes_signs(const ptx::instruction& i) {
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic:
    case ptx::family::compare: return is_real(i.type());
    case ptx::family::convert: return i.op == opcode::cvt && is_real(i.type(1));
    default: return false;
    }
}

class merging {
public:
    merging(const ptx::function& f, const program::control_flow& flow)
        : f_(f),
          flow_(flow),
          of_(f.registers.size()),
          logic_(f.instructions.size()),
          summands_(f.instructions.size()),
          merged_(f.instructions.size()) {
        for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
            const bool takes = takes_signs(f.instructions[n]);
            program::visit_registers(f.instructions[n], [&](std::uint32_t reg, program::use how) {
                uses& u = of_[reg];
                (how == program::use::written ? u.writes : u.reads) += 1;
                u.real_reads += takes && how == program::use::read ? 1 : 0;
                u.writer = how == program::use::written ? n : u.writer;
            });
        }
    }

    std::vector<bool> all() {
        for (std::uint32_t n = 0; n < f_.instructions.size(); ++n) {
            look_at(n);
        }
        return merged_;
    }

private:
    void look_at(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        switch (sort_of(i)) {
        case sort::logic:
            if (!rotates(n)) {
                take_in_logic(n);
            }
            merged_[n] = merged_[n] || is_mask_of_loaded(i);
            return;
        case sort::zero_test:
            if (const auto from = logic_source(n, 1)) {
                merged_[*from] = true;
            }
            return;
        case sort::sum:
            if (!rotates(n)) {
                take_in_summands(n);
            }
            return;
        case sort::extreme: take_in_sum_or_extreme(n); return;
        default: break;
        }
        const bool changes_sign = (i.op == opcode::neg || i.op == opcode::abs) && is_real(i.type()) && !i.predicate;
        if (changes_sign) {
            const uses& u = of_[i.operands.front().reg];
            merged_[n] = u.writes == 1 && u.reads != 0 && u.reads == u.real_reads;
        }
        merged_[n] = merged_[n] || saturates_sum(n) || is_rounded_to_integer(n);
    }

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

    // Whether instruction n is of a sort and as wide as `reader`.
    [[nodiscard]] bool is(std::uint32_t n, sort what, const ptx::instruction& reader) const {
        const ptx::instruction& i = f_.instructions[n];
        return sort_of(i) == what && is_double_word(i.type()) == is_double_word(reader.type());
    }

    void take_in_logic(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        inputs all;
        for (std::size_t k = 1; k < i.operands.size(); ++k) {
            all.add(identity(i.operands[k]));
        }
        // Both sources may have the same words: of one of them alone they would be too many.
        const auto one = logic_source(n, 1);
        const auto two = i.operands.size() == 3 ? logic_source(n, 2) : std::nullopt;
        if (one && two) {
            if (const auto more = logic_[*one].with(nothing, logic_[*two])) {
                merged_[*one] = true;
                merged_[*two] = true;
                logic_[n] = *more;
                return;
            }
        }
        for (const auto& from : {one, two}) {
            if (!from) {
                continue;
            }
            if (const auto more = all.with(f_.instructions[*from].operands.front().reg, logic_[*from])) {
                all = *more;
                merged_[*from] = true;
            }
        }
        logic_[n] = all;
    }

    [[nodiscard]] std::optional<std::uint32_t> logic_source(std::uint32_t n, std::size_t operand) const {
        const auto from = source(n, operand);
        return from && is(*from, sort::logic, f_.instructions[n]) && !merged_[*from] && !logic_[*from].is_empty()
                   ? from
                   : std::nullopt;
    }

    // Shifts to the left and to the right that together are as wide as the word: one SHF for each word of 32 bits. Of 64 bits ptxas 13.0
    // sees it in sums, of one register; else the shift to the left is part of the operation (LEA).
    bool rotates(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        if (i.operands.size() != 3 || i.op == opcode::sub || i.op == opcode::and_) {
            return false;
        }
        const bool is_wide = is_double_word(i.type());
        for (const std::size_t left : {std::size_t{1}, std::size_t{2}}) {
            const auto a = source(n, left);
            const auto b = source(n, 3 - left);
            if (!a || !b || !is(*a, sort::left_shift, i) || !is(*b, sort::right_shift, i)) {
                continue;
            }
            const ptx::instruction& by = f_.instructions[*a];
            const ptx::instruction& rest = f_.instructions[*b];
            if (by.operands[2].bits + rest.operands[2].bits != (is_wide ? 64 : 32)) {
                continue;
            }
            merged_[*a] = true;
            summands_[n] = 3; // it is no part of another sum
            merged_[*b] = !is_wide || (i.op == opcode::add && identity(by.operands[1]) == identity(rest.operands[1]));
            return true;
        }
        return false;
    }

    void take_in_summands(std::uint32_t n) {
        constexpr unsigned most = 3;
        const ptx::instruction& i = f_.instructions[n];
        summands_[n] = most;
        if (is_double_word(i.type()) && (is_wide_product(i.operands[1]) || is_wide_product(i.operands[2]))) {
            return; // IMAD.WIDE: the sum is part of the product
        }
        unsigned summands = 2;
        bool has_shift = false;
        for (std::size_t k = 1; k < i.operands.size(); ++k) {
            const auto from = source(n, k);
            if (!from) {
                continue;
            }
            if (is(*from, sort::negation, i) || (sort_of(f_.instructions[*from]) == sort::widening && !has_shift)) {
                merged_[*from] = true;
            } else if (is(*from, sort::sum, i) && !has_shift && summands + summands_[*from] - 1 <= most) {
                summands += summands_[*from] - 1;
                merged_[*from] = true;
            } else if (is(*from, sort::left_shift, i) && summands == 2 && !has_shift && i.op == opcode::add) {
                has_shift = true;
                merged_[*from] = true;
            }
        }
        summands_[n] = static_cast<std::uint8_t>(has_shift ? most : summands);
    }

    // VIADDMNMX, VIMNMX.RELU.
    void take_in_sum_or_extreme(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
            const ptx::operand& other = i.operands[3 - k];
            const auto from = source(n, k);
            if (!from) {
                continue;
            }
            const bool is_sum = is(*from, sort::sum, i) && summands_[*from] == 2;
            const bool has_no_sign = is(*from, sort::extreme, i) && f_.instructions[*from].op == opcode::min &&
                                     i.op == opcode::max && i.type() == suffix::s32 && is_integer(other) &&
                                     other.bits == 0;
            if (is_sum || has_no_sign) {
                merged_[*from] = true;
                return;
            }
        }
    }

    // The lower bits of what a load has filled up with zeros.
    [[nodiscard]] bool is_mask_of_loaded(const ptx::instruction& i) const {
        if (i.op != opcode::and_ || i.operands[1].kind != operand_kind::reg || !is_integer(i.operands[2])) {
            return false;
        }
        const ptx::instruction* from = writer_of(i.operands[1].reg);
        if (from != nullptr && from->op == opcode::cvt && from->operands.at(1).kind == operand_kind::reg) {
            from = writer_of(from->operands[1].reg);
        }
        if (from == nullptr || from->op != opcode::ld) {
            return false;
        }
        const suffix t = from->type();
        return i.operands[2].bits == ((t == suffix::u8 || t == suffix::b8)     ? 0xffU
                                      : (t == suffix::u16 || t == suffix::b16) ? 0xffffU
                                                                               : 0U);
    }
    [[nodiscard]] bool is_wide_product(const ptx::operand& o) const {
        const ptx::instruction* const from = o.kind == operand_kind::reg ? writer_of(o.reg) : nullptr;
        return from != nullptr && from->op == opcode::mul && from->has(suffix::wide);
    }
    // The only instruction that writes a register.
    [[nodiscard]] const ptx::instruction* writer_of(std::uint32_t reg) const {
        return of_[reg].writes == 1 ? &f_.instructions[of_[reg].writer] : nullptr;
    }

    // cvt.sat of a sum or product: .SAT.
    [[nodiscard]] bool saturates_sum(std::uint32_t n) const {
        const ptx::instruction& i = f_.instructions[n];
        const bool saturates = i.op == opcode::cvt && i.type(0) == suffix::f32 && i.type(1) == suffix::f32 &&
                               i.has(suffix::sat) && !i.predicate;
        const auto from = saturates ? source(n, 1) : std::nullopt;
        return from && (f_.instructions[*from].op == opcode::add || f_.instructions[*from].op == opcode::mul ||
                        f_.instructions[*from].op == opcode::fma);
    }
    // cvt.rmi and the like in front of a conversion to an integer: F2I.FLOOR.
    [[nodiscard]] bool is_rounded_to_integer(std::uint32_t n) const {
        const ptx::instruction& i = f_.instructions[n];
        if (i.op != opcode::cvt || i.type(0) != suffix::f32 || i.type(1) != suffix::f32 || i.predicate ||
            of_[i.operands.front().reg].reads != 1) {
            return false;
        }
        const std::uint32_t next = n + 1;
        return next < f_.instructions.size() && f_.instructions[next].op == opcode::cvt &&
               f_.instructions[next].type(1) == suffix::f32 && is_word(f_.instructions[next].type(0)) &&
               source(next, 1) == n;
    }

    const ptx::function& f_;
    const program::control_flow& flow_;
    std::vector<uses> of_;               // by register
    std::vector<inputs> logic_;          // by instruction, with those of what it took in; none of a rotation
    std::vector<std::uint8_t> summands_; // likewise
    std::vector<bool> merged_;
};

} // namespace

std::vector<bool> merged_operations(const ptx::function& f, const program::control_flow& flow) {
    return merging(f, flow).all();
}

} // namespace softgpu::machine

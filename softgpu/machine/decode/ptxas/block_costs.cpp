// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/block_costs.hpp"

#include <algorithm>
#include <optional>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using observe::instruction_class;
using ptx::opcode;
using ptx::suffix;

bool is_64(suffix t) { return t == suffix::s64 || t == suffix::u64 || t == suffix::b64; }

instruction_class arithmetic_class(suffix t) {
    switch (t) {
    case suffix::f64: return instruction_class::fp64;
    case suffix::f32:
    case suffix::f32x2: return instruction_class::fp32;
    case suffix::f16:
    case suffix::f16x2:
    case suffix::bf16:
    case suffix::bf16x2: return instruction_class::half;
    default: return instruction_class::integer;
    }
}

// Instructions that ptxas 13.0 makes of one for sm_90, on the way that most numbers take. `special`: how many of them are special
// functions; `steps`: how long the others hold up the result, in latencies of `unit`, as measured on an H200.
machine_cost of_several(instruction_class unit, unsigned slots, unsigned special, unsigned steps) {
    machine_cost c{unit, slots};
    c.special = special;
    c.steps = steps;
    return c;
}

machine_cost cost_of_product(const ptx::instruction& i, instruction_class unit) {
    if (unit != instruction_class::integer) {
        return {unit, 1};
    }
    if (is_64(i.type())) {
        return i.has(suffix::hi) ? of_several(instruction_class::multiply, 8, 0, 8)
                                 : of_several(instruction_class::multiply, 4, 0, 4);
    }
    // The upper half takes twice as long.
    return i.has(suffix::hi)     ? of_several(instruction_class::multiply, 2, 0, 2)
           : i.has(suffix::wide) ? of_several(instruction_class::multiply, 1, 0, 2)
                                 : machine_cost{instruction_class::multiply, 1};
}

// An integer division: a reciprocal of the divisor, and what the dividend needs. Of several by one divisor the first has the
// reciprocal.
machine_cost cost_of_division(const ptx::instruction& i, bool has_reciprocal) {
    const suffix t = i.type();
    if (is_64(t)) {
        return t == suffix::s64 ? of_several(instruction_class::multiply, 78, 3, 78)
                                : of_several(instruction_class::multiply, 70, 3, 73);
    }
    const bool is_signed = t == suffix::s32 || t == suffix::s16;
    const unsigned of_dividend = (i.op == opcode::div ? 9u : 8u) + (is_signed ? 5 : 0);
    return has_reciprocal ? of_several(instruction_class::integer, of_dividend, 0, is_signed ? 17 : 14)
                          : of_several(instruction_class::integer, of_dividend + 9, 3, is_signed ? 20 : 17);
}

machine_cost cost_of_arithmetic(const ptx::instruction& i) {
    const suffix t = i.type();
    const instruction_class unit = arithmetic_class(t);
    const bool whole = unit == instruction_class::integer;
    const bool flushes = i.has(suffix::ftz);
    switch (i.op) {
    case opcode::mul:
    case opcode::mad: return cost_of_product(i, unit);
    case opcode::mul24:
    case opcode::mad24:
    case opcode::dp4a:
    case opcode::dp2a: return {instruction_class::multiply, 1};
    case opcode::min:
    case opcode::max:
        if (unit == instruction_class::fp64) {
            return of_several(unit, 4, 0, 3);
        }
        return is_64(t) ? of_several(instruction_class::logic, 4, 0, 3) : machine_cost{instruction_class::logic, 1};
    case opcode::div:
    case opcode::rem:
        if (whole) {
            return cost_of_division(i, false);
        }
        if (unit == instruction_class::fp64) {
            return of_several(unit, 9, 1, 13);
        }
        if (i.has(suffix::approx)) {
            return flushes ? of_several(unit, 2, 1, 1) : of_several(unit, 6, 1, 6);
        }
        return i.has(suffix::full) ? of_several(unit, 9, 1, 7) : of_several(unit, 8, 1, 10);
    case opcode::rcp:
    case opcode::sqrt:
    case opcode::rsqrt:
        if (unit == instruction_class::fp64 && !flushes) {
            return i.op == opcode::sqrt ? of_several(unit, 9, 1, 9) : of_several(unit, 6, 1, 7);
        }
        if (!i.has(suffix::approx)) {
            return of_several(unit, 8, 1, i.op == opcode::sqrt ? 9 : 14);
        }
        return flushes               ? machine_cost{instruction_class::special, 1}
               : i.op == opcode::rcp ? of_several(unit, 8, 1, 5)
                                     : of_several(unit, 4, 1, 5);
    case opcode::lg2:
    case opcode::ex2:
        // Denormal numbers are scaled around the special function; of halves they are not.
        return t != suffix::f32 || flushes ? machine_cost{instruction_class::special, 1} : of_several(unit, 4, 1, 5);
    case opcode::sin:
    case opcode::cos: return of_several(unit, 2, 1, 1); // an angle in turns first
    case opcode::tanh: return {instruction_class::special, 1};
    default: return {unit, whole && is_64(t) ? 2u : 1u};
    }
}

machine_cost cost_of_logic(const ptx::instruction& i) {
    const unsigned words = is_64(i.type()) ? 2 : 1;
    if (i.type() == suffix::pred) {
        return {instruction_class::logic, 0}; // part of comparisons
    }
    switch (i.op) {
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
    case opcode::not_:
    case opcode::prmt:
    case opcode::lop3: return {instruction_class::logic, words};
    case opcode::popc:
        return words == 1 ? machine_cost{instruction_class::special, 1}
                          : of_several(instruction_class::integer, 3, 2, 1);
    case opcode::clz: return of_several(instruction_class::integer, 2 * words, words, words);
    case opcode::brev:
    case opcode::bfind: return {instruction_class::special, words};
    case opcode::fns: return of_several(instruction_class::integer, 40, 5, 23);
    case opcode::bfe: return of_several(instruction_class::shift, 2 * words, 0, 2 * words);
    default:
        return words == 1 ? machine_cost{instruction_class::shift, 1} : of_several(instruction_class::shift, 2, 0, 2);
    }
}

machine_cost cost_of_memory(const ptx::instruction& i) {
    const bool stores = i.op == opcode::st;
    switch (i.space()) {
    case suffix::param:
    case suffix::param_entry: return {instruction_class::constant, 0}; // an operand from the constant bank
    case suffix::const_: // without a register in its address an operand, too
        return {instruction_class::constant, i.operands.at(1).has_register ? 1u : 0u};
    case suffix::shared:
    case suffix::shared_cta: {
        machine_cost c{stores ? instruction_class::shared_store : instruction_class::shared_load, 1};
        c.turns = stores ? 0 : std::max(i.vector_width() * ptx::bytes_of(i.type()) / 4, 1u) - 1;
        return c;
    }
    case suffix::local: return {instruction_class::local, 1};
    default: break;
    }
    if (i.op != opcode::ld && i.op != opcode::ldu && !stores) {
        return {instruction_class::integer, i.op == opcode::prefetch ? 1u : 0u};
    }
    const bool sees_others = i.has(suffix::volatile_) || i.has(suffix::relaxed) || i.has(suffix::acquire);
    return {stores ? instruction_class::global_store : instruction_class::global_load, 1, 0, !stores && sees_others};
}

machine_cost cost_of_comparison(const ptx::instruction& i) {
    const bool compares_doubles = i.op == opcode::setp && i.type() == suffix::f64;
    return compares_doubles
               ? machine_cost{instruction_class::fp64, 1}
               : machine_cost{instruction_class::logic, is_64(i.type()) || i.type() == suffix::f64 ? 2u : 1u};
}

// Conversions of 16-bit floats and of 32-bit integers to floats are fast, all others have the unit of special functions. ptxas gives
// a copy the register of its source. A special register is read.
machine_cost cost_of_move(const ptx::instruction& i) {
    if (i.op == opcode::cvt) {
        const suffix to = i.type(0);
        const suffix from = i.type(1);
        const bool to_float = arithmetic_class(to) != instruction_class::integer;
        if (!to_float && arithmetic_class(from) == instruction_class::integer) {
            // A load extends its result, and so do most operations, but not those of signed bytes.
            return from == suffix::s8 && to != suffix::s8
                       ? machine_cost{instruction_class::logic, 1}
                       : machine_cost{instruction_class::integer, is_64(to) && from == suffix::s32 ? 1u : 0u};
        }
        const bool has_double = to == suffix::f64 || from == suffix::f64;
        const bool rounds = to == from && to == suffix::f32 && !i.has(suffix::sat);
        const bool from_word = from == suffix::s32 || from == suffix::u32 || from == suffix::u16 ||
                               arithmetic_class(from) != instruction_class::integer;
        return {to_float && from_word && !has_double && !rounds ? instruction_class::convert
                                                                : instruction_class::special,
                1};
    }
    if (i.op == opcode::mov && i.operands.size() == 2 && i.operands[1].kind == ptx::operand_kind::special) {
        return {instruction_class::integer, 1};
    }
    return {instruction_class::integer, 0};
}

// A wmma.load or wmma.store: a request for each register of the fragment.
machine_cost cost_of_fragment(const ptx::instruction& i) {
    const form f = form_of(i);
    const auto shape = shape_of(f);
    const unsigned slots = shape ? shape->registers_of(moved_fragment(f)) : 1;
    const bool shared = i.space() == suffix::shared || i.space() == suffix::shared_cta;
    if (i.has(suffix::store)) {
        return {shared ? instruction_class::shared_store : instruction_class::global_store, slots};
    }
    return {shared ? instruction_class::shared_load : instruction_class::global_load, slots};
}

// Tensor cores multiply narrow types as much faster as they are narrower, and doubles at a sixteenth of the rate of halves
// (data sheets of the A100 and H100). One machine instruction multiplies up to 16 x 8 x 16 halves.
machine_cost cost_of_matrix_product(const ptx::instruction& i) {
    constexpr unsigned unit = 32;
    constexpr unsigned most = 16 * 8 * 16 / unit;
    constexpr unsigned doubles = 16;
    const form f = form_of(i);
    const auto shape = i.op == opcode::wgmma ? warpgroup_shape_of(f) : shape_of(f);
    if (!shape) {
        return {instruction_class::tensor, 1};
    }
    const suffix type = shape->type_of(fragment::a);
    const unsigned each = type == suffix::f64 ? doubles * 16 : element_bits(type);
    const unsigned products = shape->m * shape->n * shape->k * (shape->is_by_quads() ? 4 : 1) * each / (16 * unit);
    return {instruction_class::tensor, std::max(products / most, 1u), products};
}

machine_cost cost_of_matrix(const ptx::instruction& i) {
    switch (i.op) {
    case opcode::ldmatrix: return {instruction_class::shared_load, 1};
    case opcode::stmatrix: return {instruction_class::shared_store, 1};
    case opcode::movmatrix: return {instruction_class::shuffle, 1};
    case opcode::wmma:
        if (!i.has(suffix::mma)) {
            return cost_of_fragment(i);
        }
        return cost_of_matrix_product(i);
    default: return cost_of_matrix_product(i);
    }
}

bool is_of_shared(const ptx::instruction& i) { return i.space() == suffix::shared || i.space() == suffix::shared_cta; }

bool is_of_device(const ptx::instruction& i) { return i.has(suffix::gl) || i.has(suffix::gpu) || i.has(suffix::sys); }

} // namespace

bool is_exchange_loop(const ptx::instruction& i) {
    const bool computes = i.op == opcode::atom || i.op == opcode::red;
    const bool exchanges = i.has(suffix::cas) || i.has(suffix::exch);
    return computes && is_of_shared(i) && !exchanges &&
           (is_64(i.type()) || arithmetic_class(i.type()) != instruction_class::integer);
}

bool may_call(const ptx::instruction& i) {
    const suffix t = i.type();
    const instruction_class unit = arithmetic_class(t);
    switch (i.op) {
    case opcode::div:
    case opcode::rem:
        if (unit == instruction_class::integer) {
            return is_64(t) || t == suffix::s16 || t == suffix::u16;
        }
        return !i.has(suffix::approx) && !i.has(suffix::full);
    case opcode::rcp:
    case opcode::sqrt:
    case opcode::rsqrt: return !i.has(suffix::approx) || (unit == instruction_class::fp64 && !i.has(suffix::ftz));
    default: return false;
    }
}

std::uint32_t divisor_of(const ptx::instruction& i) {
    const bool divides = (i.op == opcode::div || i.op == opcode::rem) && !is_64(i.type()) &&
                         arithmetic_class(i.type()) == instruction_class::integer;
    return divides && i.operands.at(2).kind == ptx::operand_kind::reg ? i.operands[2].reg : no_register;
}

bool begins_with_fence(const ptx::instruction& i) {
    return (i.op == opcode::st || i.op == opcode::atom || i.op == opcode::red) &&
           (i.has(suffix::release) || i.has(suffix::acq_rel)) && is_of_device(i);
}

bool acquires(const ptx::instruction& i) {
    const bool by_itself = i.op == opcode::fence || i.op == opcode::membar;
    return is_of_device(i) && (by_itself || i.has(suffix::acquire) || i.has(suffix::acq_rel));
}

machine_cost cost_of(const ptx::instruction& i) {
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic: return cost_of_arithmetic(i);
    case ptx::family::logic: return cost_of_logic(i);
    case ptx::family::compare: return cost_of_comparison(i);
    case ptx::family::convert: return cost_of_move(i);
    case ptx::family::memory: return cost_of_memory(i);
    case ptx::family::atomic:
        // A loop loads, computes and exchanges, which is an atomic with a result.
        return is_exchange_loop(i)
                   ? of_several(instruction_class::shared_atomic, 2, 0, 4)
                   : machine_cost{is_of_shared(i) ? instruction_class::shared_atomic : instruction_class::global_atomic,
                                  1};
    case ptx::family::async:
        return i.op == opcode::cp ? machine_cost{instruction_class::global_load, 1}
                                  : machine_cost{instruction_class::shared_atomic, 1};
    case ptx::family::warp:
        // A reduction leaves its result where all lanes have it, and comes back from there.
        return i.op == opcode::redux
                   ? of_several(instruction_class::special, 1, 0, 3)
                   : machine_cost{i.op == opcode::shfl ? instruction_class::shuffle : instruction_class::vote, 1};
    case ptx::family::matrix: return cost_of_matrix(i);
    case ptx::family::texture: return {instruction_class::texture, 1};
    case ptx::family::video: return {instruction_class::integer, 4};
    default: break;
    }
    if ((i.op == opcode::fence || i.op == opcode::membar) && is_of_device(i)) {
        return {instruction_class::fence, 1};
    }
    const bool block_barrier = (i.op == opcode::bar || i.op == opcode::barrier) && !i.has(suffix::warp);
    return {block_barrier ? instruction_class::barrier : instruction_class::control, 1};
}

bool earlier_writers::completes_product(const ptx::instruction& i) const {
    if (i.op != opcode::add || !is_64(i.type())) {
        return false;
    }
    bool product = false;
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        const auto by = how == program::use::read ? last_.find(reg) : last_.end();
        product = product || (by != last_.end() && f_.instructions[by->second].op == opcode::mul &&
                              f_.instructions[by->second].has(suffix::wide));
    });
    return product;
}

bool earlier_writers::points_to_shared(const ptx::instruction& i) const {
    const auto is_known = [&](const ptx::operand& o) {
        return o.kind == ptx::operand_kind::address && o.has_register && (*shared_pointers_)[o.reg];
    };
    return shared_pointers_ != nullptr && i.space() == suffix::none &&
           std::any_of(i.operands.begin(), i.operands.end(), is_known);
}

void earlier_writers::wrote(std::uint32_t n) {
    const ptx::instruction& i = f_.instructions[n];
    if (const std::uint32_t divisor = divisor_of(i); divisor != no_register) {
        reciprocals_.insert(divisor);
    }
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        if (how == program::use::written) {
            reciprocals_.erase(reg);
            last_[reg] = n;
        }
    });
}

machine_cost earlier_writers::cost(std::uint32_t n) const {
    const ptx::instruction& i = f_.instructions[n];
    if (reciprocals_.contains(divisor_of(i))) {
        return cost_of_division(i, true);
    }
    machine_cost c = cost_of(i);
    if (c.what == instruction_class::global_load && points_to_shared(i)) {
        c.what = instruction_class::shared_load;
    } else if (c.what == instruction_class::global_store && points_to_shared(i)) {
        c.what = instruction_class::shared_store;
    }
    if (wide_ != nullptr && (*wide_)[n].bytes > 4 && c.what == instruction_class::shared_load) {
        c.turns = (*wide_)[n].bytes / 4 - 1;
    }
    const bool is_part = wide_ != nullptr && (*wide_)[n].first != n;
    c.slots = is_part || completes_product(i) || (merged_ != nullptr && (*merged_)[n]) ? 0 : c.slots;
    return c;
}

observe::instruction_mix mix_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                                const surroundings& around) {
    observe::instruction_mix mix;
    earlier_writers before(f, around);
    for (std::uint32_t n = first; n < last; ++n) {
        const machine_cost c = before.cost(n);
        const bool two_halves = (c.what == instruction_class::integer || c.what == instruction_class::logic) &&
                                c.slots == 2 && c.steps == 0; // of 64 bits
        mix[c.what] += two_halves ? 1 : c.slots - c.special;
        mix[instruction_class::special] += c.special;
        mix[instruction_class::tensor_products] += c.products;
        mix[instruction_class::upper] += two_halves ? 1 : 0;
        before.wrote(n);
    }
    return mix;
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/block_costs.hpp"

#include <algorithm>
#include <optional>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using observe::instruction_class;
using ptx::opcode;
using ptx::suffix;

// The CUDA C++ Programming Guide, "Arithmetic Instructions": an integer division takes up to 20 instructions. It converts to
// float, takes a reciprocal, converts back, and refines.
constexpr unsigned integer_division = 20;
constexpr unsigned integer_division_steps = 10;

bool is_64(suffix t) { return t == suffix::s64 || t == suffix::u64 || t == suffix::b64; }

instruction_class arithmetic_class(suffix t) {
    switch (t) {
    case suffix::f64: return instruction_class::fp64;
    case suffix::f32: return instruction_class::fp32;
    case suffix::f16:
    case suffix::f16x2:
    case suffix::bf16:
    case suffix::bf16x2: return instruction_class::half;
    default: return instruction_class::integer;
    }
}

// Instructions that ptxas 13.0 makes of one for sm_90, on the way that most numbers take.
machine_cost of_several(instruction_class unit, unsigned slots, unsigned special, unsigned steps) {
    machine_cost c{unit, slots};
    c.special = special;
    c.steps = steps;
    return c;
}

machine_cost cost_of_arithmetic(const ptx::instruction& i) {
    const suffix t = i.type();
    const instruction_class unit = arithmetic_class(t);
    const bool whole = unit == instruction_class::integer;
    switch (i.op) {
    case opcode::mul:
    case opcode::mad:
    case opcode::mul24:
    case opcode::mad24:
    case opcode::dp4a:
    case opcode::dp2a:
    case opcode::sad:
        return whole ? machine_cost{instruction_class::multiply, is_64(t) ? 4u : 1u} : machine_cost{unit, 1};
    case opcode::div:
    case opcode::rem:
        if (whole) {
            return is_64(t) ? of_several(unit, 4 * integer_division, 3, 4 * integer_division_steps)
                            : of_several(unit, integer_division, 3, integer_division_steps);
        }
        if (unit == instruction_class::fp64) {
            return of_several(unit, 9, 1, 8);
        }
        if (i.has(suffix::approx)) {
            return i.has(suffix::ftz) ? of_several(unit, 2, 1, 1) : of_several(unit, 6, 1, 3);
        }
        return i.has(suffix::full) ? of_several(unit, 9, 1, 3) : of_several(unit, 8, 1, 6);
    case opcode::rcp:
    case opcode::sqrt:
    case opcode::rsqrt:
        if (unit == instruction_class::fp64 && !i.has(suffix::ftz)) {
            return i.op == opcode::sqrt ? of_several(unit, 9, 1, 8) : of_several(unit, 6, 1, 5);
        }
        if (!i.has(suffix::approx) || (i.op == opcode::rcp && !i.has(suffix::ftz))) {
            return of_several(unit, 8, 1, 4);
        }
        return i.has(suffix::ftz) ? machine_cost{instruction_class::special, 1} : of_several(unit, 4, 1, 3);
    case opcode::lg2:
    case opcode::ex2:
        // Denormal numbers are scaled around the special function; of halves they are not.
        return t != suffix::f32 || i.has(suffix::ftz) ? machine_cost{instruction_class::special, 1}
                                                      : of_several(unit, 4, 1, 3);
    case opcode::sin:
    case opcode::cos: return of_several(unit, 2, 1, 1); // an angle in turns first
    case opcode::tanh: return {instruction_class::special, 1};
    default: return {unit, whole && is_64(t) ? 2u : 1u};
    }
}

machine_cost cost_of_memory(const ptx::instruction& i) {
    const bool stores = i.op == opcode::st;
    switch (i.space()) {
    case suffix::param:
    case suffix::param_entry: return {instruction_class::constant, 0}; // an operand from the constant bank
    case suffix::const_: return {instruction_class::constant, 1};
    case suffix::shared:
    case suffix::shared_cta: return {stores ? instruction_class::shared_store : instruction_class::shared_load, 1};
    case suffix::local: return {instruction_class::local, 1};
    default: break;
    }
    if (i.op != opcode::ld && i.op != opcode::ldu && !stores) {
        return {instruction_class::integer, i.op == opcode::prefetch ? 1u : 0u};
    }
    const bool sees_others = i.has(suffix::volatile_) || i.has(suffix::relaxed) || i.has(suffix::acquire);
    return {stores ? instruction_class::global_store : instruction_class::global_load, 1, 0, !stores && sees_others};
}

// ptxas gives a copy the register of its source. A special register is read.
machine_cost cost_of_move(const ptx::instruction& i) {
    if (i.op == opcode::cvt) {
        const bool floats = arithmetic_class(i.type(0)) != instruction_class::integer ||
                            arithmetic_class(i.type(1)) != instruction_class::integer;
        if (floats) {
            return {instruction_class::convert, 1};
        }
        return {instruction_class::integer, is_64(i.type(0)) && i.type(1) == suffix::s32 ? 1u : 0u};
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
machine_cost cost_of_product(const ptx::instruction& i) {
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
        return cost_of_product(i);
    default: return cost_of_product(i);
    }
}

bool is_of_device(const ptx::instruction& i) { return i.has(suffix::gl) || i.has(suffix::gpu) || i.has(suffix::sys); }

} // namespace

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
    case ptx::family::logic:
        switch (i.op) {
        case opcode::and_:
        case opcode::or_:
        case opcode::xor_:
        case opcode::not_:
        case opcode::lop3: return {instruction_class::integer, is_64(i.type()) ? 2u : 1u};
        default: return {instruction_class::shift, is_64(i.type()) ? 2u : 1u};
        }
    case ptx::family::compare: return {instruction_class::integer, is_64(i.type()) ? 2u : 1u};
    case ptx::family::convert: return cost_of_move(i);
    case ptx::family::memory: return cost_of_memory(i);
    case ptx::family::atomic:
        return {i.space() == suffix::shared || i.space() == suffix::shared_cta ? instruction_class::shared_atomic
                                                                               : instruction_class::global_atomic,
                1};
    case ptx::family::async:
        return i.op == opcode::cp ? machine_cost{instruction_class::global_load, 1}
                                  : machine_cost{instruction_class::shared_atomic, 1};
    case ptx::family::warp: return {i.op == opcode::shfl ? instruction_class::shuffle : instruction_class::vote, 1};
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

void earlier_writers::wrote(std::uint32_t n) {
    program::visit_registers(f_.instructions[n], [&](std::uint32_t reg, program::use how) {
        if (how == program::use::written) {
            last_[reg] = n;
        }
    });
}

machine_cost earlier_writers::cost(std::uint32_t n) const {
    machine_cost c = cost_of(f_.instructions[n]);
    c.slots = completes_product(f_.instructions[n]) ? 0 : c.slots;
    return c;
}

observe::instruction_mix mix_of(const ptx::function& f, std::uint32_t first, std::uint32_t last) {
    observe::instruction_mix mix;
    earlier_writers before(f);
    for (std::uint32_t n = first; n < last; ++n) {
        const machine_cost c = before.cost(n);
        const bool two_halves = c.what == instruction_class::integer && c.slots == 2; // of 64 bits
        mix[c.what] += two_halves ? 1 : c.slots - c.special;
        mix[instruction_class::special] += c.special;
        mix[instruction_class::tensor_products] += c.products;
        mix[instruction_class::upper] += two_halves ? 1 : 0;
        before.wrote(n);
    }
    return mix;
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/left_out.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::suffix;

bool is_plain(const ptx::instruction& i, opcode op) {
    return i.op == op && i.space() == suffix::global && !i.has(suffix::volatile_) && !i.has(suffix::relaxed) &&
           !i.has(suffix::acquire) && !i.has(suffix::release) && !i.has(suffix::mmio);
}

// An access of one word by each active lane, at an address that a register has.
bool is_simple(const ptx::instruction& i, opcode op) {
    const std::size_t at = op == opcode::ld ? 1 : 0;
    return is_plain(i, op) && !i.predicate && i.operands.size() == 2 &&
           i.operands[at].kind == ptx::operand_kind::address && i.operands[at].has_register &&
           i.operands[1 - at].kind == ptx::operand_kind::reg && i.operands[1 - at].component == 0;
}

// Neither reads nor writes global memory, nor orders accesses to it.
bool passes_by(const ptx::instruction& i) {
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic:
    case ptx::family::logic:
    case ptx::family::compare:
    case ptx::family::convert:
    case ptx::family::video:
    case ptx::family::warp: return true;
    case ptx::family::memory: break;
    default: return false;
    }
    switch (i.space()) {
    case suffix::param:
    case suffix::param_entry:
    case suffix::const_:
    case suffix::shared:
    case suffix::shared_cta:
    case suffix::local: return true;
    default: return i.has(suffix::nc);
    }
}

// What is at an address is in a register, too.
struct known_word {
    std::uint32_t base = 0; // a register
    std::int64_t offset = 0;
    suffix type = suffix::none;
    std::uint32_t value = 0;
    bool unchanging = false; // loaded by .nc
};

void leave_out(ptx::instruction& i) {
    i.op = opcode::mov;
    i.operands.clear();
    i.suffixes.clear();
}

class straight_code {
public:
    explicit straight_code(ptx::function& f) : f_(f) {}

    void begin_block() {
        known_.clear();
        stored_.reset();
    }
    // The next instruction. True: an access is left out.
    bool take(std::uint32_t n) {
        ptx::instruction& i = f_.instructions[n];
        if (is_simple(i, opcode::ld)) {
            return load(i);
        }
        bool left_out = false;
        if (is_simple(i, opcode::st)) {
            left_out = store(i, n);
        } else if (!passes_by(i)) {
            forget_memory();
        }
        forget_written(i);
        return left_out;
    }

private:
    static void copy(ptx::instruction& to, std::uint32_t from) {
        ptx::operand source = to.operands[0];
        source.reg = from;
        to.op = opcode::mov;
        to.suffixes = {to.type()};
        to.operands[1] = source;
    }

    bool load(ptx::instruction& i) {
        const known_word here{i.operands[1].reg, i.operands[1].offset, i.type(), i.operands[0].reg, i.has(suffix::nc)};
        const auto same = std::find_if(known_.begin(), known_.end(), [&](const known_word& k) {
            return k.base == here.base && k.offset == here.offset && k.type == here.type &&
                   k.unchanging == here.unchanging;
        });
        const bool is_known = same != known_.end();
        if (is_known) {
            copy(i, same->value);
        } else if (!here.unchanging) {
            stored_.reset(); // it may read that
        }
        forget_written(i);
        if (!is_known && here.base != here.value) {
            known_.push_back(here);
        }
        return is_known;
    }

    bool store(ptx::instruction& i, std::uint32_t n) {
        const ptx::operand& at = i.operands[0];
        bool left_out = false;
        if (stored_) {
            ptx::instruction& before = f_.instructions[*stored_];
            left_out =
                before.operands[0].reg == at.reg && before.operands[0].offset == at.offset && before.type() == i.type();
            if (left_out) {
                leave_out(before);
            }
        }
        forget_memory();
        stored_ = n;
        known_.push_back({at.reg, at.offset, i.type(), i.operands[1].reg, false});
        return left_out;
    }

    // Something reads and writes it.
    void forget_memory() {
        stored_.reset();
        std::erase_if(known_, [](const known_word& k) { return !k.unchanging; });
    }

    void forget_written(const ptx::instruction& i) {
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                std::erase_if(known_, [&](const known_word& k) { return k.value == reg || k.base == reg; });
                if (stored_ && f_.instructions[*stored_].operands[0].reg == reg) {
                    stored_.reset();
                }
            }
        });
    }

    ptx::function& f_;
    std::vector<known_word> known_;
    std::optional<std::uint32_t> stored_; // the last store, if nothing may have read it
};

// Loads whose result nothing reads; from the last one on, since such a load may be all that reads another's result.
bool leave_out_unread(ptx::function& f) {
    std::vector<std::uint32_t> reads(f.registers.size());
    const auto count = [&](const ptx::instruction& i, std::uint32_t by) {
        program::visit_registers(
            i, [&](std::uint32_t reg, program::use how) { reads[reg] += how == program::use::read ? by : 0; });
    };
    for (const ptx::instruction& i : f.instructions) {
        count(i, 1);
    }
    bool any = false;
    for (std::size_t n = f.instructions.size(); n-- > 0;) {
        ptx::instruction& i = f.instructions[n];
        bool is_read = !is_plain(i, opcode::ld);
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            is_read = is_read || (how == program::use::written && reads[reg] != 0);
        });
        if (!is_read) {
            count(i, ~0u);
            leave_out(i);
            any = true;
        }
    }
    return any;
}

} // namespace

std::optional<ptx::function> without_left_out(const ptx::function& f, const program::control_flow& flow) {
    ptx::function stays = f;
    straight_code code(stays);
    bool any = false;
    for (const program::basic_block& b : flow.blocks) {
        code.begin_block();
        for (std::uint32_t n = b.first; n < b.last; ++n) {
            any = code.take(n) || any;
        }
    }
    any = leave_out_unread(stays) || any;
    return any ? std::optional(std::move(stays)) : std::nullopt;
}

} // namespace softgpu::machine

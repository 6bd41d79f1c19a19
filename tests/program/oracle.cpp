// SPDX-License-Identifier: MIT
#include "tests/program/oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace program_test {

using namespace softgpu::program;
using softgpu::ptx::function;
using softgpu::ptx::instruction;
using softgpu::ptx::opcode;
using softgpu::ptx::operand_kind;
using softgpu::ptx::statement;
using softgpu::ptx::statement_kind;
using softgpu::ptx::suffix;

namespace {

using softgpu::program::access; // not the one of unistd.h

// Instructions that may come next.
std::vector<std::vector<std::size_t>> successors_of(const function& f) {
    std::map<std::string, std::size_t> labels;
    std::map<std::string, std::vector<std::string>> lists;
    std::size_t next = 0;
    for (const statement& s : f.statements) {
        if (s.kind == statement_kind::instruction) {
            ++next;
        } else if (s.kind == statement_kind::label) {
            labels[s.text] = next;
        } else if (s.kind == statement_kind::branch_targets) {
            lists[s.text] = s.names;
        }
    }
    std::vector<std::vector<std::size_t>> result(f.instructions.size());
    for (std::size_t k = 0; k < f.instructions.size(); ++k) {
        const instruction& i = f.instructions[k];
        const bool jumps = i.op == opcode::bra || i.op == opcode::brx;
        const bool leaves = i.op == opcode::ret || i.op == opcode::exit_ || i.op == opcode::trap;
        if (i.op == opcode::bra) {
            result[k].push_back(labels.at(i.operands.at(0).name));
        } else if (i.op == opcode::brx) {
            for (const std::string& name : lists.at(i.operands.at(1).name)) {
                result[k].push_back(labels.at(name));
            }
        }
        if (i.predicate || !(jumps || leaves)) {
            result[k].push_back(k + 1);
        }
        std::erase_if(result[k], [&](std::size_t to) { return to >= f.instructions.size(); });
    }
    return result;
}

bool is_early(const instruction& i) {
    static const std::set<opcode> early{opcode::shfl, opcode::vote, opcode::match, opcode::redux, opcode::atom};
    const bool lists = std::any_of(i.operands.begin(), i.operands.end(), [](const auto& o) {
        return o.kind == operand_kind::vector || o.kind == operand_kind::pair;
    });
    return lists || early.contains(i.op);
}

std::uint32_t bytes_of(const function& f, std::uint32_t reg) {
    return warp_bytes(f.registers[reg].type) * f.registers[reg].vector;
}

std::uint32_t words_of(const function& f, std::uint32_t reg) {
    return f.registers[reg].type == suffix::pred
               ? 0
               : std::max(softgpu::ptx::bytes_of(f.registers[reg].type), 4u) / 4 * f.registers[reg].vector;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t reg) {
    return std::find(list.begin(), list.end(), reg) != list.end();
}

} // namespace

naive_liveness find_liveness(const function& f) {
    const std::size_t count = f.instructions.size();
    naive_liveness live{std::vector(count, std::vector<bool>(f.registers.size())),
                        std::vector(count, std::vector<bool>(f.registers.size()))};
    const auto successors = successors_of(f);
    std::vector<access> accesses;
    for (const instruction& i : f.instructions) {
        accesses.push_back(registers_of(i));
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t k = count; k-- > 0;) {
            std::vector<bool> after(f.registers.size());
            for (const std::size_t s : successors[k]) {
                for (std::size_t r = 0; r < after.size(); ++r) {
                    after[r] = after[r] || live.before[s][r];
                }
            }
            std::vector<bool> before = after;
            if (!accesses[k].partial) {
                for (const std::uint32_t r : accesses[k].written) {
                    before[r] = false;
                }
            }
            for (const std::uint32_t r : accesses[k].read) {
                before[r] = true;
            }
            changed = changed || before != live.before[k];
            live.after[k] = std::move(after);
            live.before[k] = std::move(before);
        }
    }
    return live;
}

std::string complaint_about(const function& f, const register_places& places) {
    if (places.offset.size() != f.registers.size() || places.frame_bytes % 64 != 0) {
        return "the frame's shape is wrong";
    }
    const auto overlap = [&](std::uint32_t a, std::uint32_t b) {
        return places.offset[a] < places.offset[b] + bytes_of(f, b) &&
               places.offset[b] < places.offset[a] + bytes_of(f, a);
    };
    const auto name = [](std::uint32_t r) { return std::to_string(r); };
    const naive_liveness live = find_liveness(f);
    for (std::size_t k = 0; k < f.instructions.size(); ++k) {
        const access a = registers_of(f.instructions[k]);
        const std::string at = " at instruction " + std::to_string(k);
        for (const auto* list : {&a.read, &a.written}) {
            for (const std::uint32_t r : *list) {
                if (places.offset[r] + bytes_of(f, r) > places.frame_bytes) {
                    return "register " + name(r) + " lies outside the frame";
                }
                if (places.offset[r] % (f.registers[r].type == suffix::pred ? 4 : 64) != 0) {
                    return "register " + name(r) + " is not aligned";
                }
            }
        }
        std::vector<std::uint32_t> together;
        for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
            if (live.before[k][r]) {
                together.push_back(r);
            }
        }
        for (const std::uint32_t r : together) {
            for (const std::uint32_t s : together) {
                if (r < s && overlap(r, s)) {
                    return "registers " + name(r) + " and " + name(s) + " are alive together" + at;
                }
            }
        }
        for (const std::uint32_t w : a.written) {
            for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
                const bool kept = live.after[k][r] || (r != w && contains(a.written, r));
                if (r != w && kept && overlap(r, w)) {
                    return "register " + name(w) + " is written over " + name(r) + at;
                }
            }
            for (const std::uint32_t r : a.read) {
                const bool same_lanes = bytes_of(f, r) == bytes_of(f, w) && places.offset[r] == places.offset[w];
                if (r != w && overlap(r, w) && (is_early(f.instructions[k]) || !same_lanes)) {
                    return "register " + name(w) + " is written before " + name(r) + " has been read" + at;
                }
            }
        }
    }
    return {};
}

std::uint32_t most_live_words(const function& f) {
    const naive_liveness live = find_liveness(f);
    std::uint32_t most = 0;
    for (std::size_t k = 0; k < f.instructions.size(); ++k) {
        const access a = registers_of(f.instructions[k]);
        std::uint32_t reading = 0;
        std::uint32_t writing = 0;
        for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
            const bool written = contains(a.written, r);
            if (live.before[k][r] || (written && is_early(f.instructions[k]))) {
                reading += words_of(f, r);
            }
            if (live.after[k][r] || written) {
                writing += words_of(f, r);
            }
        }
        most = std::max({most, reading, writing});
    }
    return most;
}

} // namespace program_test

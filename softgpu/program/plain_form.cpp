// SPDX-License-Identifier: MIT
// Vector registers, vectors of special registers and results in registers, written as PTX without them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "softgpu/program/program.hpp"

namespace softgpu::program {

namespace {

using ptx::operand;
using ptx::operand_kind;

constexpr std::string_view components = "xyzw";

bool is_vector_move(const ptx::instruction& i) { return i.op == ptx::opcode::mov && i.vector_width() > 1; }

class rewriter {
public:
    explicit rewriter(ptx::function& f) : f_(f) {}

    void split_vectors();
    void return_by_parameters();

private:
    void declare_elements();
    void split(operand& o) const;
    void append_moves(const ptx::instruction& i, std::vector<ptx::instruction>& to);
    void append_results(const ptx::instruction& before, std::vector<ptx::instruction>& to) const;
    template <class Expand>
    void replace_instructions(Expand&& expand);

    ptx::function& f_;
    struct elements {
        std::uint32_t first = 0;
        unsigned count = 0; // 0: no vector register
    };

    std::vector<elements> elements_;     // by register
    std::vector<std::uint32_t> results_; // by result: its register, or no_register
    static constexpr std::uint32_t no_register = 0xFFFFFFFFu;
};

// expand(i, to) appends what stands for the instruction i. Statements follow.
template <class Expand>
void rewriter::replace_instructions(Expand&& expand) {
    std::vector<ptx::instruction> instructions;
    std::vector<ptx::statement> statements;
    for (ptx::statement& s : f_.statements) {
        if (s.kind != ptx::statement_kind::instruction) {
            statements.push_back(std::move(s));
            continue;
        }
        const std::size_t first = instructions.size();
        expand(f_.instructions[s.index], instructions);
        for (std::size_t n = first; n < instructions.size(); ++n) {
            statements.push_back(s);
            statements.back().index = static_cast<std::uint32_t>(n);
        }
    }
    f_.instructions = std::move(instructions);
    f_.statements = std::move(statements);
}

void rewriter::declare_elements() {
    const std::size_t count = f_.registers.size();
    elements_.resize(count);
    for (std::size_t r = 0; r < count; ++r) {
        const ptx::register_declaration whole = f_.registers[r];
        if (whole.vector == 1) {
            continue;
        }
        elements_[r] = {static_cast<std::uint32_t>(f_.registers.size()), whole.vector};
        for (unsigned k = 0; k < whole.vector; ++k) {
            f_.registers.push_back({whole.name + "." + components[k % 4], whole.type, 1});
        }
        f_.registers[r].vector = 1; // nothing names it any more
    }
}

void rewriter::split(operand& o) const {
    for (operand& element : o.elements) {
        split(element);
    }
    const bool names_register = o.kind == operand_kind::reg || (o.kind == operand_kind::address && o.has_register);
    if (!names_register || elements_[o.reg].count == 0) {
        return;
    }
    const auto [first, count] = elements_[o.reg];
    if (o.component != 0) {
        o.reg = first + static_cast<std::uint32_t>(components.find(o.component));
        o.component = 0;
        return;
    }
    if (o.kind == operand_kind::address) {
        throw ptx::error(o.where, "the vector register '" + f_.registers[o.reg].name + "' is no address");
    }
    operand vector;
    vector.kind = operand_kind::vector;
    vector.where = o.where;
    for (unsigned k = 0; k < count; ++k) {
        vector.elements.push_back(o);
        vector.elements.back().reg = first + k;
    }
    o = std::move(vector);
}

// mov.v2.b32 {a, b}, {c, d}: all elements are read before any is written.
void rewriter::append_moves(const ptx::instruction& i, std::vector<ptx::instruction>& to) {
    const unsigned width = i.vector_width();
    std::vector<operand> sources;
    if (i.operands.size() == 2 && i.operands[1].kind == operand_kind::special) { // %tid
        for (const char component : components) {
            sources.push_back(i.operands[1]);
            sources.back().name += std::string(".") + component;
        }
    } else if (i.operands.size() == 2) {
        sources = i.operands[1].elements;
    }
    if (i.operands.size() != 2 || i.operands[0].elements.size() != width || sources.size() != width) {
        throw ptx::error(i.where, "mov of vectors takes two of " + std::to_string(width) + " elements");
    }
    const std::vector<operand>& targets = i.operands[0].elements;
    const auto move = [&](const operand& target, const operand& source) {
        ptx::instruction& m = to.emplace_back(i);
        std::erase_if(m.suffixes, [](ptx::suffix s) { return ptx::kind_of(s) == ptx::suffix_kind::vector; });
        m.operands = {target, source};
    };
    bool overlap = false;
    for (unsigned k = 0; k < width; ++k) {
        for (unsigned later = k + 1; later < width; ++later) {
            const operand& read = sources[later];
            overlap = overlap || (targets[k].kind == operand_kind::reg && read.kind == operand_kind::reg &&
                                  targets[k].reg == read.reg);
        }
    }
    if (overlap) {
        for (operand& source : sources) {
            if (source.kind == operand_kind::reg) {
                const ptx::register_declaration copy = f_.registers[source.reg];
                f_.registers.push_back(copy);
                operand kept = source;
                kept.reg = static_cast<std::uint32_t>(f_.registers.size() - 1);
                move(kept, source);
                source = kept;
            }
        }
    }
    for (unsigned k = 0; k < width; ++k) {
        if (targets[k].kind != operand_kind::sink) {
            move(targets[k], sources[k]);
        }
    }
}

void rewriter::split_vectors() {
    const bool has_registers =
        std::ranges::any_of(f_.registers, [](const ptx::register_declaration& r) { return r.vector > 1; });
    if (has_registers) {
        declare_elements();
        for (ptx::instruction& i : f_.instructions) {
            for (operand& o : i.operands) {
                split(o);
            }
        }
    }
    if (std::ranges::any_of(f_.instructions, is_vector_move)) {
        replace_instructions([&](ptx::instruction& i, std::vector<ptx::instruction>& to) {
            if (is_vector_move(i)) {
                append_moves(i, to);
            } else {
                to.push_back(std::move(i));
            }
        });
    }
}

// st.param [result], register, for each result in a register, under the guard of the ret that follows.
void rewriter::append_results(const ptx::instruction& before, std::vector<ptx::instruction>& to) const {
    for (std::uint32_t n = 0; n < results_.size(); ++n) {
        if (results_[n] == no_register) {
            continue;
        }
        ptx::instruction& store = to.emplace_back();
        store.op = ptx::opcode::st;
        store.where = before.where;
        store.predicate = before.predicate;
        store.suffixes = {ptx::suffix::param, f_.returns[n].type};
        operand at;
        at.kind = operand_kind::address;
        at.where = before.where;
        at.name = f_.returns[n].name;
        at.refers_to = ptx::symbol_kind::returned;
        at.target = n;
        operand value;
        value.kind = operand_kind::reg;
        value.where = before.where;
        value.reg = results_[n];
        store.operands = {std::move(at), std::move(value)};
    }
}

void rewriter::return_by_parameters() {
    if (std::ranges::none_of(f_.returns, [](const ptx::variable& v) { return v.space == ptx::suffix::reg; })) {
        return;
    }
    std::uint32_t declared = 0; // results are declared first
    for (ptx::variable& v : f_.returns) {
        results_.push_back(v.space == ptx::suffix::reg ? declared++ : no_register);
        if (v.space == ptx::suffix::reg && (v.type == ptx::suffix::pred || v.vector > 1)) {
            throw ptx::error(v.where, "the result '" + v.name + "' is a predicate or a vector");
        }
        v.space = ptx::suffix::param;
    }
    ptx::instruction end;
    end.op = ptx::opcode::ret;
    end.where = f_.where;
    ptx::statement last;
    last.index = static_cast<std::uint32_t>(f_.instructions.size());
    last.where = f_.where;
    f_.instructions.push_back(std::move(end));
    f_.statements.push_back(std::move(last));
    replace_instructions([&](ptx::instruction& i, std::vector<ptx::instruction>& to) {
        if (i.op == ptx::opcode::ret) {
            append_results(i, to);
        }
        to.push_back(std::move(i));
    });
}

} // namespace

void make_plain(ptx::function& f) {
    rewriter r(f);
    r.split_vectors();
    if (f.is_entry) {
        return;
    }
    r.return_by_parameters();
    if (!f.parameters.empty()) {
        ptx::variable& last = f.parameters.back();
        if (last.is_array && last.dimensions.empty()) {
            last.dimensions.push_back(unsized_parameter_bytes / std::max(1u, ptx::bytes_of(last.type)));
        }
    }
}

} // namespace softgpu::program

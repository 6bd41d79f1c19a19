// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/callees.hpp"

#include "softgpu/memory/alignment.hpp"
#include <algorithm>
#include <map>

#include "softgpu/machine/decode/emit/call_decoder.hpp"
#include "softgpu/machine/module/shared_variables.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;

// The parameters that a body uses otherwise than by ld.param and st.param at a fixed place: they have to be in memory.
std::vector<bool> parameters_in_memory(const ptx::function& f) {
    std::vector<bool> found(f.parameters.size(), false);
    const auto look = [&](const operand& o, bool direct, auto&& self) -> void {
        if (o.refers_to == ptx::symbol_kind::parameter && o.target < found.size() &&
            !(direct && o.kind == operand_kind::address)) {
            found[o.target] = true;
        }
        for (const operand& e : o.elements) {
            self(e, false, self);
        }
    };
    for (const ptx::instruction& i : f.instructions) {
        const bool direct = i.op == opcode::ld || i.op == opcode::st;
        for (const operand& o : i.operands) {
            look(o, direct, look);
        }
    }
    return found;
}

class call_walk {
public:
    // `shared` bytes of the kernel's shared memory are taken.
    call_walk(module::implementation& home, kernel& k, std::uint64_t& shared)
        : home_(home), kernel_(k), shared_(shared) {}

    // Sets kernel::stack_bytes and needs_stack.
    void from_kernel(const ptx::function& f);

private:
    struct visit {
        bool finished = false;
        std::uint64_t stack = 0;
    };

    std::uint64_t below(module::implementation& home, const ptx::function& f); // stack that its callees take at most
    std::uint64_t of(const function_entry& f);
    void all_that_have_addresses();

    module::implementation& home_;
    kernel& kernel_;
    std::uint64_t& shared_;
    std::map<const function_entry*, visit> visits_;
    bool all_ = false;
};

void call_walk::from_kernel(const ptx::function& f) {
    kernel_.stack_bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel_.local_bytes + below(home_, f), 0xFFFFFF00u));
}

std::uint64_t call_walk::below(module::implementation& home, const ptx::function& f) {
    std::uint64_t most = 0;
    for (const ptx::instruction& i : f.instructions) {
        if (i.op == opcode::alloca) {
            kernel_.needs_stack = true;
        }
        if (i.op != opcode::call) {
            continue;
        }
        const operand* const to = callee_operand(i);
        if (to == nullptr || to->kind == operand_kind::reg) {
            kernel_.needs_stack = true;
            all_that_have_addresses();
            continue;
        }
        const function_entry* const entry = home.find_function(to->name);
        if (entry != nullptr && entry->source != nullptr && !entry->source->is_entry) {
            most = std::max(most, of(*entry));
        } else if ((entry == nullptr || entry->source == nullptr) && !comes_from_elsewhere(to->name)) {
            kernel_.facts.unresolved = to->name;
        }
    }
    return most;
}

std::uint64_t call_walk::of(const function_entry& f) {
    const auto [at, fresh] = visits_.try_emplace(&f);
    if (!fresh) {
        kernel_.needs_stack = kernel_.needs_stack || !at->second.finished; // it calls itself
        return at->second.stack;
    }
    const callee& c = callee_of(kernel_, f);
    place_shared(*f.home, kernel_, *f.source, shared_);
    const std::uint64_t stack = call_overhead + c.local_bytes + below(*f.home, *f.source);
    visit& mine = visits_[&f];
    mine.stack = stack;
    mine.finished = true;
    return stack;
}

// What is called by address may be any function.
void call_walk::all_that_have_addresses() {
    if (all_) {
        return;
    }
    all_ = true;
    const auto walk = [&](module::implementation& unit) {
        for (ptx::function& f : unit.parsed->functions) {
            if (f.has_body && !f.is_entry) {
                try {
                    of(*unit.entry_of(f));
                } catch (const ptx::error&) {
                    continue; // its call says so, if there is one
                }
            }
        }
    };
    if (home_.linked->units.empty()) {
        walk(home_);
    }
    for (module::implementation* const unit : home_.linked->units) {
        walk(*unit);
    }
}

} // namespace

callee& callee_of(kernel& k, const function_entry& f) {
    auto& kept = k.callees[&f];
    if (kept) {
        return *kept;
    }
    auto c = std::make_unique<callee>();
    if (!f.source->body_parsed) {
        ptx::parse_body(*f.home->parsed, *f.source);
    }
    program::make_plain(*f.source);
    std::uint64_t local = 0;
    const auto take = [&](const ptx::variable& v) {
        local = round_up(local, std::max(1u, v.aligned_to()));
        c->locals[v.name] = local;
        local += v.bytes();
    };
    for (const ptx::variable& v : f.source->variables) {
        if (v.space == ptx::suffix::local) {
            take(v);
        }
    }
    const std::vector<bool> in_memory = parameters_in_memory(*f.source);
    for (std::size_t n = 0; n < in_memory.size(); ++n) {
        if (in_memory[n]) {
            take(f.source->parameters[n]);
        }
    }
    c->local_bytes = static_cast<std::uint32_t>(round_up(local, 16));
    kept = std::move(c);
    return *kept;
}

void find_callees(module::implementation& home, kernel& k, std::uint64_t& shared) {
    call_walk(home, k, shared).from_kernel(*k.function);
}

} // namespace softgpu::machine

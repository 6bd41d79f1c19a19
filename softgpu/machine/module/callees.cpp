// SPDX-License-Identifier: MIT
// Functions of a module: what their names stand for, and their code as one kernel calls them.
#include <algorithm>
#include <cstdint>

#include "softgpu/machine/module/callees.hpp"
#include "softgpu/machine/module/link_group.hpp"
#include "softgpu/machine/module/module.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

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

} // namespace

const ptx::operand* callee_operand(const ptx::instruction& call) {
    const auto at = std::find_if(call.operands.begin(), call.operands.end(), [](const operand& o) {
        return o.kind == operand_kind::symbol || o.kind == operand_kind::reg;
    });
    return at == call.operands.end() ? nullptr : &*at;
}

const function_entry* module::implementation::entry_of(ptx::function& f) {
    auto& entry = functions[&f];
    if (!entry) {
        entry = std::make_unique<function_entry>();
        entry->name = f.name;
        entry->source = &f;
        entry->home = this;
        entry->address = memory->place_code(entry.get());
    }
    return entry.get();
}

const function_entry* module::implementation::find_function(std::string_view name) {
    ptx::function* f = parsed->find_function(name);
    if (f != nullptr && f->link != ptx::linkage::none && (f->has_body || find_builtin(name) == nullptr)) {
        if (const auto* const chosen = linked->function(name); chosen != nullptr && chosen->thing != f) {
            return chosen->home->entry_of(*chosen->thing);
        }
    }
    if (f == nullptr || !f->has_body) {
        for (const ptx::alias& a : parsed->aliases) {
            if (a.name == name && a.aliasee != name) {
                return find_function(a.aliasee);
            }
        }
    }
    if (f == nullptr) {
        return nullptr;
    }
    if (f->has_body) {
        return entry_of(*f);
    }
    auto& entry = outside[std::string(name)];
    if (!entry) {
        entry = std::make_unique<function_entry>();
        entry->name = std::string(name);
        entry->home = this;
        entry->run = find_builtin(name);
        entry->address = memory->place_code(entry.get());
    }
    return entry.get();
}

symbol_value module::implementation::module_symbol(std::string_view name) {
    if (const auto v = variables.find(name); v != variables.end()) {
        return {symbol_value::kind::global, v->second.address};
    }
    if (const function_entry* const f = find_function(name)) {
        return {symbol_value::kind::function, f->address};
    }
    return {};
}

decode_context module::implementation::context_of(kernel& k, code_variant how) {
    decode_context context;
    context.count = how.count;
    context.adversarial = how.adversarial;
    context.profile = profiling ? &k.profiled : nullptr;
    context.home = parsed.get();
    if (how.looks != 0) {
        auto& sites = k.sites[how];
        if (sites == nullptr) {
            sites = std::make_unique<site_table>();
        }
        context.sites = sites.get();
        context.looks = how.looks;
    }
    context.shared_window = memory->shared_window();
    context.local_window = memory->local_window();
    context.find_function = [this](std::string_view name) { return find_function(name); };
    return context;
}

callee& module::implementation::callee_of(kernel& k, const function_entry& f) {
    auto& kept = k.callees[&f];
    if (kept) {
        return *kept;
    }
    auto c = std::make_unique<callee>();
    c->entry = &f;
    if (!f.source->body_parsed) {
        ptx::parse_body(*f.home->parsed, *f.source);
    }
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

const program_code& module::implementation::code_of(kernel& k, const function_entry& f, code_variant how) {
    callee& c = callee_of(k, f);
    auto& code = c.decoded[how];
    if (!code) {
        if (c.flow.blocks.empty()) {
            c.flow = program::make_control_flow(*f.source);
            c.places = program::place_registers(*f.source, c.flow);
        }
        decode_context context = f.home->context_of(k, how);
        context.resolve = [&](std::string_view name) -> symbol_value {
            if (const auto l = c.locals.find(name); l != c.locals.end()) {
                return {symbol_value::kind::local, l->second};
            }
            const symbol_value shared = f.home->shared_symbol(k, *f.source, name);
            return shared.what == symbol_value::kind::shared ? shared : f.home->module_symbol(name);
        };
        context.local_of_parameter = [&](std::size_t n) {
            const auto l = c.locals.find(f.source->parameters[n].name);
            return l == c.locals.end() ? parameter_area::not_in_memory : static_cast<std::uint32_t>(l->second);
        };
        code = std::make_unique<program_code>(decode(*f.source, c.flow, c.places, context));
        code->local_bytes = c.local_bytes;
    }
    return *code;
}

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
    const callee& c = home_.callee_of(kernel_, f);
    f.home->place_shared(kernel_, *f.source, shared_);
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

} // namespace softgpu::machine

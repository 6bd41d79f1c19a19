// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/kernel_code.hpp"

#include "softgpu/memory/alignment.hpp"
#include <algorithm>

#include "softgpu/machine/module/callees.hpp"
#include "softgpu/machine/module/shared_variables.hpp"
#include "softgpu/machine/module/symbol_names.hpp"

namespace softgpu::machine {

namespace {

// All but resolve.
decode_context context_of(module::implementation& home, kernel& k, code_variant how) {
    decode_context context;
    context.count = how.count;
    context.adversarial = how.adversarial;
    context.profile = home.profiling ? &k.profiled : nullptr;
    context.trace = home.traced.get();
    context.home = home.parsed.get();
    if (how.checks != 0) {
        auto& sites = k.sites[how];
        if (sites == nullptr) {
            sites = std::make_unique<site_table>();
        }
        context.sites = sites.get();
        context.checks = how.checks;
    }
    context.local_window = home.memory->local_window();
    context.find_function = [&home](std::string_view name) { return home.find_function(name); };
    return context;
}

} // namespace

void prepare(module::implementation& home, kernel& k) {
    if (k.prepared) {
        return;
    }
    ptx::function& f = *k.function;
    if (!f.body_parsed) {
        ptx::parse_body(*home.parsed, f);
    }
    program::make_plain(f);
    // Static shared variables in the order met, then dynamic shared memory behind them.
    std::uint64_t local = 0;
    for (const ptx::variable& v : f.variables) {
        if (v.space == ptx::suffix::local) {
            local = round_up(local, v.aligned_to());
            k.symbols[v.name] = {symbol_value::kind::local, local};
            local += v.bytes();
        }
    }
    k.local_bytes = static_cast<std::uint32_t>(round_up(local, 16));
    for (std::size_t n = 0; n < k.facts.parameter_offsets.size(); ++n) {
        k.symbols[f.parameters[n].name] = {symbol_value::kind::parameter, k.facts.parameter_offsets[n]};
    }
    for (const ptx::instruction& i : f.instructions) {
        for (const ptx::operand& o : i.operands) {
            visit_names(o, [&](const std::string& name, bool in_address) {
                const auto known = k.symbols.find(name);
                if (known != k.symbols.end() && known->second.what == symbol_value::kind::parameter &&
                    (!in_address || i.op != ptx::opcode::ld)) {
                    k.uses_parameter_address = true;
                }
            });
        }
    }
    std::uint64_t shared = 0;
    place_shared(home, k, f, shared);
    find_callees(home, k, shared);
    k.shared_bytes = static_cast<std::uint32_t>(shared);
    for (const ptx::variable* const v : k.dynamic) {
        k.shared_places[v] = round_up(shared, std::max(16u, k.shared_alignment));
    }
    k.flow = program::make_control_flow(f);
    k.places = program::place_registers(f, k.flow);
    k.facts.static_shared_bytes = k.shared_bytes;
    k.facts.local_bytes = k.stack_bytes;
    // The compiler's own temporaries and addresses come on top of what is alive.
    k.facts.registers = std::clamp(k.places.live_words + 8, 16u, 255u);
    k.facts.registers_32 = std::max(k.places.live_words_32, 1u);
    k.facts.lets_dependents_start =
        std::any_of(f.instructions.begin(), f.instructions.end(), [](const ptx::instruction& i) {
            return i.op == ptx::opcode::griddepcontrol && i.has(ptx::suffix::launch_dependents);
        });
    k.prepared = true;
}

const program_code& code_of(module::implementation& home, kernel& k, code_variant how) {
    prepare(home, k);
    auto& kept = k.decoded[how];
    if (!kept) {
        decode_context context = context_of(home, k, how);
        context.resolve = [&](std::string_view name) -> symbol_value {
            if (const auto s = k.symbols.find(name); s != k.symbols.end()) {
                return s->second;
            }
            const symbol_value shared = shared_symbol(home, k, *k.function, name);
            return shared.what == symbol_value::kind::shared ? shared : home.symbol(name);
        };
        kept = std::make_unique<program_code>(decode(*k.function, k.flow, k.places, context));
        kept->local_bytes = k.local_bytes;
    }
    return *kept;
}

const program_code& code_of(kernel& k, const function_entry& f, code_variant how) {
    callee& c = callee_of(k, f);
    auto& code = c.decoded[how];
    if (!code) {
        if (c.flow.blocks.empty()) {
            c.flow = program::make_control_flow(*f.source);
            c.places = program::place_registers(*f.source, c.flow);
        }
        decode_context context = context_of(*f.home, k, how);
        context.resolve = [&](std::string_view name) -> symbol_value {
            if (const auto l = c.locals.find(name); l != c.locals.end()) {
                return {symbol_value::kind::local, l->second};
            }
            const symbol_value shared = shared_symbol(*f.home, k, *f.source, name);
            return shared.what == symbol_value::kind::shared ? shared : f.home->symbol(name);
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

} // namespace softgpu::machine

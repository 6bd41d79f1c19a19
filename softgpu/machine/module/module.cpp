// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/module.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "softgpu/machine/module/callees.hpp"
#include "softgpu/machine/module/constant_address.hpp"
#include "softgpu/machine/module/link_group.hpp"

namespace softgpu::machine {

namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return to == 0 ? value : (value + to - 1) / to * to; }

template <class Visit>
void visit_names(const ptx::operand& o, Visit&& visit) {
    if (!o.name.empty() && (o.kind == ptx::operand_kind::symbol || o.kind == ptx::operand_kind::address)) {
        visit(o.name, o.kind == ptx::operand_kind::address);
    }
    for (const ptx::operand& e : o.elements) {
        visit_names(e, visit);
    }
}

} // namespace

void module::implementation::write_initial(const ptx::variable& v, std::byte* at) {
    const std::uint32_t width = ptx::bytes_of(v.type);
    std::uint64_t offset = 0;
    for (const ptx::initial_value& value : v.initial) {
        std::uint64_t bits = value.bits;
        if (!value.symbol.empty()) {
            const auto found = variables.find(value.symbol);
            const function_entry* const f = found == variables.end() ? find_function(value.symbol) : nullptr;
            bits = found != variables.end() ? found->second.address : f != nullptr ? f->address : 0;
            bits = bits == 0 ? 0 : bits + static_cast<std::uint64_t>(value.offset);
            if (value.mask != 0) {
                bits = (bits & value.mask) >> (static_cast<unsigned>(__builtin_ctzll(value.mask)));
            }
        }
        if (offset + width > v.bytes()) {
            break;
        }
        std::memcpy(at + offset, &bits, std::min<std::uint32_t>(width, 8));
        offset += width;
    }
}

ptx::module& module::implementation::get() {
    if (!parsed) {
        parse_outline();
        place_variables();
        initialise_variables();
    }
    return *parsed;
}

void module::implementation::parse_outline() {
    if (!parsed) {
        auto fresh = std::make_unique<ptx::module>(ptx::parse(text, ptx::bodies::later));
        parsed = std::move(fresh);
        text.clear();
        text.shrink_to_fit();
        for (const std::string& t : parsed->target) {
            if (t.starts_with("sm_")) {
                std::from_chars(t.data() + 3, t.data() + t.size(), target);
            }
        }
    }
}

void module::implementation::place_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const bool constant = v.space == ptx::suffix::const_;
        if ((v.space != ptx::suffix::global && !constant) || v.link == ptx::linkage::external || v.bytes() == 0) {
            continue;
        }
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        if (variables.contains(v.name) || (chosen != nullptr && chosen->thing != &v)) {
            continue;
        }
        const auto kind = constant    ? memory::allocation_kind::constant
                          : v.managed ? memory::allocation_kind::managed
                                      : memory::allocation_kind::variable;
        const memory::address at = memory->allocate(v.bytes(), kind, v.name);
        std::memset(reinterpret_cast<void*>(at), 0, v.bytes());
        variables.emplace(v.name, variable_place{at, v.bytes(), constant, v.managed});
        owned.push_back(at);
        if (constant) {
            constant_bytes += static_cast<std::uint32_t>(v.bytes());
        }
    }
}

void module::implementation::join_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        if (chosen == nullptr || chosen->home == this) {
            continue;
        }
        if (const auto there = chosen->home->variables.find(v.name); there != chosen->home->variables.end()) {
            variables.emplace(v.name, there->second);
        }
    }
}

void module::implementation::initialise_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        const auto found = variables.find(v.name);
        if (found != variables.end() && !v.initial.empty() && (chosen == nullptr || chosen->thing == &v)) {
            write_initial(v, reinterpret_cast<std::byte*>(found->second.address));
        }
    }
}

void module::implementation::place_shared(kernel& k, const ptx::function& f, std::uint64_t& shared) {
    const auto take = [&](const ptx::variable& v) {
        const auto [at, is_new] = k.shared_places.try_emplace(&v, 0);
        if (!is_new) {
            return;
        }
        k.shared_alignment = std::max(k.shared_alignment, v.aligned_to());
        if (v.bytes() == 0 || v.link == ptx::linkage::external) {
            k.dynamic.push_back(&v);
            return;
        }
        shared = round_up(shared, v.aligned_to());
        at->second = shared;
        shared += v.bytes();
    };
    for (const ptx::variable& v : f.variables) {
        if (v.space == ptx::suffix::shared) {
            take(v);
        }
    }
    for (const ptx::instruction& i : f.instructions) {
        for (const ptx::operand& o : i.operands) {
            k.uses_reserved_shared = k.uses_reserved_shared ||
                                     (o.kind == ptx::operand_kind::special && o.name.starts_with("%reserved_smem"));
            visit_names(o, [&](const std::string& name, bool) {
                if (const ptx::variable* const v = shared_variable(f, name)) {
                    take(*v);
                }
            });
        }
    }
}

const ptx::variable* module::implementation::shared_variable(const ptx::function& f, std::string_view name) {
    for (const ptx::variable& v : f.variables) {
        if (v.name == name) {
            return v.space == ptx::suffix::shared ? &v : nullptr;
        }
    }
    const ptx::variable* const v = parsed->find_variable(name);
    if (v == nullptr || v->space != ptx::suffix::shared) {
        return nullptr;
    }
    const auto* const chosen = v->link == ptx::linkage::none ? nullptr : linked->variable(name);
    return chosen == nullptr ? v : chosen->thing;
}

symbol_value module::implementation::shared_symbol(const kernel& k, const ptx::function& f, std::string_view name) {
    const ptx::variable* const v = shared_variable(f, name);
    const auto at = v == nullptr ? k.shared_places.end() : k.shared_places.find(v);
    return at == k.shared_places.end() ? symbol_value{} : symbol_value{symbol_value::kind::shared, at->second};
}

void module::implementation::prepare(kernel& k) {
    if (k.prepared) {
        return;
    }
    ptx::function& f = *k.function;
    if (!f.body_parsed) {
        ptx::parse_body(*parsed, f);
    }
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
    place_shared(k, f, shared);
    call_walk(*this, k, shared).from_kernel(f);
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
    k.prepared = true;
}

std::uint64_t whole_constant_address(const launch_state& l, std::uint32_t bits) {
    const auto in = [bits](const module::implementation& unit) -> std::uint64_t {
        for (const auto& [name, v] : unit.variables) {
            const std::uint32_t from_base = bits - static_cast<std::uint32_t>(v.address);
            if (v.constant && from_base < v.bytes) {
                return v.address + from_base;
            }
        }
        return 0;
    };
    std::uint64_t found = in(*l.home);
    for (const module::implementation* const unit : l.home->linked->units) {
        found = found == 0 ? in(*unit) : found;
    }
    return found == 0 ? bits : found;
}

const program_code& module::implementation::code_of(kernel& k, code_variant how) {
    prepare(k);
    auto& kept = k.decoded[how];
    if (!kept) {
        decode_context context = context_of(k, how);
        context.resolve = [&](std::string_view name) -> symbol_value {
            if (const auto s = k.symbols.find(name); s != k.symbols.end()) {
                return s->second;
            }
            const symbol_value shared = shared_symbol(k, *k.function, name);
            return shared.what == symbol_value::kind::shared ? shared : module_symbol(name);
        };
        kept = std::make_unique<program_code>(decode(*k.function, k.flow, k.places, context));
        kept->local_bytes = k.local_bytes;
    }
    return *kept;
}

module::module(std::string ptx, memory::device_memory& memory) :self_(std::make_unique<implementation>()) {
    self_->text = std::move(ptx);
    self_->memory = &memory;
    self_->linked = std::make_shared<link_group>();
}

module::~module() {
    for (const memory::address at : self_->owned) {
        self_->memory->release(at);
    }
    for (const auto& [source, entry] : self_->functions) {
        self_->memory->remove_code(entry.get());
    }
    for (const auto& [name, entry] : self_->outside) {
        self_->memory->remove_code(entry.get());
    }
}

const kernel* module::find_kernel(std::string_view name) {
    const std::lock_guard lock(self_->linked->mutex);
    if (const auto known = self_->kernels.find(name); known != self_->kernels.end()) {
        return known->second.get();
    }
    ptx::function* const f = self_->get().find_function(name);
    if (f == nullptr || !f->is_entry || !f->has_body) {
        return nullptr;
    }
    auto k = std::make_unique<kernel>();
    k->name = std::string(name);
    k->function = f;
    std::uint64_t offset = 0;
    for (const ptx::variable& p : f->parameters) {
        offset = round_up(offset, p.aligned_to());
        k->facts.parameter_offsets.push_back(static_cast<std::uint32_t>(offset));
        k->facts.parameter_sizes.push_back(static_cast<std::uint32_t>(p.bytes()));
        offset += p.bytes();
    }
    k->facts.parameter_bytes = static_cast<std::uint32_t>(offset);
    const auto threads = [](const std::uint32_t(&n)[3]) {
        return n[0] == 0 ? 0 : n[0] * std::max(1u, n[1]) * std::max(1u, n[2]);
    };
    k->facts.maxntid = threads(f->maxntid);
    std::copy(std::begin(f->reqntid), std::end(f->reqntid), std::begin(k->facts.reqntid));
    k->facts.ptx_target = self_->target;
    k->facts.constant_bytes = self_->constant_bytes;
    return self_->kernels.emplace(k->name, std::move(k)).first->second.get();
}

std::vector<std::string> module::kernel_names() {
    const std::lock_guard lock(self_->linked->mutex);
    std::vector<std::string> names;
    for (const ptx::function& f : self_->get().functions) {
        if (f.is_entry && f.has_body) {
            names.push_back(f.name);
        }
    }
    return names;
}

variable_place module::find_variable(std::string_view name) {
    const std::lock_guard lock(self_->linked->mutex);
    self_->get();
    const auto found = self_->variables.find(name);
    return found == self_->variables.end() ? variable_place{} : found->second;
}

void module::profile() {
    const std::lock_guard lock(self_->linked->mutex);
    self_->profiling = true;
}

std::vector<observe::profile_point> module::profile_points(const kernel& k) {
    const std::lock_guard lock(self_->linked->mutex);
    return k.profiled.described();
}

const kernel_facts& module::facts(const kernel& k) {
    const std::lock_guard lock(self_->linked->mutex);
    self_->prepare(const_cast<kernel&>(k));
    return k.facts;
}

} // namespace softgpu::machine

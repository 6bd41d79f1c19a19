// SPDX-License-Identifier: MIT
// The interface of a module (softgpu/machine/launch.hpp).
#include <algorithm>
#include <iterator>

#include "softgpu/machine/module/kernel_code.hpp"
#include "softgpu/memory/alignment.hpp"

namespace softgpu::machine {

module::module(std::string ptx, memory::device_memory& memory) :self_(std::make_unique<implementation>()) {
    self_->front = this;
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
    k->facts.least_blocks = f->minnctapersm;
    k->facts.maxnreg = f->maxnreg;
    std::copy(std::begin(f->reqntid), std::end(f->reqntid), std::begin(k->facts.reqntid));
    std::copy(std::begin(f->reqnctapercluster), std::end(f->reqnctapercluster), std::begin(k->facts.cluster));
    k->facts.most_cluster_blocks = f->maxclusterrank;
    k->facts.needs_cluster = f->explicitcluster;
    k->facts.blocks_are_clusters = f->blocksareclusters;
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
    prepare(*self_, const_cast<kernel&>(k));
    return k.facts;
}

void module::check_bodies(const kernel& k) {
    const std::lock_guard lock(self_->linked->mutex);
    auto& own = const_cast<kernel&>(k);
    static_cast<void>(code_of(*self_, own, {}));
    std::vector<const function_entry*> called;
    for (const auto& [entry, callee] : own.callees) {
        called.push_back(entry);
    }
    for (const function_entry* const entry : called) {
        static_cast<void>(code_of(own, *entry, {}));
    }
}

} // namespace softgpu::machine

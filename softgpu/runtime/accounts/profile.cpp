// SPDX-License-Identifier: MIT
#include "softgpu/runtime/accounts/profile.hpp"

#include <algorithm>

namespace softgpu::runtime {

profile& profile::instance() {
    static profile& only = *new profile; // never destroyed: static destructors launch kernels too
    return only;
}

// The entry of the same kernel, that is of the same code as far as both list it.
std::size_t profile::find(const observe::kernel_profile& fresh) {
    for (std::size_t n = 0; n < kernels_.size(); ++n) {
        const observe::kernel_profile& k = kernels_[n];
        const std::size_t both = std::min(k.points.size(), fresh.points.size());
        if (k.symbol == fresh.symbol &&
            std::equal(k.points.begin(), k.points.begin() + static_cast<std::ptrdiff_t>(both), fresh.points.begin(),
                       [](const auto& a, const auto& b) { return a.ptx == b.ptx && a.function == b.function; })) {
            return n;
        }
    }
    kernels_.push_back(fresh);
    return kernels_.size() - 1;
}

void profile::add(machine::module& owner, const machine::kernel& kernel, const std::string& demangled,
                  const std::string& symbol, const std::vector<observe::point_counts>& counts) {
    const std::lock_guard lock(mutex_);
    const auto key = std::pair(&kernel, symbol);
    auto known = known_.find(key);
    if (known == known_.end() || kernels_[known->second].points.size() < counts.size()) {
        observe::kernel_profile fresh{
            .kernel = demangled, .symbol = symbol, .launches = 0, .points = owner.profile_points(kernel), .counts = {}};
        const std::size_t at = find(fresh);
        if (kernels_[at].points.size() < fresh.points.size()) {
            kernels_[at].points = std::move(fresh.points); // this launch has called further functions
        }
        known = known_.insert_or_assign(key, at).first;
    }
    observe::kernel_profile& k = kernels_[known->second];
    ++k.launches;
    k.counts.resize(std::max(k.counts.size(), counts.size()));
    for (std::size_t n = 0; n < counts.size(); ++n) {
        k.counts[n].add(counts[n]);
    }
}

void profile::write(const std::string& path, const observe::device_facts& device, bool finished) {
    const std::lock_guard lock(mutex_);
    observe::write_profile(path, device, kernels_, finished);
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
#include "softgpu/check/findings/memories.hpp"

#include <algorithm>

#include "softgpu/check/findings/describe_address.hpp"

namespace softgpu::check {

void memories::remove(const memory::device_memory& one) {
    std::erase_if(all_, [&](const watched& w) { return w.memory == &one; });
}

const memories::watched* memories::home_of(std::uint64_t at) const {
    auto home = std::ranges::find_if(all_, [at](const watched& w) { return w.memory->reserves(at); });
    if (home == all_.end()) { // memory of the host that a device has adopted
        home = std::ranges::find_if(all_, [at](const watched& w) { return w.memory->find(at).has_value(); });
    }
    return home == all_.end() ? nullptr : &*home;
}

std::optional<memory::allocation> memories::find(std::uint64_t at) const {
    const watched* const home = home_of(at);
    return home == nullptr ? std::nullopt : home->memory->find(at);
}

std::optional<memory::allocation> memories::find_released(std::uint64_t at) const {
    const watched* const home = home_of(at);
    return home == nullptr ? std::nullopt : home->memory->find_released(at);
}

std::string memories::owner_of(const memory::device_memory& one) const {
    const auto found = std::ranges::find(all_, &one, &watched::memory);
    return found == all_.end() || found->device < 0 ? "" : " of device " + std::to_string(found->device);
}

std::string memories::describe(std::uint64_t at) const {
    const watched* const home = home_of(at);
    if (home == nullptr) {
        return all_.empty() ? "nothing is allocated" : describe_address(*all_.front().memory, at);
    }
    const std::string text = describe_address(*home->memory, at);
    return home->device < 0 ? text : "device " + std::to_string(home->device) + ", " + text;
}

} // namespace softgpu::check

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/device/conditions.hpp"

#include <map>
#include <mutex>

namespace softgpu::runtime {
namespace {

// Never destroyed: kernels may still run while the process ends.
struct all_conditions {
    std::mutex mutex;
    std::map<std::uint64_t, std::weak_ptr<condition>> by_handle;
    std::uint64_t last = 0;
};

all_conditions& all() {
    static all_conditions& only = *new all_conditions;
    return only;
}

} // namespace

std::shared_ptr<condition> make_condition(unsigned initial, bool is_reset) {
    const std::lock_guard lock(all().mutex);
    std::erase_if(all().by_handle, [](const auto& c) { return c.second.expired(); });
    auto made = std::make_shared<condition>();
    made->handle = ++all().last;
    made->initial = initial;
    made->is_reset = is_reset;
    made->value = initial;
    all().by_handle[made->handle] = made;
    return made;
}

std::shared_ptr<condition> find_condition(std::uint64_t handle) {
    const std::lock_guard lock(all().mutex);
    const auto at = all().by_handle.find(handle);
    return at == all().by_handle.end() ? nullptr : at->second.lock();
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/device_part.hpp"

#include <atomic>

namespace softgpu::runtime {

std::size_t device_parts::next_place() noexcept {
    static std::atomic<std::size_t> next{0};
    return next++;
}

std::set<memory::address> device_parts::unused_memory() const {
    std::set<memory::address> found;
    for (const auto& part : parts_) {
        if (part != nullptr) {
            part->add_unused(found);
        }
    }
    return found;
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/device_part.hpp"

#include <map>
#include <mutex>

namespace softgpu::runtime {

std::size_t device_parts::place_of(std::type_index part) {
    static std::mutex& access = *new std::mutex; // never destroyed: static destructors make calls too
    static auto& places = *new std::map<std::type_index, std::size_t>;
    const std::lock_guard lock(access);
    return places.try_emplace(part, places.size()).first->second;
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

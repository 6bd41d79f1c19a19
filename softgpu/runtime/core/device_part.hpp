// SPDX-License-Identifier: MIT
// Subsystems keep their objects in parts of the device state, so that the core does not depend on them.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::runtime {

class device_part {
public:
    virtual ~device_part() = default;
    // Adds the addresses that this part keeps allocated while the program does not hold them. They are no leaks.
    virtual void add_unused(std::set<memory::address>& /*to*/) const {}
};

// One object of each type derived from device_part, created on first use. Guarded by the context's lock.
class device_parts {
public:
    explicit device_parts(memory::device_memory& memory) : memory_(memory) {}

    template <class Part>
    [[nodiscard]] Part& get() {
        static const std::size_t place = place_of(typeid(Part));
        if (parts_.size() <= place) {
            parts_.resize(place + 1);
        }
        if (parts_[place] == nullptr) {
            if constexpr (std::is_constructible_v<Part, memory::device_memory&>) {
                parts_[place] = std::make_unique<Part>(memory_);
            } else {
                parts_[place] = std::make_unique<Part>();
            }
        }
        return static_cast<Part&>(*parts_[place]);
    }

    [[nodiscard]] std::set<memory::address> unused_memory() const;

private:
    // The same in every library of the process.
    static std::size_t place_of(std::type_index part);

    memory::device_memory& memory_;
    std::vector<std::unique_ptr<device_part>> parts_; // by type
};

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The device memories that a session watches. They change only while nothing runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {

class memories {
public:
    // `device`: its number where there are several; -1: of none, or the only one.
    void add(memory::device_memory& one, int device) { all_.push_back({&one, device}); }
    void remove(const memory::device_memory& one);

    [[nodiscard]] bool several() const noexcept { return all_.size() > 1; }
    template <class Body>
    void each(Body&& body) const {
        for (const watched& w : all_) {
            body(*w.memory);
        }
    }

    [[nodiscard]] std::optional<memory::allocation> find(std::uint64_t at) const;
    [[nodiscard]] std::optional<memory::allocation> find_released(std::uint64_t at) const;
    // " of device 1", where there are several.
    [[nodiscard]] std::string owner_of(const memory::device_memory& one) const;
    // What is at this address, with the device's number where there are several.
    [[nodiscard]] std::string describe(std::uint64_t at) const;

private:
    struct watched {
        memory::device_memory* memory;
        int device;
    };

    // Whose address it is; nullptr: of none.
    [[nodiscard]] const watched* home_of(std::uint64_t at) const;

    std::vector<watched> all_;
};

} // namespace softgpu::check

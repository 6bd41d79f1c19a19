// SPDX-License-Identifier: MIT
// What one launch did, in figures. One table (counters.def) makes the fields, the names and the sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace softgpu::observe {

struct counters {
#define SOFTGPU_COUNTER(name, combine, meaning) std::uint64_t name = 0;
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER

    void add(const counters& other) noexcept {
        const auto sum = [](std::uint64_t a, std::uint64_t b) { return a + b; };
        const auto max = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
#define SOFTGPU_COUNTER(name, combine, meaning) name = combine(name, other.name);
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
    }

    bool operator==(const counters&) const = default;

    // Active lanes of 32, on average over the instructions executed; 0 where nothing was.
    [[nodiscard]] double average_active_lanes() const noexcept {
        return warp_instructions == 0
                   ? 0.0
                   : static_cast<double>(thread_instructions) / static_cast<double>(warp_instructions);
    }
    [[nodiscard]] std::uint64_t global_bytes_requested() const noexcept {
        return global_load_bytes + global_store_bytes;
    }
    [[nodiscard]] std::uint64_t global_bytes_moved() const noexcept {
        return 32 * (global_load_sectors + global_store_sectors);
    }
};

// Calls visit(name, value, meaning) for every counter, in the order of the table.
template <class Visitor>
void for_each_counter(const counters& c, Visitor&& visit) {
#define SOFTGPU_COUNTER(name, combine, meaning) visit(std::string_view(#name), c.name, std::string_view(meaning));
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
}

} // namespace softgpu::observe

// SPDX-License-Identifier: MIT
// The special registers that are supported, and the source of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::machine {

struct special {
    enum class kind : std::uint8_t { by_launch, by_warp, by_lane, clock };
    kind what;
    unsigned value; // a `uniform`, a `per_warp`, or the number of the lane function or clock
};

// "%tid.x" and so on; nothing for an unsupported register.
[[nodiscard]] std::optional<special> find_special(std::string_view name);

// The value of a register of kind by_lane.
[[nodiscard]] std::uint32_t lane_value(unsigned function, unsigned lane);

} // namespace softgpu::machine

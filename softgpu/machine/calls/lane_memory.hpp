// SPDX-License-Identifier: MIT
// Access to memory by a generic address, for builtins; not for handlers, since it is slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

class lane_memory {
public:
    // Faults name instruction `i`.
    lane_memory(warp* w, const instruction* i, unsigned lane) : w_(w), i_(i), lane_(lane) {}

    // nullptr: a fault was raised.
    [[nodiscard]] const std::byte* read(std::uint64_t at, std::uint64_t bytes) { return reach(at, bytes, false); }
    [[nodiscard]] std::byte* write(std::uint64_t at, std::uint64_t bytes) { return reach(at, bytes, true); }
    // Up to its zero, which is not part of it. Nothing: a fault was raised.
    [[nodiscard]] std::optional<std::string> text(std::uint64_t at);

private:
    std::byte* reach(std::uint64_t at, std::uint64_t bytes, bool writes);

    warp* w_;
    const instruction* i_;
    unsigned lane_;
};

} // namespace softgpu::machine

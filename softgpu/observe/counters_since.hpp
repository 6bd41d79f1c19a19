// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "softgpu/observe/counters.hpp"

namespace softgpu::observe {

// What came between two states of the same counters. The most of something is that of the later state.
[[nodiscard]] inline counters since(const counters& earlier, const counters& later) noexcept {
    const auto sum = [](std::uint64_t then, std::uint64_t now) { return now - then; };
    const auto max = [](std::uint64_t /*then*/, std::uint64_t now) { return now; };
    counters between;
#define SOFTGPU_COUNTER(name, combine, meaning) between.name = combine(earlier.name, later.name);
#include "softgpu/observe/counters.def"
#undef SOFTGPU_COUNTER
    return between;
}

} // namespace softgpu::observe

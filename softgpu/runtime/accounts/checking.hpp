// SPDX-License-Identifier: MIT
// The checks that SOFTGPU_CHECK or a recording asks for: one session for all devices.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/check/session.hpp"
#include "softgpu/memory/address_space.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime::checking {

// Begins the checks of memories in these addresses; they are the current ones until the session is destroyed. nullptr: none
// are on.
[[nodiscard]] std::unique_ptr<check::session> begin(const settings& options, const memory::address_space& addresses);

// Reports the device's allocations with a serial number above `after` that are not freed, unless graphs keep them. After a
// kernel has failed nothing is reported, because the program could not free any more.
void find_leaks(context& gpu, std::uint64_t after = 0) noexcept;

} // namespace softgpu::runtime::checking

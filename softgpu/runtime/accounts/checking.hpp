// SPDX-License-Identifier: MIT
// The checks that SOFTGPU_CHECK or a recording asks for: one session per device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include "softgpu/check/session.hpp"
#include "softgpu/runtime/core/settings.hpp"

namespace softgpu::runtime::checking {

// Begins the checks of a device memory; they are the current ones until the session is destroyed. nullptr: none are on.
[[nodiscard]] std::unique_ptr<check::session> begin(const settings& options, memory::device_memory& memory);

// Reports allocations with a serial number above `after` that are not freed, except those in `unused`.
void find_leaks(check::session& s, std::uint64_t after, const std::set<memory::address>& unused);
// The same for all allocations of the current checks, when the device memory or the process ends. After a kernel has failed
// nothing is reported, because the program could not free any more.
void find_leaks_at_end(bool has_failed, const std::set<memory::address>& unused) noexcept;

} // namespace softgpu::runtime::checking

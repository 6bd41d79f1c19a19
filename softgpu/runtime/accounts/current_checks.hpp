// SPDX-License-Identifier: MIT
// The checks of the process, as the code that touches memory sees them.
#pragma once

#include <cstdint>

#include "softgpu/check/session.hpp"

namespace softgpu::runtime::checking {

// nullptr: none are on.
[[nodiscard]] check::session* current() noexcept;
void set_current(check::session* session) noexcept;
// Only if it is the current one.
void clear_current(check::session* session) noexcept;

// An access by the host or by a copy, right after it was made.
void written(const void* at, std::uint64_t bytes) noexcept;
void copied(const void* to, const void* from, std::uint64_t bytes) noexcept;

} // namespace softgpu::runtime::checking

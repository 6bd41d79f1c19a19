// SPDX-License-Identifier: MIT
// The checks that SOFTGPU_CHECK asks for: one session for the device memory of the moment, the findings of the process,
// and their report on stderr and in the file that SOFTGPU_CHECK_JSON names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "softgpu/check/session.hpp"

namespace softgpu::runtime {

struct settings;

namespace checking {

// nullptr where no check is on. The session is the current one until it ends.
[[nodiscard]] std::unique_ptr<check::session> begin(const settings& options, memory::device_memory& memory);
// The session of the moment, or nullptr.
[[nodiscard]] check::session* current() noexcept;

// The host's or a copy's own access, right after it was made.
void written(const void* at, std::uint64_t bytes) noexcept;
void copied(const void* to, const void* from, std::uint64_t bytes) noexcept;

// A launch is over: after a fault what was found is printed at once, since the program may abort.
void launched(const settings& options, bool fault) noexcept;
// The device memory, or the process, comes to its end: what is left in it? After a kernel's fault nothing could be freed
// any more.
void memory_ends(bool poisoned) noexcept;
// Prints what has not been printed yet and writes the file.
void report_all(const settings& options) noexcept;

} // namespace checking
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Launches that were refused. The syntax kernel<<<...>>>() discards the error of its launch: the program sees it only if it
// reads its last error. If it never does, the checks of memory report a finding.
#pragma once

#include <cstdint>
#include <string>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"

namespace softgpu::runtime::refused_launches {

// The thread's next launch is one by <<<>>>.
void begin_launch_syntax() noexcept;
// Whether the present launch is one; resets the mark.
[[nodiscard]] bool take_launch_syntax() noexcept;

struct refused_launch {
    std::string kernel; // demangled; empty: the kernel is not known
    std::string symbol;
    dimensions grid{};
    dimensions block{};
    std::uint64_t dynamic_shared_bytes = 0;
    error reason = error::success;
};

// Adds the launch to the open recordings. One by <<<>>> becomes a finding unless the thread reads its last error first.
void add(const refused_launch& launch, bool by_syntax) noexcept;

// The thread has read its last error.
void last_error_read() noexcept;
// Another error replaces the thread's last error, which was not read: reports the finding.
void last_error_replaced() noexcept;
// Reports the findings of all threads: the program can read no error any more.
void report_unread_errors() noexcept;

} // namespace softgpu::runtime::refused_launches

// SPDX-License-Identifier: MIT
// Launches by <<<>>> that were refused: the syntax throws the error away, so that the program knows of it only where it
// asks for its last error. Where it never does, the checks of memory have a finding.
#pragma once

#include <cstdint>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"

namespace softgpu::runtime {

struct function;

namespace refused {

// The thread's next launch is one by <<<>>>.
void begin_launch_syntax() noexcept;
// Whether it is; the one after it is none.
[[nodiscard]] bool take_launch_syntax() noexcept;

// A launch did not come to be. `what`: nullptr where the kernel is not known. It is in the recordings that are open, with
// its fault; and, by <<<>>>, waits for somebody to ask for the error.
void launch(const function* what, const dimensions& grid, const dimensions& block, std::uint64_t dynamic_shared_bytes,
            error why, bool by_syntax) noexcept;

// What becomes of the thread's last error.
void last_error_asked_for() noexcept;
void last_error_overwritten() noexcept;
// Nobody can ask any more, in any thread.
void nobody_asks() noexcept;

} // namespace refused
} // namespace softgpu::runtime

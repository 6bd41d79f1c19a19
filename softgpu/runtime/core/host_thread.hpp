// SPDX-License-Identifier: MIT
// Numbers for the threads of the program. Unlike std::thread::id none is given again to a later thread.
#pragma once

#include <cstdint>

namespace softgpu::runtime::host_thread {

// Of the calling thread: 0 for the first one that calls.
[[nodiscard]] std::uint64_t number();
[[nodiscard]] bool has_ended(std::uint64_t number);

} // namespace softgpu::runtime::host_thread

// SPDX-License-Identifier: MIT
// Threads of the host that wait for the next launch, so that a launch does not have to start any.
#pragma once

#include <functional>

namespace softgpu::machine {

// Calls work(0) ... work(count - 1) at the same time, work(0) on the calling thread, and returns when all have returned.
// work must not throw. Calls from several threads follow one another.
void run_on_workers(unsigned count, const std::function<void(unsigned)>& work);

} // namespace softgpu::machine

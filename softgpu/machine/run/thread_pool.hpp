// SPDX-License-Identifier: MIT
// Threads of the host that help launches, so that a launch does not have to start any.
#pragma once

#include <functional>

namespace softgpu::machine {

// Calls work(0) on the calling thread and, at the same time, work(1), work(2), ... up to work(count - 1) on threads that
// have nothing else to do, as they come free; returns when work(0) and all others that have begun have returned. At least
// work(0) is called, so work must finish by itself. It must not throw. Calls from several threads run at the same time.
void run_on_workers(unsigned count, const std::function<void(unsigned)>& work);

} // namespace softgpu::machine

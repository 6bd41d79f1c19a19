// SPDX-License-Identifier: MIT
// Threads of the host that launches share, so that a launch starts none.
#pragma once

#include <functional>

namespace softgpu::machine {

// Calls work(0) on the calling thread and, concurrently, work(1) to work(count - 1) on idle threads of the pool as they
// become free. Returns when work(0) and all others that have begun have returned. Only work(0) is certain to be called, so
// it must be able to finish alone. work must not throw. Thread-safe.
void run_on_workers(unsigned count, const std::function<void(unsigned)>& work);

} // namespace softgpu::machine

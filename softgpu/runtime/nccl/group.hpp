// SPDX-License-Identifier: MIT
// The calls of a thread's group, which wait for the other ranks when it ends, and how exceptions become results.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/nccl/clique.hpp"

namespace softgpu::runtime::nccl {

struct waiting_call {
    std::shared_ptr<clique> all; // its communicator may be aborted meanwhile
    std::shared_ptr<meeting> at;
};
// A call with ranks in other processes; a group's receives come last, so that no process waits before it has sent.
struct process_call {
    std::function<void()> issue;
    bool receives = false;
};
struct thread_group {
    int depth = 0;
    ncclResult_t result = ncclSuccess; // the first error in it
    std::vector<waiting_call> calls;
    std::vector<process_call> of_processes;
};
inline thread_local thread_group group;

// The lock of the devices guards communicators, too.
inline locked lock_devices() { return locked(all_devices().at(0).mutex()); }

[[nodiscard]] ncclResult_t result_of(const failure& f);

// Runs body(), which may throw failure.
template <class Body>
ncclResult_t guarded(Body&& body) noexcept {
    ncclResult_t result = ncclSystemError;
    try {
        result = body();
    } catch (const failure& f) {
        result = result_of(f);
    } catch (const memory::out_of_memory&) {
        result = ncclUnhandledCudaError;
    } catch (const std::exception& e) {
        report(e.what());
    }
    if (group.depth != 0 && group.result == ncclSuccess) {
        group.result = result;
    }
    return result;
}

// Waits for the other ranks here, or at the end of the group.
ncclResult_t wait_for_ranks(waiting_call made);

} // namespace softgpu::runtime::nccl

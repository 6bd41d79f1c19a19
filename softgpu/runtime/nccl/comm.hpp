// SPDX-License-Identifier: MIT
// What the exported calls share: communicators, groups, and how exceptions become results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/nccl/clique.hpp"
#include "softgpu/runtime/nccl/process_clique.hpp"

struct ncclComm {
    std::shared_ptr<softgpu::runtime::nccl::clique> all;
    int rank = 0;
    int device = 0;
    std::string folder{}; // where ranks of other processes join; empty: there are none
    std::unique_ptr<softgpu::runtime::nccl::process_clique> others{};
};

namespace softgpu::runtime::nccl {

// Calls of this thread's group that wait for other ranks.
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

[[nodiscard]] ncclResult_t result_of(const failure& f);

// Runs body(), which may throw failure.
template <class Body>
ncclResult_t guarded(Body&& body) noexcept {
    ncclResult_t result = ncclSystemError;
    try {
        result = body();
    } catch (const failure& f) {
        result = result_of(f);
    } catch (const std::exception& e) {
        report(e.what());
    }
    if (group.depth != 0 && group.result == ncclSuccess) {
        group.result = result;
    }
    return result;
}

template <class Body>
ncclResult_t with(ncclComm_t comm, Body&& body) noexcept {
    return guarded([&] { return comm == nullptr ? ncclInvalidArgument : (body(*comm), ncclSuccess); });
}

// Waits for the ranks of all these calls; the first error.
ncclResult_t wait_for_all(std::vector<waiting_call> calls);

// Whether the ranks are in other processes. Waits for that to show: until all ranks of the communicator have joined here, or
// one elsewhere.
bool is_of_processes(ncclComm& comm);

// Throws failure unless the device can access it.
void require_memory(context& gpu, const void* at, std::size_t bytes);

} // namespace softgpu::runtime::nccl

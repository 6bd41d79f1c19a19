// SPDX-License-Identifier: MIT
#include "softgpu/runtime/nccl/group.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::runtime::nccl {
namespace {

// The first error.
ncclResult_t wait_for_all(const std::vector<waiting_call>& calls) {
    ncclResult_t result = ncclSuccess;
    locked lock = lock_devices();
    for (const waiting_call& c : calls) {
        const ncclResult_t one = c.all->wait(lock, c.at);
        result = result == ncclSuccess ? one : result;
    }
    return result;
}

// Nobody shall wait for the rest of a group with a wrong call, nor use its streams.
void give_up(const std::vector<waiting_call>& calls, ncclResult_t result) {
    const locked lock = lock_devices();
    for (const waiting_call& c : calls) {
        clique::give_up(*c.at, result);
    }
}

// Sends come first.
void issue(std::vector<process_call> calls) {
    std::ranges::stable_partition(calls, [](const process_call& c) { return !c.receives; });
    const locked lock = lock_devices();
    for (const process_call& c : calls) {
        c.issue();
    }
}

} // namespace

ncclResult_t wait_for_ranks(waiting_call made) {
    if (group.depth == 0) {
        return wait_for_all({std::move(made)});
    }
    group.calls.push_back(std::move(made));
    return ncclSuccess;
}

} // namespace softgpu::runtime::nccl

using namespace softgpu::runtime::nccl;

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (group.depth == 0) {
        return ncclInvalidUsage;
    }
    if (--group.depth != 0) {
        return ncclSuccess;
    }
    thread_group ended = std::exchange(group, {});
    return guarded([&] {
        if (ended.result != ncclSuccess) {
            give_up(ended.calls, ended.result);
            return ended.result;
        }
        issue(std::move(ended.of_processes));
        return wait_for_all(ended.calls);
    });
}

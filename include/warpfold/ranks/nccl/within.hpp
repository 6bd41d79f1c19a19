// SPDX-License-Identifier: MIT
// Calls that may wait for ever, within a time limit.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace warpfold::detail {

// What work() will return, in a thread of its own on the current device, which nobody waits for.
template <class Work>
std::future<std::invoke_result_t<Work>> start_aside(const Work& work) {
    int device = 0;
    (void)cudaGetDevice(&device);
    std::packaged_task<std::invoke_result_t<Work>()> task([device, work] {
        (void)cudaSetDevice(device);
        return work();
    });
    auto result = task.get_future();
    std::thread(std::move(task)).detach();
    return result;
}

// False if there is nothing to wait for, too.
template <class Result>
bool ended_within(std::chrono::milliseconds limit, const std::future<Result>& of) {
    return of.valid() && of.wait_for(limit) == std::future_status::ready;
}

// What work() returns. Nothing if that takes longer than `limit`: its thread goes on then, with its copy of `work`.
template <class Work>
std::optional<std::invoke_result_t<Work>> within(std::chrono::milliseconds limit, const Work& work) {
    auto result = detail::start_aside(work);
    if (!detail::ended_within(limit, result)) {
        return std::nullopt;
    }
    return result.get();
}

// Waits for the current device; nothing if that takes longer than `limit`.
inline std::optional<cudaError_t> device_ends(std::chrono::milliseconds limit) {
    return detail::within(limit, [] { return cudaDeviceSynchronize(); });
}

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// Times the operations of a step on a GPU, with a device event before and one after each.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ladder/engine/definition/step.hpp"
#include "measure/device.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::engine {

struct timed_operation {
    std::string name;
    softgpu::observe::engine on = softgpu::observe::engine::compute;
    std::uint64_t bytes = 0;
    bool pageable = false;
};

class operation_timer {
public:
    explicit operation_timer(std::string device);

    // Calls `issue`, which issues the operation to the stream. Thread-safe.
    void around(cudaStream_t stream, timed_operation what, const std::function<void()>& issue);

    // Waits for all work. The event before an operation happens when its stream reaches it; the operation's copy or compute
    // engine may still be busy for another stream then. So an operation starts when the one before it on its engine ends.
    [[nodiscard]] softgpu::observe::timeline timeline();

private:
    struct recorded {
        timed_operation what;
        std::string stream;
        double issued = 0;
        measure::event begin, end;
    };

    [[nodiscard]] std::string name_of(cudaStream_t stream);

    std::string device_;
    std::mutex mutex_;
    measure::event origin_;
    std::chrono::steady_clock::time_point began_;
    std::vector<std::unique_ptr<recorded>> all_;
    std::vector<std::string> threads_;
    std::vector<cudaStream_t> streams_;
};

// Issues an operation of a step, and times it where the stage has a timer.
void operate(const stage& on, cudaStream_t stream, timed_operation what, const std::function<void()>& issue);

} // namespace warpfold::ladder::engine

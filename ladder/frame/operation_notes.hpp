// SPDX-License-Identifier: MIT
// When the operations of a step run on a GPU: a device event before and one after each of them.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ladder/frame/step.hpp"
#include "measure/device.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder::frame {

struct operation_note {
    std::string name;
    softgpu::observe::engine on = softgpu::observe::engine::compute;
    std::uint64_t bytes = 0;
    bool pageable = false;
};

class operation_notes {
public:
    explicit operation_notes(std::string device);

    // Calls `issue`, which issues the operation to the stream. By any thread.
    void around(cudaStream_t stream, operation_note what, const std::function<void()>& issue);

    // Waits for all work. The event before an operation happens when its stream has come to it, its engine may then still be
    // busy for another stream: it is taken to begin when what its engine did before is over.
    [[nodiscard]] softgpu::observe::timeline timeline();

private:
    struct noted {
        operation_note what;
        std::string stream;
        double issued = 0;
        measure::event begin, end;
    };

    [[nodiscard]] std::string name_of(cudaStream_t stream);

    std::string device_;
    std::mutex mutex_;
    measure::event origin_;
    std::chrono::steady_clock::time_point began_;
    std::vector<std::unique_ptr<noted>> all_;
    std::vector<std::string> threads_;
    std::vector<cudaStream_t> streams_;
};

// Issues an operation of a step, and notes it where somebody wants to know.
void operate(const stage& on, cudaStream_t stream, operation_note what, const std::function<void()>& issue);

} // namespace warpfold::ladder::frame

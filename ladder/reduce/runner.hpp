// SPDX-License-Identifier: MIT
// Runs one step over data on the device: once to see what it gives, and again and again to time it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ladder/ladder.hpp"
#include "ladder/reduce/data.hpp"
#include "ladder/reduce/step.hpp"
#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::ladder::reduce {

// What all steps of a request share.
struct bench {
    const reduce_request& request;
    shape device;
    bool software = false;
    const measure::stream& stream;
    const void* host_data = nullptr;
    const void* device_data = nullptr;
    reference right;
    measure::timer* clock = nullptr; // nullptr: no times wanted
};

class runner {
public:
    // Takes the device memory that the step needs. Throws measure::cuda_error where there is not so much.
    runner(const bench& on, const step_definition& step);

    // Why the step cannot run this request; empty where it can.
    [[nodiscard]] static std::string why_not(const bench& on, const step_definition& step);

    // Runs the step once and fills in result, expected, tolerance, correct and launches. Throws measure::cuda_error.
    void run_once(reduce_step& out);
    // Fills in cold and warm. Throws measure::cuda_error.
    void time(reduce_step& out);

private:
    struct outcome {
        const void* values = nullptr; // on the device, or on the host where the step delivers there
        std::uint64_t count = 0;
        std::uint64_t height = 0;
    };
    outcome enqueue();
    void time_on_host(reduce_step& out);

    const bench& bench_;
    const step_definition& step_;
    launch_context context_;
    measure::device_memory workspace_;
    measure::device_memory partial_[2];
    std::uint64_t host_value_ = 0; // 8 bytes for a value of any type
};

} // namespace warpfold::ladder::reduce

// SPDX-License-Identifier: MIT
// The current device, which the runtime tells once a call.
#pragma once

#include <cuda_runtime_api.h>

#include "warpfold/gpu/core/error.hpp"

namespace warpfold::detail {

[[nodiscard]] inline int queried_device() {
    int device = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    return device;
}

// While one lives, current_device() of its thread is the device that was current when it was made. A call's host code, which
// does not change the device, makes one before it chooses a launch. A call inside of it makes its own.
class call_device {
public:
    call_device() : outer_(known()) { known() = queried_device(); }
    call_device(const call_device&) = delete;
    call_device& operator=(const call_device&) = delete;
    ~call_device() { known() = outer_; }

private:
    friend int current_device();

    static constexpr int unknown = -1;
    static int& known() noexcept {
        thread_local int device = unknown;
        return device;
    }

    int outer_;
};

[[nodiscard]] inline int current_device() {
    const int device = call_device::known();
    return device == call_device::unknown ? queried_device() : device;
}

} // namespace warpfold::detail

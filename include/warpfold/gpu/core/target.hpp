// SPDX-License-Identifier: MIT
// The GPU as a target, and what a call asks of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>

#include "warpfold/detail/check.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"
#include "warpfold/gpu/core/workspace.hpp"

namespace warpfold {

// A call on the current device, in the order of `stream`. Without a workspace the call allocates what it needs in the
// order of the stream; with one, of the same device, it does not. Forms that return a value wait for it; the others
// only enqueue, and with a workspace may be captured. Calls on streams of data (chunked.hpp) always allocate and wait.
struct gpu {
    cudaStream_t stream = nullptr;
    workspace* memory = nullptr;
};

namespace detail {

[[nodiscard]] inline unsigned device_attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    WARPFOLD_CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<unsigned>(value);
}

// Memory for one call: of the target's workspace, or taken and given back in the order of the stream. First boxes,
// which are zero and have to be left so, and behind them data, zero as well and aligned to `alignment`.
class call_memory {
public:
    call_memory(const gpu& on, std::size_t box_bytes, std::size_t data_bytes, const char* call,
                std::size_t alignment = 16)
        : stream_(on.stream), box_bytes_((box_bytes + alignment - 1) / alignment * alignment), data_bytes_(data_bytes) {
        const std::size_t bytes = box_bytes_ + data_bytes_;
        if (bytes == 0) {
            return;
        }
        if (on.memory != nullptr) {
            check_device(*on.memory, call);
            if (on.memory->bytes() < bytes) {
                throw invalid_argument(std::string("warpfold: ") + call + ": the workspace has " +
                                       std::to_string(on.memory->bytes()) + " bytes, and " + std::to_string(bytes) +
                                       " are needed");
            }
            memory_ = static_cast<unsigned char*>(on.memory->memory());
            return;
        }
        owned_.emplace(stream_, bytes);
        memory_ = static_cast<unsigned char*>(owned_->data());
        WARPFOLD_CHECK_CUDA(cudaMemsetAsync(memory_, 0, bytes, stream_));
    }
    call_memory(const call_memory&) = delete;
    call_memory& operator=(const call_memory&) = delete;
    ~call_memory() {
        if (!owned_ && data_bytes_ != 0) {
            (void)cudaMemsetAsync(data(), 0, data_bytes_, stream_);
        }
    }

    [[nodiscard]] void* boxes() const noexcept { return memory_; }
    [[nodiscard]] void* data() const noexcept { return memory_ == nullptr ? nullptr : memory_ + box_bytes_; }

private:
    static void check_device(const workspace& memory, const char* call) {
        int device = 0;
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
        if (device != memory.device()) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the workspace is memory of device " +
                                   std::to_string(memory.device()) + ", and the current device is " +
                                   std::to_string(device));
        }
    }

    cudaStream_t stream_;
    std::size_t box_bytes_, data_bytes_;
    unsigned char* memory_ = nullptr;
    std::optional<stream_ordered_memory> owned_;
};

} // namespace detail
} // namespace warpfold

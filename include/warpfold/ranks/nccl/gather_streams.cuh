// SPDX-License-Identifier: MIT
// The streams of a communicator's gathers by mailboxes, which have to run one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <utility>

#include "warpfold/gpu/core/error.hpp"

namespace warpfold::detail {

class gather_streams {
public:
    gather_streams() = default;
    gather_streams(const gather_streams&) = delete;
    gather_streams& operator=(const gather_streams&) = delete;
    ~gather_streams() {
        if (side_ != nullptr) {
            (void)cudaStreamDestroy(side_);
            (void)cudaEventDestroy(mark_);
        }
    }

    // Before a gather in `stream`: one in another stream has ended. A graph's gathers are ordered by whoever launches it.
    void order(cudaStream_t stream) {
        if (!last_) {
            last_ = stream;
        }
        if (stream == last_ || (side_ != nullptr && stream == side_)) {
            return;
        }
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        WARPFOLD_CHECK_CUDA(cudaStreamIsCapturing(stream, &status));
        if (status == cudaStreamCaptureStatusNone) {
            WARPFOLD_CHECK_CUDA(cudaDeviceSynchronize());
        }
        last_ = stream;
    }
    // Opens a stream beside `stream`, behind what it holds.
    void begin_beside(cudaStream_t stream) {
        if (side_ == nullptr) {
            int least = 0, greatest = 0;
            WARPFOLD_CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
            WARPFOLD_CHECK_CUDA(cudaStreamCreateWithPriority(&side_, cudaStreamNonBlocking, greatest));
            WARPFOLD_CHECK_CUDA(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming));
        }
        order(stream);
        WARPFOLD_CHECK_CUDA(cudaEventRecord(mark_, stream));
        WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(side_, mark_, 0));
        is_beside_ = true;
    }
    // What `stream` gets from now on comes behind what the stream beside holds.
    void end_beside(cudaStream_t stream) {
        WARPFOLD_CHECK_CUDA(cudaEventRecord(mark_, side_));
        WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(stream, mark_, 0));
    }
    // The stream for a gather that the host waits for: `usual`, or once the one beside.
    [[nodiscard]] cudaStream_t take(cudaStream_t usual) { return std::exchange(is_beside_, false) ? side_ : usual; }

private:
    std::optional<cudaStream_t> last_; // of the last gather, if there was one
    cudaStream_t side_ = nullptr;
    cudaEvent_t mark_ = nullptr;
    bool is_beside_ = false;
};

} // namespace warpfold::detail

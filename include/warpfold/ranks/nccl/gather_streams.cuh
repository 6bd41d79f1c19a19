// SPDX-License-Identifier: MIT
// The streams of a communicator's gathers by mailboxes, which have to run one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <utility>

#include "warpfold/error.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace warpfold::detail {

inline bool is_capturing(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    WARPFOLD_CHECK_CUDA(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
}

inline void refuse_capture(cudaStream_t stream, const char* call) {
    if (detail::is_capturing(stream)) {
        throw invalid_argument(std::string("warpfold: ") + call +
                               ": the host waits for a result here, so this form of the call cannot be captured");
    }
}

// While it is there, this thread may call what a capture of its streams does not allow.
class relaxed_capture {
public:
    relaxed_capture() { exchange(); }
    relaxed_capture(const relaxed_capture&) = delete;
    relaxed_capture& operator=(const relaxed_capture&) = delete;
    ~relaxed_capture() { exchange(); }

private:
    void exchange() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }

    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

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
        if (at_capture_ != nullptr) {
            (void)cudaStreamDestroy(at_capture_);
        }
    }

    // Before a gather in `stream`: one in another stream has ended, by wait(), which waits for the device. A graph's gathers are
    // ordered by whoever launches it.
    template <class Wait>
    void order(cudaStream_t stream, const Wait& wait) {
        if (!last_) {
            last_ = stream;
        }
        if (stream == last_ || (side_ != nullptr && stream == side_)) {
            return;
        }
        if (!detail::is_capturing(stream)) {
            wait();
        }
        last_ = stream;
    }
    // Opens a stream beside `stream`, behind what it holds.
    template <class Wait>
    void begin_beside(cudaStream_t stream, const Wait& wait) {
        if (side_ == nullptr) {
            int least = 0, greatest = 0;
            WARPFOLD_CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
            WARPFOLD_CHECK_CUDA(cudaStreamCreateWithPriority(&side_, cudaStreamNonBlocking, greatest));
            WARPFOLD_CHECK_CUDA(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming));
        }
        order(stream, wait);
        WARPFOLD_CHECK_CUDA(cudaEventRecord(mark_, stream));
        WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(side_, mark_, 0));
        is_beside_ = true;
    }
    // What `stream` gets from now on comes behind what the stream beside holds.
    void end_beside(cudaStream_t stream) {
        WARPFOLD_CHECK_CUDA(cudaEventRecord(mark_, side_));
        WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(stream, mark_, 0));
    }
    // A stream for what happens while another one captures.
    [[nodiscard]] cudaStream_t at_capture() {
        if (at_capture_ == nullptr) {
            WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&at_capture_, cudaStreamNonBlocking));
        }
        return at_capture_;
    }
    // The stream for a gather that the host waits for: `usual`, or once the one beside.
    [[nodiscard]] cudaStream_t take(cudaStream_t usual) { return std::exchange(is_beside_, false) ? side_ : usual; }

private:
    std::optional<cudaStream_t> last_; // of the last gather, if there was one
    cudaStream_t side_ = nullptr, at_capture_ = nullptr;
    cudaEvent_t mark_ = nullptr;
    bool is_beside_ = false;
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "tests/library/gpu_test.hpp"

namespace warpfold::tests {

// What `calls` puts into a stream, captured as a graph. A call that waits cannot be captured.
class captured_calls {
public:
    template <class Calls> // (cudaStream_t)
    explicit captured_calls(const Calls& calls) {
        CUDA(cudaStreamCreate(&stream_));
        CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
        calls(stream_);
        cudaGraph_t graph = nullptr;
        CUDA(cudaStreamEndCapture(stream_, &graph));
        CUDA(cudaGraphInstantiate(&graph_, graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    captured_calls(const captured_calls&) = delete;
    captured_calls& operator=(const captured_calls&) = delete;
    ~captured_calls() {
        (void)cudaGraphExecDestroy(graph_);
        (void)cudaStreamDestroy(stream_);
    }

    // Runs them on what memory holds by now, and waits.
    void run() const {
        CUDA(cudaGraphLaunch(graph_, stream_));
        CUDA(cudaStreamSynchronize(stream_));
    }

private:
    cudaStream_t stream_ = nullptr;
    cudaGraphExec_t graph_ = nullptr;
};

} // namespace warpfold::tests

// SPDX-License-Identifier: MIT
// Whether what is enqueued runs now or later, in a graph.
#pragma once

#include <cuda_runtime_api.h>

namespace warpfold::python::on_gpu {

inline bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) { // the legacy stream beside a capture
        (void)cudaGetLastError();
        return true;
    }
    return status != cudaStreamCaptureStatusNone;
}

} // namespace warpfold::python::on_gpu

// SPDX-License-Identifier: MIT
// Results: their names, and those of exceptions.
#include "softgpu/runtime/nccl/comm.hpp"

namespace softgpu::runtime::nccl {

ncclResult_t result_of(const failure& f) {
    if (!f.message.empty()) {
        report(f.message);
    }
    return f.code == error::invalid_value || f.code == error::invalid_resource_handle || f.code == error::invalid_device
               ? ncclInvalidArgument
               : ncclUnhandledCudaError;
}

} // namespace softgpu::runtime::nccl

const char* ncclGetErrorString(ncclResult_t code) {
    switch (code) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "operation in progress";
    }
    return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) { return ""; } // they are printed

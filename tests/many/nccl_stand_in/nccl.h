// SPDX-License-Identifier: MIT
// The few calls of NCCL that warpfold/nccl.cuh makes, for ranks that are threads of one process and may share a GPU:
// tests need neither NCCL nor several GPUs. A call waits for its stream and for the other ranks; ncclAllGather can be
// captured.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

enum ncclResult_t { ncclSuccess = 0, ncclInternalError = 3, ncclInvalidArgument = 4, ncclInProgress = 7 };
enum ncclDataType_t { ncclUint8 = 1, ncclUint32 = 3, ncclUint64 = 5 };
enum ncclRedOp_t { ncclSum = 0 };
struct ncclComm;
using ncclComm_t = ncclComm*;
struct ncclUniqueId {
    char internal[128];
};

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommCount(ncclComm_t comm, int* count);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
const char* ncclGetErrorString(ncclResult_t code);
ncclResult_t ncclAllGather(const void* mine, void* all, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

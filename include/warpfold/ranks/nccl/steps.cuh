// SPDX-License-Identifier: MIT
// Steps of a communicator of NCCL: messages, and values in the host's memory, which pass through device memory.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "warpfold/communicator.hpp"
#include "warpfold/gpu/core/error.hpp"
#include "warpfold/ranks/nccl/staging.cuh"

namespace warpfold::detail {

// The first error. The group ends in any case: the thread's next calls would be in it.
inline ncclResult_t send_and_receive(ncclComm_t comm, std::span<const message> sent, std::span<const message> received,
                                     cudaStream_t stream) {
    ncclResult_t failed = ncclGroupStart();
    for (const message& one : sent) {
        if (one.bytes != 0 && failed == ncclSuccess) {
            failed = ncclSend(one.data, one.bytes, ncclUint8, one.rank, comm, stream);
        }
    }
    for (const message& one : received) {
        if (one.bytes != 0 && failed == ncclSuccess) {
            failed = ncclRecv(one.data, one.bytes, ncclUint8, one.rank, comm, stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return failed != ncclSuccess ? failed : ended;
}

template <class Comm>
void exchange_staged(Comm& comm, staging& memory, std::span<const message> sent, std::span<const message> received,
                     cudaStream_t stream, const char* call) {
    const auto all = [](std::span<const message> of) {
        return std::accumulate(of.begin(), of.end(), std::size_t{0},
                               [](std::size_t bytes, const message& one) { return bytes + one.bytes; });
    };
    const std::size_t out = all(sent), in = all(received);
    unsigned char* const host = memory.host(out + in);
    unsigned char* const device = memory.device(out + in, stream);
    std::size_t at = 0;
    for (const message& one : sent) {
        std::memcpy(host + at, one.data, one.bytes);
        at += one.bytes;
    }
    WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device, host, out, cudaMemcpyHostToDevice, stream));
    const auto on_device = [&](std::span<const message> of, std::size_t first) {
        std::vector<message> messages(of.begin(), of.end());
        for (message& one : messages) {
            one.data = device + first;
            first += one.bytes;
        }
        return messages;
    };
    comm.exchange_on_device(on_device(sent, 0), on_device(received, out), stream, call);
    WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host + out, device + out, in, cudaMemcpyDeviceToHost, stream));
    comm.wait(stream, call);
    at = out;
    for (const message& one : received) {
        std::memcpy(one.data, host + at, one.bytes);
        at += one.bytes;
    }
}

template <class Comm, class Word>
void add_staged(Comm& comm, staging& memory, Word* values, std::uint64_t n, int root, cudaStream_t stream,
                const char* call) {
    const std::size_t bytes = n * sizeof(Word);
    unsigned char* const host = memory.host(bytes);
    auto* const device = reinterpret_cast<Word*>(memory.device(bytes, stream));
    std::memcpy(host, values, bytes);
    WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
    comm.add_on_device(device, n, root, stream, call);
    WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
    comm.wait(stream, call);
    if (root == every_rank || root == comm.rank()) {
        std::memcpy(values, host, bytes);
    }
}

} // namespace warpfold::detail

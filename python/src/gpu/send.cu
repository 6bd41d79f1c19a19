// SPDX-License-Identifier: MIT
#include "python/src/gpu/send.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "python/src/gpu/captured.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace warpfold::python::on_gpu {

namespace {

constexpr std::size_t packet_bytes = 3584; // parameters of a kernel may have 4,096
struct packet {
    unsigned char values[packet_bytes];
};

__global__ void unpack(const __grid_constant__ packet from, unsigned count, unsigned char* to) {
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        to[k] = from.values[k];
    }
}

} // namespace

void send(const gpu& on, const void* values, std::size_t bytes, void* target) {
    if (bytes > packet_bytes && !is_captured(on.stream)) {
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(target, values, bytes, cudaMemcpyHostToDevice, on.stream));
        return;
    }
    for (std::size_t done = 0; done < bytes; done += packet_bytes) {
        const std::size_t count = std::min(bytes - done, packet_bytes);
        packet some;
        std::memcpy(some.values, static_cast<const unsigned char*>(values) + done, count);
        unpack<<<1, 256, 0, on.stream>>>(some, static_cast<unsigned>(count),
                                         static_cast<unsigned char*>(target) + done);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
}

} // namespace warpfold::python::on_gpu

// SPDX-License-Identifier: MIT
// Rows of library_calls.cu: the memory of a row's calls, its launches and its line.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "measure/device.hpp"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/reduce.cuh"

// Part of one program: measure/pages/model_calls.py knows `mark` by its whole name.
namespace {

using warpfold::gpu;
using warpfold::workspace;
namespace measure = warpfold::measure;

constexpr std::uint64_t power(unsigned e) { return std::uint64_t{1} << e; }

// Lets the first launch of the call behind it start early, as the call before it would.
__global__ void mark() { warpfold::detail::pdl_trigger(); }

__host__ __device__ std::uint64_t mixed(std::uint64_t k) {
    std::uint64_t x = (k + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 31) * 0xD6E8FEB86659FD93ull;
    return x ^ x >> 32;
}
// In [0, times).
__host__ __device__ std::uint64_t random_below(std::uint64_t k, std::uint64_t times) {
    return (mixed(k) >> 32) * times >> 32;
}

template <class T, class F>
__global__ void fill(T* to, std::uint64_t n, F f) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        to[k] = f(k);
    }
}

constexpr std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

enum class launches { plain, pdl };

class rows {
public:
    // `cycle`: calls of the benchmark's graph, each on other memory, where they are short.
    rows(unsigned cycle, std::uint64_t workspace_bytes, launches how)
        : cycle_(cycle), how_(how), memory_(workspace_bytes) {}

    [[nodiscard]] gpu on() { return {stream_.handle(), &memory_}; }

    // The next row: memory of `bytes` for each call, together four times L2.
    void begin(std::uint64_t bytes) {
        apart_ = rounded(bytes);
        copies_ = static_cast<unsigned>(std::clamp<std::uint64_t>(power(28) / apart_, 2, cycle_));
        pool_ = measure::device_memory{};
        pool_ = measure::device_memory{apart_ * copies_};
    }
    // The k-th array of a memory, `bytes` behind its begin.
    template <class T>
    [[nodiscard]] T* at(unsigned k, std::uint64_t bytes = 0) const {
        return reinterpret_cast<T*>(static_cast<unsigned char*>(pool_.data()) + k * apart_ + bytes);
    }
    template <class T, class F>
    void fill_each(std::uint64_t n, const F& f, std::uint64_t bytes = 0) const {
        for (unsigned k = 0; k < copies_; ++k) {
            fill<<<264, 256, 0, stream_.handle()>>>(at<T>(k, bytes), n, f);
        }
    }

    template <class Call>
    void row(const std::string& what, const char* type, std::uint64_t n, const Call& call) {
        for (unsigned k = 0; k < copies_; ++k) {
            call(k);
        }
        for (int times = 0; times < 2; ++times) {
            mark<<<1, 1, 0, stream_.handle()>>>();
            call(0u);
        }
        mark<<<1, 1, 0, stream_.handle()>>>();
        stream_.synchronize();
        std::printf("%s\t%s\t%llu\t%u\t%d\n", what.c_str(), type, static_cast<unsigned long long>(n), fills_of(call),
                    how_ == launches::pdl);
        std::fflush(stdout);
    }

private:
    template <class Call>
    unsigned fills_of(const Call& call) const {
        cudaGraph_t graph = nullptr;
        WARPFOLD_CUDA_CHECK(cudaStreamBeginCapture(stream_.handle(), cudaStreamCaptureModeRelaxed));
        call(0u);
        WARPFOLD_CUDA_CHECK(cudaStreamEndCapture(stream_.handle(), &graph));
        std::size_t count = 0;
        WARPFOLD_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
        std::vector<cudaGraphNode_t> nodes(count);
        WARPFOLD_CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
        unsigned fills = 0;
        for (const cudaGraphNode_t node : nodes) {
            cudaGraphNodeType type{};
            WARPFOLD_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
            fills += type == cudaGraphNodeTypeMemset;
        }
        WARPFOLD_CUDA_CHECK(cudaGraphDestroy(graph));
        return fills;
    }

    unsigned cycle_;
    launches how_;
    std::uint64_t apart_ = 0;
    unsigned copies_ = 0;
    measure::stream stream_;
    workspace memory_;
    measure::device_memory pool_;
};

} // namespace

// SPDX-License-Identifier: MIT
// Ranks of a benchmark: threads with a GPU each, and what they count.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "warpfold/nccl.cuh"
#include "warpfold/thread_communicator.hpp"

namespace ranks_benchmark {

using namespace warpfold;

inline std::atomic<int> failures{0}, checks{0};

inline void check(bool right, const char* what, int rank) {
    ++checks;
    if (!right) {
        ++failures;
        std::printf("WRONG: %s at rank %d\n", what, rank);
    }
}

template <class T>
bool same(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
struct device_array {
    explicit device_array(std::uint64_t n) : size(n) {
        WARPFOLD_CHECK_CUDA(cudaMalloc(&data, std::max<std::uint64_t>(n, 1) * sizeof(T)));
    }
    explicit device_array(const std::vector<T>& of) : device_array(of.size()) {
        WARPFOLD_CHECK_CUDA(cudaMemcpy(data, of.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
    ~device_array() { (void)cudaFree(data); }
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> got(size);
        WARPFOLD_CHECK_CUDA(cudaMemcpy(got.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
        return got;
    }
    T* data = nullptr;
    std::uint64_t size;
};

// Numbers from 0 to 1, of 24 bits, each as frequent as any other.
static __global__ void fill_uniform_kernel(float* out, std::uint64_t n) {
    for (std::uint64_t k = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
        std::uint64_t x = (k + 1) * 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        out[k] = static_cast<float>((x ^ (x >> 31)) >> 40) * 0x1p-24f;
    }
}
inline void fill_uniform(const device_array<float>& out, cudaStream_t stream) {
    fill_uniform_kernel<<<1024, 256, 0, stream>>>(out.data, out.size);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// A rank with its GPU, its stream and both communicators.
struct rank_of_gpu {
    thread_communicator& threads;
    nccl_communicator& comm;
    cudaStream_t stream;

    void meet() const {
        char mine = 0;
        std::vector<char> all(static_cast<std::size_t>(threads.size()));
        threads.all_gather(&mine, all.data(), 1, "meet");
    }
};

// Calls work(rank) in a thread for each of the first `gpus` GPUs.
inline void on_gpus(int gpus, const std::function<void(const rank_of_gpu&)>& work) {
    thread_ranks group(gpus, std::chrono::seconds(120));
    group.run([&](thread_communicator& threads) {
        WARPFOLD_CHECK_CUDA(cudaSetDevice(threads.rank()));
        cudaStream_t stream = nullptr;
        WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        {
            nccl_communicator comm(threads, stream, std::chrono::seconds(60));
            work({threads, comm, stream});
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream));
        }
        WARPFOLD_CHECK_CUDA(cudaStreamDestroy(stream));
    });
}

} // namespace ranks_benchmark

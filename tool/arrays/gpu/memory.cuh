// SPDX-License-Identifier: MIT
// Arrays of one call in a GPU's memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "warpfold/gpu/core/error.hpp"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::calls {

class gpu_memory {
public:
    gpu_memory() = default;
    gpu_memory(const gpu_memory&) = delete;
    gpu_memory& operator=(const gpu_memory&) = delete;
    ~gpu_memory() {
        for (void* const one : taken_) {
            (void)cudaFree(one);
        }
    }

    // Makes the GPU of the rank at this place of its host the thread's.
    static void use(int place) {
        int count = 0;
        WARPFOLD_CHECK_CUDA(cudaGetDeviceCount(&count));
        WARPFOLD_CHECK_CUDA(cudaSetDevice(place % count));
    }
    [[nodiscard]] static gpu on() { return {}; }

    // A copy of the host's array.
    [[nodiscard]] const void* in(const void* data, std::uint64_t bytes) {
        void* const there = take(bytes);
        WARPFOLD_CHECK_CUDA(cudaMemcpy(there, data, bytes, cudaMemcpyHostToDevice));
        return there;
    }
    // Room for what fetch() will copy to the host's array.
    [[nodiscard]] void* out(void* data, std::uint64_t bytes) {
        void* const there = take(bytes);
        results_.push_back({data, there, bytes});
        return there;
    }
    // Waits for the call, and copies its results.
    void fetch() const {
        for (const result& one : results_) {
            WARPFOLD_CHECK_CUDA(cudaMemcpy(one.here, one.there, one.bytes, cudaMemcpyDeviceToHost));
        }
    }

private:
    struct result {
        void* here;
        const void* there;
        std::uint64_t bytes;
    };

    void* take(std::uint64_t bytes) {
        void* one = nullptr;
        taken_.reserve(taken_.size() + 1);
        WARPFOLD_CHECK_CUDA(cudaMalloc(&one, bytes == 0 ? 1 : bytes));
        taken_.push_back(one);
        return one;
    }

    std::vector<void*> taken_;
    std::vector<result> results_;
};

} // namespace warpfold::calls

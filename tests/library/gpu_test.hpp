// SPDX-License-Identifier: MIT
// What tests with kernels share: calls of CUDA that end a test case when they fail, and expectations about calls of the
// library. The programs run on the software GPU and on real ones.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "warpfold/error.hpp"
#include "warpfold/gpu/core/workspace.hpp"

// Throws if the call fails: GoogleTest reports the exception as the failure of the test case and goes on with the next.
#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_of_call = (call);                                                                      \
        if (error_of_call != cudaSuccess) {                                                                            \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #call ": " +        \
                                     cudaGetErrorString(error_of_call));                                               \
        }                                                                                                              \
    } while (false)

namespace warpfold::tests {

// Every call leaves its workspace zero: that is the state in which the next one expects it.
inline void expect_zero(const workspace& memory) {
    std::vector<unsigned char> bytes(memory.bytes());
    CUDA(cudaMemcpy(bytes.data(), memory.memory(), bytes.size(), cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), static_cast<std::ptrdiff_t>(bytes.size()));
}

// The call throws invalid_argument, and its message holds `words`.
template <class Call>
void expect_invalid_argument(const Call& call, const char* words) {
    try {
        call();
    } catch (const invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
        return;
    }
    ADD_FAILURE() << "nothing was thrown; expected: " << words;
}

} // namespace warpfold::tests

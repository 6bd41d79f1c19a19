// SPDX-License-Identifier: MIT
// Predictions of single launches. prediction_test.cpp, of the same process, names the cards.
#pragma once

#include <cstddef>

#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

// PTX that works: %r7 rounds of four fma, each of which needs the one before. It uses %r5, %p4 and %f1.
#define WORK_OF_R7                                                                                                     \
    "mov.u32 %r5, 0;\n"                                                                                                \
    ".pragma \"nounroll\";\n"                                                                                          \
    "ROUND:\n"                                                                                                         \
    "fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1;\n"                                                  \
    "fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1;\n"                                                  \
    "add.u32 %r5, %r5, 1;\n"                                                                                           \
    "setp.lt.u32 %p4, %r5, %r7;\n"                                                                                     \
    "@%p4 bra ROUND;\n"

namespace softgpu::runtime {

class device_bytes {
public:
    explicit device_bytes(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&data_, bytes), error::success); }
    ~device_bytes() { EXPECT_EQ(cudaFree(data_), error::success); }
    device_bytes(const device_bytes&) = delete;
    device_bytes& operator=(const device_bytes&) = delete;

    [[nodiscard]] void* get() const { return data_; }

private:
    void* data_ = nullptr;
};

template <class... Arguments>
warpfold::testing::predictions predicted(const void* kernel, unsigned blocks, unsigned threads,
                                         Arguments... arguments) {
    return warpfold::testing::predict(
        [&] { ASSERT_EQ(launch(kernel, blocks, threads, arguments...), error::success); });
}

} // namespace softgpu::runtime

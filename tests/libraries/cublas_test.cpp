// SPDX-License-Identifier: MIT
// Handles, and calls as operations of streams: their order, captures, scalars on the device, and faults.
#include <dlfcn.h>

#include <string>

#include "tests/libraries/cublas_fixture.hpp"

namespace softgpu::runtime {
namespace {

TEST_F(cublas_test, handles_keep_their_settings) {
    int version = 0;
    ASSERT_EQ(cublasGetVersion(handle, &version), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(version / 10000, 13);
    cudaStream_t s = nullptr;
    ASSERT_EQ(cublasGetStream(handle, &s), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(s, reinterpret_cast<cudaStream_t>(on));
    cublasPointerMode_t pointers{};
    ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasGetPointerMode(handle, &pointers), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(pointers, CUBLAS_POINTER_MODE_DEVICE);
    EXPECT_EQ(cublasSetStream(nullptr, s), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(cublasSetWorkspace(handle, nullptr, 0), CUBLAS_STATUS_SUCCESS);
    EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST_F(cublas_test, the_library_of_cuda_12_gives_its_version) {
    void* const library = ::dlopen(SOFTGPU_CUBLAS_12, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    int version = 0;
    const auto get = reinterpret_cast<decltype(&cublasGetVersion)>(::dlsym(library, "cublasGetVersion_v2"));
    ASSERT_EQ(get(nullptr, &version), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(version / 10000, 12);
}

TEST_F(cublas_test, what_is_missing_says_so_once) {
    void* const library = ::dlopen(SOFTGPU_CUBLAS_12, RTLD_NOW | RTLD_LOCAL);
    const auto missing = reinterpret_cast<int (*)()>(::dlsym(library, "cublasSgelsBatched"));
    ASSERT_NE(missing, nullptr);
    testing::internal::CaptureStderr();
    EXPECT_EQ(missing(), CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(missing(), CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "softgpu: cublasSgelsBatched: the software GPU's cuBLAS does not support it\n");
}

TEST_F(cublas_test, calls_are_asynchronous_and_in_the_order_of_the_stream) {
    float* const x = on_device(std::vector<float>(4, 1));
    float* const y = on_device(std::vector<float>(4, 1));
    float alpha = 2;
    held_stream held(on);
    ASSERT_EQ(cudaMemsetAsync(x, 0, 8, on), error::success);
    ASSERT_EQ(cublasSaxpy(handle, 4, &alpha, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
    alpha = 100; // was read at the call
    ASSERT_FALSE(held.is_released());
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[3], 1); // device memory is the host's memory here
    held.release();
    EXPECT_EQ(read(y, 4), (std::vector<float>{1, 1, 3, 3}));
}

TEST_F(cublas_test, scalars_and_results_on_the_device) {
    float* const x = on_device(std::vector<float>{1, 2, 3});
    float* const y = on_device(std::vector<float>{1, 1, 1});
    float* const scalars = on_device(std::vector<float>{0, 0, 7});
    ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
    held_stream held(on);
    ASSERT_EQ(cublasSdot(handle, 3, x, 1, y, 1, scalars), CUBLAS_STATUS_SUCCESS); // 6; does not wait
    ASSERT_EQ(cublasSaxpy(handle, 3, scalars, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, scalars, x, 1, y, 3, scalars + 1, scalars + 2, 1),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_FALSE(held.is_released());
    held.release();
    EXPECT_EQ(read(y, 3), (std::vector<float>{7, 13, 19}));
    EXPECT_EQ(read(scalars, 3), (std::vector<float>{6, 0, 6 * (7 + 26 + 57)}));
}

TEST_F(cublas_test, calls_are_captured_in_graphs) {
    float* const x = on_device(std::vector<float>(4, 1));
    float* const y = on_device(std::vector<float>(4, 1));
    const float alpha = 2;
    ASSERT_EQ(cudaStreamBeginCapture(on, capture_mode{}), error::success);
    ASSERT_EQ(cublasSaxpy(handle, 4, &alpha, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
    graph* captured = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(on, &captured), error::success);
    executable_graph* ready = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&ready, captured, 0), error::success);
    EXPECT_EQ(read(y, 4), std::vector<float>(4, 1));
    for (int times = 0; times < 2; ++times) {
        ASSERT_EQ(cudaGraphLaunch(ready, on), error::success);
    }
    EXPECT_EQ(read(y, 4), std::vector<float>(4, 5));
    ASSERT_EQ(cudaGraphExecDestroy(ready), error::success);
    ASSERT_EQ(cudaGraphDestroy(captured), error::success);

    float result = 0;
    ASSERT_EQ(cudaStreamBeginCapture(on, capture_mode{}), error::success);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cublasSdot(handle, 4, x, 1, y, 1, &result), CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("a result on the host cannot be captured"),
              std::string::npos);
    ASSERT_EQ(cudaStreamEndCapture(on, &captured), error::success);
    ASSERT_EQ(cudaGraphDestroy(captured), error::success);
}

TEST_F(cublas_test, copies_between_host_and_device) {
    float* const x = on_device(std::vector<float>(6, -1));
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    ASSERT_EQ(cublasSetVector(3, 4, values.data(), 2, x, 1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(x, 6), (std::vector<float>{1, 3, 5, -1, -1, -1}));
    ASSERT_EQ(cublasSetMatrixAsync(1, 2, 4, values.data(), 3, x + 3, 2, reinterpret_cast<cudaStream_t>(on)),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(read(x, 6), (std::vector<float>{1, 3, 5, 1, -1, 4}));
    std::vector<float> back(6);
    ASSERT_EQ(cublasGetMatrix(2, 2, 4, x, 3, back.data(), 2), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(back, (std::vector<float>{1, 3, 1, -1, 0, 0}));
    ASSERT_EQ(cublasGetVectorAsync(6, 4, x, 1, back.data(), 1, reinterpret_cast<cudaStream_t>(on)),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cudaStreamSynchronize(on), error::success);
    EXPECT_EQ(back, (std::vector<float>{1, 3, 5, 1, -1, 4}));
    EXPECT_EQ(cublasSetMatrix(3, 2, 4, values.data(), 2, x, 3), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasSetVector(7, 4, values.data(), 1, x, 1), CUBLAS_STATUS_INVALID_VALUE) << "6 are allocated";
}

TEST_F(cublas_test, wrong_arguments) {
    const float one = 1;
    float* const x = on_device(std::vector<float>(6, 1));
    const auto product = [&](int m, int n, int k, int lda, int ldb, int ldc, const float* a) {
        return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, lda, x, ldb, &one, x, ldc);
    };
    EXPECT_EQ(product(2, 1, 3, 2, 3, 2, x), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(product(-1, 1, 3, 2, 3, 2, x), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(product(2, 1, 3, 1, 3, 2, x), CUBLAS_STATUS_INVALID_VALUE) << "rows that do not fit lda";
    EXPECT_EQ(product(2, 1, 3, 2, 2, 2, x), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(product(2, 1, 3, 2, 3, 1, x), CUBLAS_STATUS_INVALID_VALUE);
    testing::internal::CaptureStderr();
    EXPECT_EQ(product(2, 1, 3, 3, 3, 2, x), CUBLAS_STATUS_INVALID_VALUE) << "A has 8 floats, and 6 are allocated";
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasSgemm 2 x 1 x 3: A has 32 bytes"), std::string::npos);
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, x, 1, x, 1, &one, x, 1),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1),
              CUBLAS_STATUS_NOT_INITIALIZED);
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Initialisation and contexts. Each test runs in a process of its own, where no runtime call has come before.
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/api.hpp"

namespace softgpu::runtime {
namespace {

TEST(context_test, nothing_before_initialisation) {
    int count = 0;
    device_address p = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), result::not_initialized);
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::not_initialized);
    int version = 0;
    EXPECT_EQ(cuDriverGetVersion(&version), result::success);
    EXPECT_EQ(version, 13000);
    EXPECT_EQ(cuInit(1), result::invalid_value);
    EXPECT_EQ(cuInit(0), result::success);
    EXPECT_EQ(cuDeviceGetCount(&count), result::success);
    EXPECT_EQ(count, 1);
}

TEST(context_test, the_version_that_is_wished_for) {
    int version = 0;
    const auto stated = [&](const char* wish) {
        ::setenv("SOFTGPU_DRIVER_VERSION", wish, 1);
        EXPECT_EQ(cuDriverGetVersion(&version), result::success);
        return version;
    };
    EXPECT_EQ(stated("13.4"), 13040);
    EXPECT_EQ(stated("12.0"), 12000);
    EXPECT_EQ(stated(""), 13000);
    testing::internal::CaptureStderr();
    for (const char* wrong : {"13", "13.", "13.4.1", ".4", "13.10", "-1.0", "x"}) {
        EXPECT_EQ(stated(wrong), 13000) << wrong;
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("SOFTGPU_DRIVER_VERSION=13.10 is no version such as 13.4"), std::string::npos) << said;
}

TEST(context_test, pools_and_addresses_need_no_current_context) {
    ASSERT_EQ(cuInit(0), result::success);
    EXPECT_NE(pool_of(pool_handles::none), nullptr);
    device_address at = 0;
    EXPECT_EQ(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0), result::success);
    EXPECT_EQ(cuMemAddressFree(at, 2 << 20), result::success);
}

TEST(context_test, the_number_of_devices_initialises) {
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), error::success);
    EXPECT_EQ(count, 1);
    int device = -1;
    EXPECT_EQ(cuDeviceGet(&device, 0), result::success);
    device_address p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::invalid_context);
}

TEST(context_test, memory_needs_a_current_context) {
    ASSERT_EQ(cuInit(0), result::success);
    device_address p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::invalid_context);
    EXPECT_EQ(cuCtxSynchronize(), result::invalid_context);
    driver_context* c = nullptr;
    int count = 0;
    EXPECT_EQ(cudaGetDeviceCount(&count), error::success);
    EXPECT_EQ(cuCtxGetCurrent(&c), result::success);
    EXPECT_EQ(c, nullptr);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&c, 1), static_cast<result>(101));
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&c, 0), result::success);
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::invalid_context);
    ASSERT_EQ(cuCtxSetCurrent(c), result::success);
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::success);
    EXPECT_EQ(cuMemAlloc_v2(&p, 0), result::invalid_value);
    EXPECT_EQ(cuMemAlloc_v2(&p, std::size_t{1} << 60), out_of_memory);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), result::success);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), result::invalid_context);
}

TEST(context_test, are_a_stack_of_each_thread) {
    ASSERT_EQ(cuInit(0), result::success);
    driver_context* first = nullptr;
    driver_context* second = nullptr;
    driver_context* got = nullptr;
    EXPECT_EQ(cuCtxPopCurrent_v2(&got), result::invalid_context);
    ASSERT_EQ(cuCtxCreate_v2(&first, 0, 0), result::success);
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), result::success);
    EXPECT_NE(first, second);
    EXPECT_EQ(cuCtxGetCurrent(&got), result::success);
    EXPECT_EQ(got, second);
    EXPECT_EQ(cuCtxPopCurrent_v2(&got), result::success);
    EXPECT_EQ(got, second);
    EXPECT_EQ(cuCtxGetCurrent(&got), result::success);
    EXPECT_EQ(got, first);
    EXPECT_EQ(cuCtxPushCurrent_v2(second), result::success);
    EXPECT_EQ(cuCtxDestroy_v2(second), result::success);
    EXPECT_EQ(cuCtxDestroy_v2(second), result::invalid_context);
    EXPECT_EQ(cuCtxPushCurrent_v2(second), result::invalid_context);
    EXPECT_EQ(cuCtxGetCurrent(&got), result::success);
    EXPECT_EQ(got, first);
    EXPECT_EQ(cuCtxDestroy_v2(first), result::success);
    EXPECT_EQ(cuCtxGetCurrent(&got), result::success);
    EXPECT_EQ(got, nullptr);
}

TEST(context_test, one_is_destroyed_while_another_captures) {
    ASSERT_EQ(cuInit(0), result::success);
    driver_context* kept = nullptr;
    driver_context* gone = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&gone, 0, 0), result::success);
    ASSERT_EQ(cuCtxCreate_v2(&kept, 0, 0), result::success);
    stream* s = nullptr;
    graph* g = nullptr;
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    ASSERT_EQ(cuStreamBeginCapture_v2(s, capture_mode::relaxed), result::success);
    EXPECT_EQ(cuCtxDestroy_v2(gone), result::success);
    EXPECT_EQ(cuStreamEndCapture(s, &g), result::success);
    EXPECT_EQ(cuGraphDestroy(g), result::success);
}

TEST(context_test, one_that_another_thread_destroys_is_popped_and_not_used) {
    constexpr auto context_is_destroyed = static_cast<result>(709);
    ASSERT_EQ(cuInit(0), result::success);
    driver_context* kept = nullptr;
    driver_context* gone = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&kept, 0, 0), result::success);
    ASSERT_EQ(cuCtxCreate_v2(&gone, 0, 0), result::success);
    std::thread([gone] { EXPECT_EQ(cuCtxDestroy_v2(gone), result::success); }).join();
    device_address p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), context_is_destroyed);
    int device = -1;
    EXPECT_EQ(cuCtxGetDevice(&device), context_is_destroyed);
    driver_context* other = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), result::success);
    EXPECT_NE(other, gone) << "no handle is used twice";
    EXPECT_EQ(cuMemAlloc_v2(&p, 4), result::success);
    driver_context* popped = nullptr;
    for (driver_context* const expected : {other, gone, kept}) {
        EXPECT_EQ(cuCtxPopCurrent_v2(&popped), result::success);
        EXPECT_EQ(popped, expected);
    }
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), result::invalid_context);
}

TEST(context_test, a_forked_child_gets_an_error) {
    ASSERT_EQ(cuInit(0), result::success);
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
        driver_context* c = nullptr;
        _exit(static_cast<int>(cuCtxGetCurrent(&c)));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(static_cast<result>(WEXITSTATUS(status)), result::not_initialized);
}

TEST(context_test, device_facts) {
    ASSERT_EQ(cuInit(0), result::success);
    int device = -1;
    EXPECT_EQ(cuDeviceGet(&device, 1), static_cast<result>(101));
    ASSERT_EQ(cuDeviceGet(&device, 0), result::success);
    char name[6] = {};
    EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), result::success);
    EXPECT_EQ(std::string(name), "NVIDI"); // cut, with its end
    int major = 0;
    EXPECT_EQ(cuDeviceGetAttribute(&major, 75, device), result::success);
    EXPECT_EQ(major, 9);
    EXPECT_EQ(cuDeviceGetAttribute(&major, 0, device), result::invalid_value);
    std::size_t bytes = 0;
    EXPECT_EQ(cuDeviceTotalMem_v2(&bytes, device), result::success);
    EXPECT_GT(bytes, std::size_t{1} << 30);
}

TEST(context_test, names_of_errors) {
    const char* text = nullptr;
    EXPECT_EQ(cuGetErrorName(result::invalid_handle, &text), result::success);
    EXPECT_STREQ(text, "CUDA_ERROR_INVALID_HANDLE");
    EXPECT_EQ(cuGetErrorString(illegal_address, &text), result::success);
    EXPECT_STREQ(text, "an illegal memory access was encountered");
    EXPECT_EQ(cuGetErrorName(static_cast<result>(12345), &text), result::invalid_value);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(cuGetErrorName(result::success, nullptr), result::invalid_value);
}

} // namespace
} // namespace softgpu::runtime

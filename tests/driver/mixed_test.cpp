// SPDX-License-Identifier: MIT
// The runtime and the driver in one program: one context, one memory, the same counters and findings.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/driver/driver_api.hpp"
#include "tests/runtime/embedded.hpp"
#include "warpfold/testing/counters.hpp"

namespace softgpu::runtime {
namespace {

using warpfold::testing::record;
using warpfold::testing::recording;

std::vector<std::int64_t> values_of(const warpfold::testing::counters& c) {
    std::vector<std::int64_t> values;
    warpfold::testing::for_each_counter(c,
                                        [&](const char*, std::int64_t value, const char*) { values.push_back(value); });
    return values;
}

class mixed_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(cudaMalloc(&memory_, sizeof words_), error::success);
        ASSERT_EQ(cuModuleLoadData(&module_, std::string(sample_ptx).c_str()), result::success);
        ASSERT_EQ(cuModuleGetFunction(&fill_, module_, "_Z4fillPjj"), result::success);
    }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }

    void launch_by_driver() {
        void* arguments[] = {&memory_, &value_};
        ASSERT_EQ(cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), result::success);
    }
    void launch_by_runtime() { ASSERT_EQ(launch(&program_.fill, 2, 32, memory_, value_), error::success); }

    sample_program program_;
    void* memory_ = nullptr;
    std::uint32_t value_ = 6;
    std::uint32_t words_[64] = {};
    library* module_ = nullptr;
    function* fill_ = nullptr;
};

// A call of the runtime makes the primary context current.
TEST_F(mixed_test, the_runtimes_context_is_current) {
    driver_context* current = nullptr;
    driver_context* primary = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&current), result::success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), result::success);
    EXPECT_EQ(current, primary);
}

TEST_F(mixed_test, a_kernel_of_the_driver_in_memory_and_a_stream_of_the_runtime) {
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    void* arguments[] = {&memory_, &value_};
    ASSERT_EQ(cuLaunchKernel(fill_, 2, 1, 1, 32, 1, 1, 0, s, arguments, nullptr), result::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    ASSERT_EQ(cudaMemcpy(words_, memory_, sizeof words_, copy_kind::device_to_host), error::success);
    EXPECT_EQ(words_[63], 69u);
    EXPECT_EQ(cuStreamDestroy_v2(s), result::success);
    EXPECT_EQ(cuMemFree_v2(reinterpret_cast<device_address>(memory_)), result::success);
    EXPECT_EQ(cudaFree(memory_), error::invalid_value);
}

TEST_F(mixed_test, a_fault_in_one_is_an_error_in_the_other) {
    function* wild = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&wild, module_, "_Z4wildPj"), result::success);
    device_address nowhere = 16;
    void* arguments[] = {&nowhere};
    ASSERT_EQ(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), result::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

TEST_F(mixed_test, counters_are_the_same) {
    const recording recorded = record([&] {
        launch_by_runtime();
        launch_by_driver();
    });
    ASSERT_EQ(recorded.launches().size(), 2u);
    const auto& by_runtime = recorded.launches()[0];
    const auto& by_driver = recorded.launches()[1];
    EXPECT_EQ(by_runtime.kernel, by_driver.kernel);
    EXPECT_EQ(values_of(by_runtime.total), values_of(by_driver.total));
    EXPECT_NE(by_driver.total.thread_instructions, 0);
}

TEST_F(mixed_test, a_race_in_a_kernel_of_the_driver_is_found) {
    function* swap = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&swap, module_, "_Z4swapPj"), result::success);
    warpfold::testing::options checked;
    checked.check("all");
    const recording recorded = record(
        [&] {
            void* arguments[] = {&memory_};
            ASSERT_EQ(cuLaunchKernel(swap, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), result::success);
            ASSERT_EQ(cuCtxSynchronize(), result::success);
        },
        checked);
    ASSERT_FALSE(recorded.findings().empty());
    EXPECT_EQ(recorded.findings()[0].check, "race");
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// A device with a current context and a module, for one test.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/driver/driver_api.hpp"

namespace softgpu::runtime {

class driver_fixture : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(cuInit(0), result::success);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), result::success);
        ASSERT_EQ(cuCtxSetCurrent(context_), result::success);
    }
    void TearDown() override { EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), result::success); }

    function* kernel(std::string_view ptx, const char* name) {
        library* loaded = nullptr;
        function* found = nullptr;
        EXPECT_EQ(cuModuleLoadData(&loaded, std::string(ptx).c_str()), result::success);
        EXPECT_EQ(cuModuleGetFunction(&found, loaded, name), result::success);
        return found;
    }
    template <class... Arguments>
    static result launch(function* what, unsigned threads, Arguments... arguments) {
        void* list[] = {&arguments..., nullptr};
        return cuLaunchKernel(what, 1, 1, 1, threads, 1, 1, 0, nullptr, list, nullptr);
    }

    driver_context* context_ = nullptr;
};

} // namespace softgpu::runtime

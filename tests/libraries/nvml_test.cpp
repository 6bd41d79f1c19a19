// SPDX-License-Identifier: MIT
// The software GPU's libnvidia-ml.so.1, with three devices.

#include <gtest/gtest.h>

#include "softgpu/runtime/nvml/nvml.h"
#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {
namespace {

class nvml_test : public devices_test {
protected:
    void SetUp() override {
        devices_test::SetUp();
        ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
        devices_test::TearDown();
    }
    static nvmlDevice_t device(unsigned index) {
        nvmlDevice_t d = nullptr;
        EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(index, &d), NVML_SUCCESS);
        return d;
    }
};

TEST_F(nvml_test, devices_are_those_of_the_runtime) {
    unsigned count = 0;
    ASSERT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, static_cast<unsigned>(device_count));
    for (unsigned index = 0; index < count; ++index) {
        device_properties p{};
        ASSERT_EQ(cudaGetDeviceProperties(&p, static_cast<int>(index)), error::success);
        char text[96];
        ASSERT_EQ(nvmlDeviceGetName(device(index), text, sizeof text), NVML_SUCCESS);
        EXPECT_STREQ(text, p.name);
        int major = 0, minor = 0;
        ASSERT_EQ(nvmlDeviceGetCudaComputeCapability(device(index), &major, &minor), NVML_SUCCESS);
        EXPECT_EQ(major, p.major);
        EXPECT_EQ(minor, p.minor);
        char bus_id[16];
        ASSERT_EQ(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, static_cast<int>(index)), error::success);
        nvmlDevice_t found = nullptr;
        ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2(bus_id, &found), NVML_SUCCESS);
        EXPECT_EQ(found, device(index));
        ASSERT_EQ(nvmlDeviceGetUUID(device(index), text, sizeof text), NVML_SUCCESS);
        ASSERT_EQ(nvmlDeviceGetHandleByUUID(text, &found), NVML_SUCCESS);
        EXPECT_EQ(found, device(index));
    }
}

TEST_F(nvml_test, memory_is_what_the_device_has_allocated) {
    use(1);
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, 3 << 20), error::success);
    nvmlMemory_t memory{};
    ASSERT_EQ(nvmlDeviceGetMemoryInfo(device(1), &memory), NVML_SUCCESS);
    EXPECT_GE(memory.used, 3u << 20);
    EXPECT_LT(memory.used, 4u << 20);
    EXPECT_EQ(memory.total, memory.free + memory.used);
    ASSERT_EQ(nvmlDeviceGetMemoryInfo(device(0), &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.used, 0u);
    nvmlMemory_v2_t second{};
    EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device(1), &second), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    second.version = nvmlMemory_v2;
    ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device(1), &second), NVML_SUCCESS);
    EXPECT_GE(second.used, 3u << 20);
}

TEST_F(nvml_test, wrong_arguments) {
    nvmlDevice_t d = nullptr;
    char text[4];
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(device_count, &d), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0, nullptr), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-", &d), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:77:00.0", &d), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetName(device(0), text, sizeof text), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(nvmlDeviceGetName(nullptr, text, sizeof text), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetIndex(device(0), nullptr), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
}

TEST_F(nvml_test, initialisations_are_counted) {
    unsigned count = 0;
    ASSERT_EQ(nvmlInitWithFlags(0), NVML_SUCCESS);
    ASSERT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
    ASSERT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
}

} // namespace
} // namespace softgpu::runtime

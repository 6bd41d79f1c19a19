// SPDX-License-Identifier: MIT
// The driver's calls about several devices, alone and beside the runtime.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/driver/driver_api.hpp"
#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

extern "C" {

result cuDeviceGetPCIBusId(char* text, int length, int device);
result cuDeviceCanAccessPeer(int* can, int device, int peer);
result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active);
result cuCtxEnablePeerAccess(driver_context* c, unsigned flags);
result cuCtxDisablePeerAccess(driver_context* c);
result cuMemcpyPeer(device_address to, driver_context* to_context, device_address from, driver_context* from_context,
                    std::size_t bytes);
result cuStreamGetCtx(stream* s, driver_context** out);
result cuLibraryGetManaged(device_address* at, std::size_t* bytes, library* l, const char* name);
result cuLibraryGetGlobal(device_address* at, std::size_t* bytes, library* l, const char* name);
result cuGraphCreate(graph** out, unsigned flags);
result cuGraphAddKernelNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                            const kernel_parameters* p);

} // extern "C"

namespace {

constexpr auto invalid_device = static_cast<result>(101);
constexpr auto invalid_handle = static_cast<result>(400);
constexpr auto already_enabled = static_cast<result>(704);
constexpr auto not_enabled = static_cast<result>(705);

// Before the first call of the process.
const bool devices_are_chosen = ::setenv("SOFTGPU_DEVICES", "3", 1) == 0;

class driver_devices_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(devices_are_chosen);
        ASSERT_EQ(cuInit(0), result::success);
        int count = 0;
        ASSERT_EQ(cuDeviceGetCount(&count), result::success);
        ASSERT_EQ(count, 3);
        for (int device = 0; device < 3; ++device) {
            ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_[device], device), result::success);
        }
    }

    static int current() {
        int device = -1;
        EXPECT_EQ(cuCtxGetDevice(&device), result::success);
        return device;
    }
    static driver_context* current_context() {
        driver_context* c = nullptr;
        EXPECT_EQ(cuCtxGetCurrent(&c), result::success);
        return c;
    }
    device_address allocate(int device) {
        EXPECT_EQ(cuCtxSetCurrent(primary_[device]), result::success);
        device_address p = 0;
        EXPECT_EQ(cuMemAlloc_v2(&p, 128), result::success);
        EXPECT_EQ(cuMemsetD8_v2(p, 0, 128), result::success);
        return p;
    }
    static int home_of(device_address p) {
        int device = -1;
        EXPECT_EQ(cuPointerGetAttribute(&device, driver_pointer_attribute::device_ordinal, p), result::success);
        return device;
    }

    driver_context* primary_[3] = {};
};

TEST_F(driver_devices_test, contexts_choose_the_device) {
    int device = -1;
    EXPECT_EQ(cuDeviceGet(&device, 2), result::success);
    EXPECT_EQ(device, 2);
    EXPECT_EQ(cuDeviceGet(&device, 3), invalid_device);
    char bus[16] = {};
    EXPECT_EQ(cuDeviceGetPCIBusId(bus, sizeof bus, 2), result::success);
    EXPECT_STREQ(bus, "0000:02:00.0");
    ASSERT_EQ(cuCtxSetCurrent(primary_[1]), result::success);
    EXPECT_EQ(current(), 1);
    driver_context* made = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&made, 0, 2), result::success);
    EXPECT_EQ(current(), 2);
    std::thread([this] {
        EXPECT_EQ(current_context(), nullptr);
        ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
        EXPECT_EQ(current(), 0);
    }).join();
    driver_context* popped = nullptr;
    ASSERT_EQ(cuCtxPopCurrent_v2(&popped), result::success);
    EXPECT_EQ(popped, made);
    EXPECT_EQ(current(), 1);
    EXPECT_EQ(cuCtxDestroy_v2(made), result::success);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(2), result::success);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(2), result::invalid_context);
    unsigned flags = 0;
    int active = -1;
    EXPECT_EQ(cuDevicePrimaryCtxGetState(2, &flags, &active), result::success);
    EXPECT_EQ(active, 0);
    EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), result::success);
    EXPECT_EQ(active, 1);
}

TEST_F(driver_devices_test, runtime_and_driver_have_one_current_device) {
    ASSERT_EQ(cuCtxSetCurrent(primary_[2]), result::success);
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    EXPECT_EQ(device, 2);
    ASSERT_EQ(cudaSetDevice(1), error::success);
    EXPECT_EQ(current_context(), primary_[1]);
    EXPECT_EQ(current(), 1);
    EXPECT_EQ(home_of(allocate(0)), 0);
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    EXPECT_EQ(device, 0);
}

// cudaSetDevice puts its device's primary context in the place of the current one.
TEST_F(driver_devices_test, popping_goes_back_to_what_was_current) {
    const auto pushed_and_popped = [](driver_context* c) {
        driver_context* popped = nullptr;
        EXPECT_EQ(cuCtxPushCurrent_v2(c), result::success);
        EXPECT_EQ(cuCtxPopCurrent_v2(&popped), result::success);
        EXPECT_EQ(popped, c);
        int device = -1;
        EXPECT_EQ(cudaGetDevice(&device), error::success);
        return device;
    };
    std::thread([&] { EXPECT_EQ(pushed_and_popped(primary_[1]), 0) << "the first device"; }).join();
    ASSERT_EQ(cudaSetDevice(2), error::success);
    EXPECT_EQ(pushed_and_popped(primary_[1]), 2);
    ASSERT_EQ(cuCtxPushCurrent_v2(primary_[0]), result::success);
    ASSERT_EQ(cudaSetDevice(1), error::success);
    EXPECT_EQ(pushed_and_popped(primary_[0]), 1);
    driver_context* popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), result::success);
    EXPECT_EQ(popped, primary_[1]);
    EXPECT_EQ(current(), 2);
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    ASSERT_EQ(cuCtxSetCurrent(nullptr), result::success);
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    EXPECT_EQ(device, 1) << "chosen last by cudaSetDevice";
}

TEST_F(driver_devices_test, copies_and_peer_access) {
    const device_address from = allocate(1);
    const device_address to = allocate(2);
    library* module = nullptr;
    function* fill = nullptr;
    ASSERT_EQ(cuCtxSetCurrent(primary_[1]), result::success);
    ASSERT_EQ(cuModuleLoadData(&module, std::string(sample_ptx).c_str()), result::success);
    ASSERT_EQ(cuModuleGetFunction(&fill, module, "_Z4fillPjj"), result::success);
    EXPECT_EQ(home_of(from), 1);
    EXPECT_EQ(home_of(to), 2);
    const auto launch = [&](device_address p, std::uint32_t value, stream* on) {
        void* arguments[] = {&p, &value};
        return cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, on, arguments, nullptr);
    };
    ASSERT_EQ(launch(from, 10, nullptr), result::success);
    ASSERT_EQ(cuMemcpyPeer(to, primary_[2], from, primary_[1], 128), result::success);
    std::uint32_t words[32] = {};
    ASSERT_EQ(cuMemcpyDtoH_v2(words, to, 128), result::success);
    EXPECT_EQ(words[31], 41u);

    int can = 0;
    EXPECT_EQ(cuDeviceCanAccessPeer(&can, 1, 2), result::success);
    EXPECT_EQ(can, 1);
    EXPECT_EQ(cuCtxDisablePeerAccess(primary_[2]), not_enabled);
    EXPECT_EQ(cuCtxEnablePeerAccess(primary_[2], 0), result::success);
    EXPECT_EQ(cuCtxEnablePeerAccess(primary_[2], 0), already_enabled);
    ASSERT_EQ(launch(to, 20, nullptr), result::success);
    ASSERT_EQ(cuMemcpyDtoH_v2(words, to, 128), result::success);
    EXPECT_EQ(words[0], 20u);
    EXPECT_EQ(cuCtxDisablePeerAccess(primary_[2]), result::success);

    stream* elsewhere = nullptr;
    ASSERT_EQ(cuStreamCreate(&elsewhere, 1), result::success);
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    driver_context* home = nullptr;
    EXPECT_EQ(cuStreamGetCtx(elsewhere, &home), result::success);
    EXPECT_EQ(home, primary_[1]);
    EXPECT_EQ(launch(from, 1, elsewhere), invalid_handle);
    EXPECT_EQ(cuStreamDestroy_v2(elsewhere), result::success);
    EXPECT_EQ(cuDevicePrimaryCtxReset_v2(1), result::success);
    device_address base = 0;
    std::size_t bytes = 0;
    EXPECT_NE(cuMemGetAddressRange_v2(&base, &bytes, from), result::success);
    EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, to + 5), result::success);
    EXPECT_EQ(base, to);
}

TEST_F(driver_devices_test, a_module_belongs_to_the_device_it_was_loaded_on) {
    const device_address p = allocate(0);
    library* module = nullptr;
    function* fill = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, std::string(sample_ptx).c_str()), result::success);
    ASSERT_EQ(cuCtxSetCurrent(primary_[1]), result::success);
    device_address counter = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"), result::success);
    EXPECT_EQ(home_of(counter), 0);
    ASSERT_EQ(cuModuleGetFunction(&fill, module, "_Z4fillPjj"), result::success);
    std::uint32_t value = 5;
    device_address target = p;
    void* arguments[] = {&target, &value};
    EXPECT_EQ(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), invalid_handle);
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    EXPECT_EQ(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), result::success);
    EXPECT_EQ(cuModuleUnload(module), result::success);
}

// With device 0 current: the graph's.
TEST_F(driver_devices_test, a_graphs_kernel_nodes_run_on_the_devices_of_their_modules) {
    graph* g = nullptr;
    device_address words[2] = {};
    function* kernels[2] = {};
    for (const int device : {1, 0}) {
        words[device] = allocate(device);
        library* module = nullptr;
        ASSERT_EQ(cuModuleLoadData(&module, std::string(sample_ptx).c_str()), result::success);
        ASSERT_EQ(cuModuleGetFunction(&kernels[device], module, "_Z4fillPjj"), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
    }
    ASSERT_EQ(cuGraphCreate(&g, 0), result::success);
    for (const std::uint32_t device : {0u, 1u}) {
        std::uint32_t value = 10 + device;
        void* arguments[] = {&words[device], &value};
        const kernel_parameters p{kernels[device], {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr};
        graph_node* node = nullptr;
        ASSERT_EQ(cuGraphAddKernelNode(&node, g, nullptr, 0, &p), result::success);
    }
    executable_graph* e = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&e, g, 0), result::success);
    ASSERT_EQ(cuGraphLaunch(e, nullptr), result::success);
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    for (const std::uint32_t device : {0u, 1u}) {
        std::uint32_t word = 0;
        ASSERT_EQ(cuMemcpyDtoH_v2(&word, words[device], sizeof word), result::success);
        EXPECT_EQ(word, 10 + device);
    }
    EXPECT_EQ(cuGraphExecDestroy(e), result::success);
    EXPECT_EQ(cuGraphDestroy(g), result::success);
}

TEST_F(driver_devices_test, a_librarys_managed_variable_is_one_for_all_devices) {
    const std::vector<std::uint8_t> code = make_fat_binary(1, 75, sample_ptx);
    library* code_of_all = nullptr;
    ASSERT_EQ(cuLibraryLoadData(&code_of_all, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), result::success);
    device_address places[3] = {};
    device_address counters[3] = {};
    for (const std::size_t device : {2u, 0u, 1u}) {
        ASSERT_EQ(cuCtxSetCurrent(primary_[device]), result::success);
        std::size_t bytes = 0;
        ASSERT_EQ(cuLibraryGetManaged(&places[device], &bytes, code_of_all, "both"), result::success);
        ASSERT_EQ(cuLibraryGetGlobal(&counters[device], &bytes, code_of_all, "counter"), result::success);
        EXPECT_EQ(home_of(counters[device]), static_cast<int>(device));
    }
    EXPECT_EQ(places[0], places[1]);
    EXPECT_EQ(places[0], places[2]);
    EXPECT_EQ(cuLibraryUnload(code_of_all), result::success);
}

// The free needs the lock, which an unload therefore does not hold while it waits.
TEST_F(driver_devices_test, an_unload_waits_for_the_other_device_that_has_the_code) {
    device_address p = allocate(1);
    stream* s = nullptr;
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    ASSERT_EQ(cuCtxSetCurrent(primary_[1]), result::success);
    library* module = nullptr;
    device_address counter = 0;
    std::size_t bytes = 0;
    ASSERT_EQ(cuModuleLoadData(&module, std::string(sample_ptx).c_str()), result::success);
    ASSERT_EQ(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"), result::success);
    std::atomic<bool> released{false};
    const host_function wait = [](void* flag) {
        while (!*static_cast<std::atomic<bool>*>(flag)) {
            std::this_thread::yield();
        }
    };
    ASSERT_EQ(cudaLaunchHostFunc(s, wait, &released), error::success);
    ASSERT_EQ(cuMemFreeAsync(p, s), result::success);
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        released = true;
    });
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    EXPECT_EQ(cuModuleUnload(module), result::success);
    EXPECT_TRUE(released);
    later.join();
    device_address base = 0;
    EXPECT_NE(cuMemGetAddressRange_v2(&base, &bytes, counter), result::success) << "its variables are gone";
}

// Memory of device 1 at addresses of device 0: each device has the rights that it is given, whatever peer access there is.
TEST_F(driver_devices_test, mapped_memory_belongs_to_whom_it_is_given) {
    constexpr std::size_t unit = 2u << 20;
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    device_address at = 0;
    ASSERT_EQ(cuMemAddressReserve(&at, unit, 0, 0, 0), result::success);
    physical_properties p{};
    p.type = pool_allocation::pinned;
    p.location = {location_type::device, 1};
    physical_handle h = 0;
    ASSERT_EQ(cuMemCreate(&h, unit, &p, 0), result::success);
    ASSERT_EQ(cuMemMap(at, unit, 0, h, 0), result::success);
    const memory_access on_1{{location_type::device, 1}, access_flags::read_write};
    ASSERT_EQ(cuMemSetAccess(at, unit, &on_1, 1), result::success);
    unsigned long long flags = 9;
    ASSERT_EQ(cuMemGetAccess(&flags, &on_1.location, at), result::success);
    EXPECT_EQ(flags, 3u);
    EXPECT_EQ(home_of(at + 8), 1);
    const memory_location on_0{location_type::device, 0};
    ASSERT_EQ(cuMemGetAccess(&flags, &on_0, at), result::success);
    EXPECT_EQ(flags, 0u);
    const auto fill_on = [&](int device) {
        EXPECT_EQ(cuCtxSetCurrent(primary_[device]), result::success);
        library* loaded = nullptr;
        function* fill = nullptr;
        EXPECT_EQ(cuModuleLoadData(&loaded, std::string(sample_ptx).c_str()), result::success);
        EXPECT_EQ(cuModuleGetFunction(&fill, loaded, "_Z4fillPjj"), result::success);
        std::uint32_t value = 70;
        void* arguments[] = {&at, &value};
        EXPECT_EQ(cuLaunchKernel(fill, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), result::success);
        return cuCtxSynchronize();
    };
    EXPECT_EQ(fill_on(1), result::success);
    std::uint32_t word = 0;
    ASSERT_EQ(cuMemcpyDtoH_v2(&word, at + 4, 4), result::success);
    EXPECT_EQ(word, 71u);
    testing::internal::CaptureStderr();
    EXPECT_EQ(fill_on(2), illegal_address);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("no memory is mapped here with access for this device"),
              std::string::npos);
    ASSERT_EQ(cuDevicePrimaryCtxReset_v2(2), result::success);
    ASSERT_EQ(cuCtxSetCurrent(primary_[0]), result::success);
    ASSERT_EQ(cuMemUnmap(at, unit), result::success);
    EXPECT_EQ(cuMemRelease(h), result::success);
    EXPECT_EQ(cuMemAddressFree(at, unit), result::success);
}

} // namespace
} // namespace softgpu::runtime

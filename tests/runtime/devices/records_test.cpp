// SPDX-License-Identifier: MIT
// Records of launches and of operations name the device. Code is unloaded after the work of the devices that have it.
#include <chrono>
#include <thread>
#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline.hpp"
#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {

struct library;
struct function;

extern "C" {
error cudaLibraryLoadData(library** out, const void* code, void* options, void** values, unsigned count,
                          void* library_options, void** library_values, unsigned library_count);
error cudaLibraryUnload(library* handle);
error cudaLibraryGetKernel(function** out, library* handle, const char* name);
error cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, library* handle, const char* name);
error cudaLibraryGetManaged(void** pointer, std::size_t* bytes, library* handle, const char* name);
}

namespace {

using namespace std::chrono_literals;

TEST_F(devices_test, launches_and_operations_name_their_device) {
    std::vector<int> launched;
    softgpu_set_launch_observer(
        [](const observe::launch_record& r, void* list) { static_cast<std::vector<int>*>(list)->push_back(r.device); },
        &launched);
    observe::operation_log log;
    softgpu_record_operations(&log);
    for (const int device : {2, 0, 1}) {
        use(device);
        ASSERT_EQ(bump(), error::success);
        ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    }
    softgpu_record_operations(nullptr);
    softgpu_set_launch_observer(nullptr, nullptr);
    EXPECT_EQ(launched, (std::vector<int>{2, 0, 1}));
    std::vector<int> issued;
    std::vector<int> waited;
    for (const observe::operation_record& o : log.operations) {
        if (o.on == observe::engine::compute) {
            issued.push_back(o.device);
        }
    }
    for (const observe::host_step& s : log.host) {
        if (s.what == observe::host_step::kind::waits_for_all) {
            waited.push_back(s.device);
        }
    }
    EXPECT_EQ(issued, (std::vector<int>{2, 0, 1}));
    ASSERT_GE(waited.size(), 3u);
    EXPECT_EQ(std::vector<int>(waited.begin(), waited.begin() + 3), (std::vector<int>{2, 0, 1}));
}

// The sample program in a fat binary that a library brings.
class devices_library_test : public devices_test {
protected:
    void SetUp() override {
        devices_test::SetUp();
        ASSERT_EQ(cudaLibraryLoadData(&library_, code_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                  error::success);
        ASSERT_EQ(cudaLibraryGetKernel(&bump_, library_, "_Z4bumpv"), error::success);
    }
    void TearDown() override {
        if (library_ != nullptr) {
            use(0);
            EXPECT_EQ(cudaLibraryUnload(library_), error::success);
        }
        devices_test::TearDown();
    }
    error bump_on(int device, stream* on = nullptr) {
        use(device);
        return cudaLaunchKernel(bump_, {1, 1, 1}, {1, 1, 1}, nullptr, 0, on);
    }
    std::uint32_t* both(int device) {
        use(device);
        void* at = nullptr;
        std::size_t bytes = 0;
        EXPECT_EQ(cudaLibraryGetManaged(&at, &bytes, library_, "both"), error::success);
        EXPECT_EQ(bytes, 4u);
        return static_cast<std::uint32_t*>(at);
    }

    const std::vector<std::uint8_t> code_ = make_fat_binary(1, 75, sample_ptx);
    library* library_ = nullptr;
    function* bump_ = nullptr;
};

TEST_F(devices_library_test, a_managed_variable_is_one_for_all_devices) {
    std::uint32_t* const at = both(1);
    EXPECT_EQ(*at, 3u);
    for (int device = 0; device < device_count; ++device) {
        ASSERT_EQ(bump_on(device), error::success);
        ASSERT_EQ(cudaDeviceSynchronize(), error::success);
        EXPECT_EQ(both(device), at);
        EXPECT_EQ(*at, 4u + static_cast<std::uint32_t>(device)) << "each device adds to the same one";
        EXPECT_EQ(attributes_of(at).type, memory_type::managed);
    }
    EXPECT_NE(at, program().both) << "that of a program of the same name";
    use(1);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(*at, 6u) << "a reset of another device than 0 leaves it";
    ASSERT_EQ(bump_on(1), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(*at, 7u);
    use(0);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(both(0), at);
    EXPECT_EQ(*at, 3u) << "its initial value";
}

TEST_F(devices_library_test, an_unload_waits_for_the_devices_that_have_the_code) {
    use(1);
    stream* const busy = make_stream();
    use(2);
    stream* const elsewhere = make_stream();
    held_stream unrelated(elsewhere); // device 2 has none of its code
    std::uint32_t* const at = both(1);
    use(1);
    held_stream held(busy);
    ASSERT_EQ(bump_on(1, busy), error::success);
    held.release_later(20ms);
    use(0);
    EXPECT_EQ(cudaLibraryUnload(library_), error::success);
    library_ = nullptr;
    EXPECT_TRUE(held.is_released());
    EXPECT_FALSE(unrelated.is_released());
    EXPECT_EQ(attributes_of(at).type, memory_type::unregistered) << "its variables are gone";
    unrelated.release();
    EXPECT_EQ(cudaStreamSynchronize(elsewhere), error::success);
}

// A host function of the stream that is waited for makes calls.
TEST_F(devices_library_test, calls_go_on_while_an_unload_waits) {
    use(1);
    stream* const busy = make_stream();
    ASSERT_EQ(bump_on(1, busy), error::success);
    struct shared {
        std::atomic<bool> unloads{false};
        std::atomic<bool> called{false};
    } state;
    ASSERT_EQ(cudaLaunchHostFunc(
                  busy,
                  [](void* with) {
                      auto& s = *static_cast<shared*>(with);
                      while (!s.unloads) {
                          std::this_thread::yield();
                      }
                      std::this_thread::sleep_for(20ms); // the unload waits by now
                      EXPECT_EQ(cudaSetDevice(2), error::success);
                      void* p = nullptr;
                      EXPECT_EQ(cudaMalloc(&p, 64), error::success);
                      EXPECT_EQ(cudaSetDevice(0), error::success);
                      s.called = true;
                  },
                  &state),
              error::success);
    use(0);
    state.unloads = true;
    EXPECT_EQ(cudaLibraryUnload(library_), error::success);
    library_ = nullptr;
    EXPECT_TRUE(state.called);
}

} // namespace
} // namespace softgpu::runtime

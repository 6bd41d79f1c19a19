// SPDX-License-Identifier: MIT
// What a call about one device does to another one that works: resets, frees, waits, captures.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {
namespace {

using namespace std::chrono_literals;

executable_graph* capture_bump(stream* s) {
    graph* captured = nullptr;
    executable_graph* made = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(s, capture_mode::this_thread), error::success);
    EXPECT_EQ(launch_in(s, &devices_test::program().bump, 1, 1), error::success);
    EXPECT_EQ(cudaStreamEndCapture(s, &captured), error::success);
    EXPECT_EQ(cudaGraphInstantiate(&made, captured, 0), error::success);
    return made;
}

TEST_F(devices_test, a_reset_of_device_0_leaves_the_code_of_others) {
    use(1);
    stream* const s = make_stream();
    executable_graph* const bumps = capture_bump(s);
    ASSERT_EQ(cudaGraphLaunch(bumps, s), error::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    ASSERT_EQ(cudaFuncSetAttribute(&program().fill, function_attribute::max_dynamic_shared_bytes, 100000),
              error::success);
    void* before = nullptr;
    ASSERT_EQ(cudaGetSymbolAddress(&before, program().counter), error::success);
    const std::uint32_t* const shared = program().both;
    EXPECT_EQ(*shared, 4u);
    use(0);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(program().both, shared);
    EXPECT_EQ(*shared, 3u) << "its initial value";
    use(1);
    ASSERT_EQ(cudaGraphLaunch(bumps, s), error::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    EXPECT_EQ(counter(), 9u) << "the values of its variables";
    EXPECT_EQ(*shared, 4u);
    void* after = nullptr;
    ASSERT_EQ(cudaGetSymbolAddress(&after, program().counter), error::success);
    EXPECT_EQ(after, before);
    function_attributes a{};
    ASSERT_EQ(cudaFuncGetAttributes(&a, &program().fill), error::success);
    EXPECT_EQ(a.max_dynamic_shared_bytes, 100000);
}

TEST_F(devices_test, a_managed_variable_is_managed_memory_on_each_device) {
    (void)counter(); // loads the program
    for (int device = 0; device < device_count; ++device) {
        use(device);
        EXPECT_EQ(attributes_of(program().both).type, memory_type::managed);
        EXPECT_EQ(attributes_of(program().both).device, 0);
        std::uint32_t* const p = allocate(device, 1);
        *program().both = 60;
        ASSERT_EQ(cudaMemcpy(p, program().both, 4, copy_kind::automatic), error::success);
        EXPECT_EQ(read(p), 60u);
        EXPECT_EQ(cudaMemcpy(p, program().both + 1, 4, copy_kind::automatic), error::invalid_value) << "past its end";
        ASSERT_EQ(cudaMemset(program().both, 0, 4), error::success);
        EXPECT_EQ(*program().both, 0u);
    }
    testing::internal::CaptureStderr();
    use(2);
    ASSERT_EQ(fill(program().both + 1000, 1), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("memory of managed variables, where nothing is allocated"), std::string::npos) << said;
}

// The copy of device 1 is still to come.
TEST_F(devices_test, frees_of_memory_for_all_wait_for_all_devices) {
    constexpr std::size_t bytes = 4096;
    std::vector<char> own(2 * bytes);
    void* const page = own.data();
    using call = std::function<error(void*)>;
    for (const auto& [make, free] :
         {std::pair<call, call>{[](void* out) { return cudaMallocHost(static_cast<void**>(out), bytes); },
                                cudaFreeHost},
          {[&](void* out) {
               *static_cast<void**>(out) = page;
               return cudaHostRegister(page, bytes, 0);
           },
           cudaHostUnregister},
          {[](void* out) { return cudaMallocManaged(static_cast<void**>(out), bytes, 1); }, cudaFree}}) {
        use(0);
        void* shared = nullptr;
        ASSERT_EQ(make(&shared), error::success);
        std::uint32_t* const to = allocate(1, bytes / 4);
        stream* const s = make_stream();
        held_stream held(s);
        ASSERT_EQ(cudaMemcpyAsync(to, shared, bytes, copy_kind::automatic, s), error::success);
        held.release_later(20ms);
        EXPECT_EQ(free(shared), error::success);
        EXPECT_TRUE(held.is_released());
        ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    }
}

TEST_F(devices_test, the_host_may_write_what_a_kernel_polls) {
    constexpr std::string_view ptx = PTX_HEAD R"(.visible .entry poll(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
}
)";
    const embedded_kernel poll(ptx, "poll");
    void* managed = nullptr;
    void* pinned = nullptr;
    use(0);
    ASSERT_EQ(cudaMallocManaged(&managed, 4, 1), error::success);
    ASSERT_EQ(cudaMallocHost(&pinned, 4), error::success);
    use(1);
    for (void* const flag : {managed, pinned}) {
        std::atomic_ref<std::uint32_t> value(*static_cast<std::uint32_t*>(flag));
        value = 0;
        ASSERT_EQ(launch(&poll, 1, 1, flag), error::success);
        std::thread later([&value] {
            std::this_thread::sleep_for(200ms); // ten times SOFTGPU_DEADLOCK_SECONDS
            value = 1;
        });
        EXPECT_EQ(cudaDeviceSynchronize(), error::success);
        later.join();
    }
}

TEST_F(devices_test, a_graph_waits_for_an_event_of_another_device) {
    std::uint32_t* const there = allocate(1, 32);
    stream* const first = make_stream();
    event* done = nullptr;
    ASSERT_EQ(cudaEventCreate(&done), error::success);
    use(0);
    stream* const second = make_stream();
    std::uint32_t words[2] = {};
    ASSERT_EQ(cudaStreamBeginCapture(second, capture_mode::this_thread), error::success);
    ASSERT_EQ(cudaStreamWaitEvent(second, done, 1), error::success) << "as a node";
    ASSERT_EQ(cudaMemcpyAsync(words, there, 4, copy_kind::automatic, second), error::success);
    graph* captured = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(second, &captured), error::success);
    graph* made = nullptr;
    graph_node* node = nullptr;
    ASSERT_EQ(cudaGraphCreate(&made, 0), error::success);
    ASSERT_EQ(cudaGraphAddEventWaitNode(&node, made, nullptr, 0, done), error::success);
    EXPECT_EQ(cudaGraphAddEventRecordNode(&node, made, nullptr, 0, done), error::invalid_resource_handle);
    executable_graph* copies = nullptr;
    executable_graph* waits = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&copies, captured, 0), error::success);
    ASSERT_EQ(cudaGraphInstantiate(&waits, made, 0), error::success);
    use(1);
    held_stream held(first);
    ASSERT_EQ(fill(there, 42, first), error::success);
    ASSERT_EQ(cudaEventRecord(done, first), error::success);
    use(0);
    stream* const third = make_stream();
    ASSERT_EQ(cudaGraphLaunch(copies, second), error::success);
    ASSERT_EQ(cudaGraphLaunch(waits, third), error::success);
    EXPECT_EQ(cudaStreamQuery(second), error::not_ready);
    EXPECT_EQ(cudaStreamQuery(third), error::not_ready);
    held.release();
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(words[0], 42u);
}

TEST_F(devices_test, copies_with_pinned_and_managed_memory_wait_for_no_other_device) {
    use(1);
    void* pinned = nullptr;
    void* managed = nullptr;
    ASSERT_EQ(cudaMallocHost(&pinned, 4), error::success);
    ASSERT_EQ(cudaMallocManaged(&managed, 4, 1), error::success);
    *static_cast<std::uint32_t*>(pinned) = 5;
    *static_cast<std::uint32_t*>(managed) = 6;
    stream* blocking = nullptr;
    ASSERT_EQ(cudaStreamCreate(&blocking), error::success);
    std::uint32_t* const p = allocate(0, 1);
    held_stream held(blocking);
    held.release_later(100s); // if the copies wait for it
    ASSERT_EQ(cudaMemcpy(p, pinned, 4, copy_kind::host_to_device), error::success);
    EXPECT_EQ(read(p), 5u);
    ASSERT_EQ(cudaMemcpy(p, managed, 4, copy_kind::automatic), error::success);
    EXPECT_EQ(read(p), 6u);
    EXPECT_FALSE(held.is_released());
}

// Nothing is written to the memory, so the host has it all the time.
TEST_F(devices_test, memory_comes_back_from_streams_of_other_devices) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    use(1);
    stream* const s = make_stream();
    use(0);
    void* last = nullptr;
    for (void* p = nullptr; cudaMalloc(&p, piece) == error::success;) {
        last = p;
    }
    ASSERT_EQ(cudaGetLastError(), error::memory_allocation);
    held_stream held(s);
    ASSERT_EQ(cudaFreeAsync(last, s), error::success);
    held.release_later(20ms);
    EXPECT_EQ(cudaMalloc(&last, piece), error::success) << "after the pending free";
    EXPECT_TRUE(held.is_released());
}

TEST_F(devices_test, a_failed_device_frees_memory_of_others) {
    std::uint32_t* const p = allocate(0, 64);
    use(1);
    ASSERT_EQ(fill(nullptr, 1), error::success);
    ASSERT_EQ(cudaFreeAsync(p, nullptr), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    use(0);
    EXPECT_EQ(attributes_of(p).type, memory_type::unregistered);
}

TEST_F(devices_test, user_objects_belong_to_no_device) {
    std::atomic<bool> destroyed{false};
    user_object* object = nullptr;
    use(1);
    ASSERT_EQ(cudaUserObjectCreate(
                  &object, &destroyed, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, 1, 1),
              error::success);
    std::thread([object] {
        EXPECT_EQ(cudaUserObjectRelease(object, 1), error::success);
        EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    }).join();
    EXPECT_TRUE(destroyed);
    EXPECT_EQ(cudaUserObjectRelease(object, 1), error::invalid_value);
}

TEST_F(devices_test, a_call_with_a_graph_of_another_device_says_so) {
    use(1);
    graph* made = nullptr;
    ASSERT_EQ(cudaGraphCreate(&made, 0), error::success);
    std::size_t nodes = 0;
    EXPECT_EQ(cudaGraphGetNodes(made, nullptr, &nodes), error::success);
    use(0);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaGraphGetNodes(made, nullptr, &nodes), error::invalid_value);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "softgpu: this graph belongs to another device: see cudaSetDevice\n");
    EXPECT_EQ(cudaGraphDestroy(made), error::success);
}

TEST_F(devices_test, a_capture_forbids_calls_on_all_devices) {
    use(0);
    stream* const s = make_stream();
    ASSERT_EQ(cudaStreamBeginCapture(s, capture_mode::global), error::success);
    use(1);
    void* p = nullptr;
    EXPECT_EQ(cudaMalloc(&p, 4), error::stream_capture_unsupported);
    graph* captured = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(s, &captured), error::stream_capture_invalidated);
    EXPECT_EQ(cudaMalloc(&p, 4), error::success);
}

} // namespace
} // namespace softgpu::runtime

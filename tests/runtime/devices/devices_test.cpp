// SPDX-License-Identifier: MIT
// Several devices in one process: the current device, streams, events, code and resets.
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "softgpu/runtime/abi/testing.h"
#include "tests/runtime/devices/devices.hpp"

extern "C" {
softgpu_recording_begin_function softgpu_recording_begin;
softgpu_recording_end_function softgpu_recording_end;
softgpu_recording_launches_function softgpu_recording_launches;
softgpu_recording_free_function softgpu_recording_free;
softgpu_testing_device_failed_function softgpu_testing_device_failed;
}

namespace softgpu::runtime {
namespace {

int current() {
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), error::success);
    return device;
}

TEST_F(devices_test, each_thread_has_its_current_device) {
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), error::success);
    ASSERT_EQ(count, device_count);
    use(2);
    std::thread([] {
        EXPECT_EQ(current(), 0);
        use(1);
        EXPECT_EQ(current(), 1);
    }).join();
    EXPECT_EQ(current(), 2);
    for (const int wrong : {-1, device_count, 1000}) {
        EXPECT_EQ(cudaSetDevice(wrong), error::invalid_device);
        int value = 0;
        EXPECT_EQ(cudaDeviceGetAttribute(&value, 16, wrong), error::invalid_device);
        device_properties p{};
        EXPECT_EQ(cudaGetDeviceProperties(&p, wrong), error::invalid_device);
    }
    EXPECT_EQ(current(), 2);
}

TEST_F(devices_test, devices_differ_in_bus_and_uuid) {
    std::set<std::string> ids;
    std::set<std::string> uuids;
    for (int device = 0; device < device_count; ++device) {
        char text[16] = {};
        ASSERT_EQ(cudaDeviceGetPCIBusId(text, sizeof text, device), error::success);
        EXPECT_EQ(cudaDeviceGetPCIBusId(text, 12, device), error::invalid_value);
        int back = -1;
        ASSERT_EQ(cudaDeviceGetByPCIBusId(&back, text), error::success);
        EXPECT_EQ(back, device);
        ids.insert(text);
        device_properties p{};
        ASSERT_EQ(cudaGetDeviceProperties(&p, device), error::success);
        EXPECT_EQ(p.pci_bus_id, device);
        EXPECT_STREQ(p.name, "NVIDIA H100 80GB HBM3");
        uuids.insert(std::string(reinterpret_cast<const char*>(&p.uuid), sizeof p.uuid));
        int bus = -1;
        ASSERT_EQ(cudaDeviceGetAttribute(&bus, 33, device), error::success);
        EXPECT_EQ(bus, device);
    }
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_EQ(uuids.size(), 3u);
    int none = -1;
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&none, "0000:03:00.0"), error::invalid_device);
}

TEST_F(devices_test, kernels_run_on_the_current_device_in_its_streams_only) {
    std::array<stream*, device_count> streams{};
    std::array<std::uint32_t*, device_count> memory{};
    std::set<unsigned long long> ids;
    for (int device = 0; device < device_count; ++device) {
        const auto d = static_cast<std::size_t>(device);
        memory[d] = allocate(device, 32);
        streams[d] = make_stream();
        unsigned long long id = 0;
        ASSERT_EQ(cudaStreamGetId(streams[d], &id), error::success);
        ids.insert(id);
        ASSERT_EQ(fill(memory[d], 100 * static_cast<std::uint32_t>(device), streams[d]), error::success);
    }
    EXPECT_EQ(ids.size(), 3u);
    use(0);
    EXPECT_EQ(fill(memory[0], 1, streams[1]), error::invalid_resource_handle);
    EXPECT_EQ(cudaGetLastError(), error::invalid_resource_handle);
    for (int device = 0; device < device_count; ++device) {
        const auto d = static_cast<std::size_t>(device);
        int home = -1;
        ASSERT_EQ(cudaStreamGetDevice(streams[d], &home), error::success);
        EXPECT_EQ(home, device);
        EXPECT_EQ(cudaStreamSynchronize(streams[d]), error::success);
        EXPECT_EQ(cudaStreamQuery(streams[d]), error::success);
        EXPECT_EQ(read(memory[d] + 31), 100u * static_cast<std::uint32_t>(device) + 31);
        EXPECT_EQ(cudaStreamDestroy(streams[d]), error::success);
    }
    int home = -1;
    use(2);
    ASSERT_EQ(cudaStreamGetDevice(nullptr, &home), error::success);
    EXPECT_EQ(home, 2);
}

TEST_F(devices_test, events_order_streams_of_several_devices) {
    std::uint32_t* const source = allocate(1, 32);
    stream* const first = make_stream();
    event* const filled = make_event();
    std::uint32_t* const target = allocate(0, 32);
    stream* const second = make_stream();
    held_stream held(first);
    use(1);
    ASSERT_EQ(fill(source, 7, first), error::success);
    ASSERT_EQ(cudaEventRecord(filled, first), error::success);
    use(0);
    ASSERT_EQ(cudaStreamWaitEvent(second, filled, 0), error::success);
    ASSERT_EQ(cudaMemcpyPeerAsync(target, 0, source, 1, 128, second), error::success);
    EXPECT_EQ(cudaStreamQuery(second), error::not_ready);
    EXPECT_EQ(cudaEventQuery(filled), error::not_ready);
    use(2);
    EXPECT_EQ(cudaDeviceSynchronize(), error::success) << "no work of this device is left";
    held.release();
    EXPECT_EQ(cudaEventSynchronize(filled), error::success);
    use(0);
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(target + 3), 10u);
    EXPECT_EQ(cudaEventRecord(filled, second), error::invalid_resource_handle) << "of two devices";
    event* const own = make_event();
    ASSERT_EQ(cudaEventRecord(own, second), error::success);
    ASSERT_EQ(cudaEventSynchronize(own), error::success);
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, filled, own), error::invalid_resource_handle);
}

TEST_F(devices_test, variables_and_kernel_attributes_are_per_device) {
    (void)program();
    for (int device = 0; device < device_count; ++device) {
        use(device);
        for (int k = 0; k <= device; ++k) {
            ASSERT_EQ(bump(), error::success);
        }
        ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    }
    std::set<void*> places;
    for (int device = 0; device < device_count; ++device) {
        use(device);
        EXPECT_EQ(counter(), 8u + static_cast<std::uint32_t>(device));
        void* at = nullptr;
        ASSERT_EQ(cudaGetSymbolAddress(&at, program().counter), error::success);
        places.insert(at);
        EXPECT_EQ(attributes_of(at).device, device);
        ASSERT_EQ(cudaGetSymbolAddress(&at, &program().both), error::success);
        EXPECT_EQ(at, program().both) << "one managed variable for all";
    }
    EXPECT_EQ(places.size(), 3u);
    EXPECT_EQ(*program().both, 3u + 1 + 2 + 3);
    use(1);
    ASSERT_EQ(cudaFuncSetAttribute(&program().fill, function_attribute::max_dynamic_shared_bytes, 100000),
              error::success);
    function_attributes a{};
    ASSERT_EQ(cudaFuncGetAttributes(&a, &program().fill), error::success);
    EXPECT_EQ(a.max_dynamic_shared_bytes, 100000);
    use(0);
    ASSERT_EQ(cudaFuncGetAttributes(&a, &program().fill), error::success);
    EXPECT_NE(a.max_dynamic_shared_bytes, 100000);
    int blocks = 0;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &program().fill, 32, 100000), error::success);
    EXPECT_EQ(blocks, 0);
    use(1);
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &program().fill, 32, 100000), error::success);
    EXPECT_EQ(blocks, 2);
}

TEST_F(devices_test, a_reset_and_a_fault_concern_one_device) {
    std::uint32_t* const kept = allocate(0, 32);
    ASSERT_EQ(fill(kept, 5), error::success);
    ASSERT_EQ(bump(), error::success);
    std::uint32_t* const gone = allocate(1, 32);
    stream* const s = make_stream();
    void* wild = nullptr;
    ASSERT_EQ(launch(&program().wild, 1, 1, wild), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    EXPECT_EQ(cudaMalloc(&wild, 4), error::illegal_address);
    use(0);
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(kept + 1), 6u);
    use(1);
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(attributes_of(gone).type, memory_type::unregistered);
    EXPECT_EQ(cudaStreamQuery(s), error::invalid_resource_handle);
    EXPECT_EQ(bump(), error::success);
    EXPECT_EQ(counter(), 8u);
    use(0);
    EXPECT_EQ(attributes_of(kept).device, 0);
    EXPECT_EQ(counter(), 8u);
    EXPECT_EQ(*program().both, 3u + 2) << "both devices have added to the variable of device 0";
    ASSERT_EQ(cudaDeviceReset(), error::success);
    EXPECT_EQ(*program().both, 3u);
    use(1);
    ASSERT_EQ(bump(), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(*program().both, 4u);
}

TEST_F(devices_test, a_recording_is_of_all_devices) {
    softgpu_recording* recording = nullptr;
    ASSERT_EQ(softgpu_recording_begin(nullptr, &recording), nullptr);
    for (int device = 0; device < device_count; ++device) {
        use(device);
        ASSERT_EQ(bump(), error::success);
    }
    ASSERT_EQ(softgpu_recording_end(recording), nullptr);
    EXPECT_EQ(softgpu_recording_launches(recording), 3u);
    softgpu_recording_free(recording);
    EXPECT_EQ(softgpu_testing_device_failed(), 0);
    use(2);
    ASSERT_EQ(fill(nullptr, 1), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    use(0);
    EXPECT_EQ(softgpu_testing_device_failed(), 1) << "some device";
}

TEST_F(devices_test, a_graph_belongs_to_the_device_of_its_capture) {
    std::uint32_t* const p = allocate(2, 32);
    stream* const s = make_stream();
    use(2);
    ASSERT_EQ(cudaStreamBeginCapture(s, capture_mode::this_thread), error::success);
    ASSERT_EQ(fill(p, 40, s), error::success);
    graph* captured = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(s, &captured), error::success);
    executable_graph* made = nullptr;
    use(0);
    ASSERT_EQ(cudaGraphInstantiate(&made, captured, 0), error::success);
    EXPECT_EQ(cudaGraphLaunch(made, nullptr), error::invalid_value) << "a stream of another device";
    ASSERT_EQ(cudaGraphLaunch(made, s), error::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    EXPECT_EQ(read(p + 2), 42u);
    EXPECT_EQ(cudaGraphExecDestroy(made), error::success);
    EXPECT_EQ(cudaGraphExecDestroy(made), error::invalid_value);
    EXPECT_EQ(cudaGraphDestroy(captured), error::success);
    EXPECT_EQ(cudaGraphDestroy(captured), error::invalid_value);
}

TEST_F(devices_test, a_capture_over_several_devices) {
    std::uint32_t* const first = allocate(0, 32);
    std::uint32_t* const second = allocate(1, 32);
    std::uint32_t* const copied = allocate(0, 32);
    use(1);
    stream* const other = make_stream();
    event* const back = make_event();
    use(0);
    stream* const origin = make_stream();
    event* const forked = make_event();
    void* inside = nullptr;
    graph* captured = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(origin, capture_mode::this_thread), error::success);
    ASSERT_EQ(fill(first, 10, origin), error::success);
    ASSERT_EQ(cudaEventRecord(forked, origin), error::success);
    use(1);
    ASSERT_EQ(cudaStreamWaitEvent(other, forked, 0), error::success);
    capture_status status = capture_status::none;
    ASSERT_EQ(cudaStreamIsCapturing(other, &status), error::success);
    EXPECT_EQ(status, capture_status::active);
    ASSERT_EQ(cudaMallocAsync(&inside, 128, other), error::success);
    ASSERT_EQ(cudaMemcpyAsync(inside, first, 128, copy_kind::automatic, other), error::success);
    ASSERT_EQ(fill(second, 40, other), error::success);
    ASSERT_EQ(cudaMemcpyAsync(second, inside, 4, copy_kind::automatic, other), error::success);
    ASSERT_EQ(cudaFreeAsync(inside, other), error::success);
    ASSERT_EQ(cudaEventRecord(back, other), error::success);
    use(0);
    ASSERT_EQ(cudaStreamWaitEvent(origin, back, 0), error::success);
    ASSERT_EQ(cudaMemcpyAsync(copied, second, 128, copy_kind::automatic, origin), error::success);
    ASSERT_EQ(cudaStreamEndCapture(origin, &captured), error::success);
    use(1);
    ASSERT_EQ(cudaStreamIsCapturing(other, &status), error::success);
    EXPECT_EQ(status, capture_status::none);
    use(0);
    executable_graph* made = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&made, captured, 0), error::success);
    for (int round = 0; round < 2; ++round) {
        ASSERT_EQ(cudaMemset(copied, 0, 128), error::success);
        ASSERT_EQ(cudaDeviceSynchronize(), error::success);
        ASSERT_EQ(cudaGraphLaunch(made, origin), error::success);
        ASSERT_EQ(cudaStreamSynchronize(origin), error::success);
        EXPECT_EQ(read(copied), 10u);
        EXPECT_EQ(read(copied + 2), 42u);
    }
    EXPECT_EQ(cudaGraphExecDestroy(made), error::success);
    EXPECT_EQ(cudaGraphDestroy(captured), error::success);
}

TEST_F(devices_test, a_capture_over_several_devices_is_joined) {
    std::uint32_t* const p = allocate(1, 32);
    use(1);
    stream* const other = make_stream();
    use(0);
    stream* const origin = make_stream();
    event* const forked = make_event();
    ASSERT_EQ(cudaStreamBeginCapture(origin, capture_mode::this_thread), error::success);
    ASSERT_EQ(cudaEventRecord(forked, origin), error::success);
    use(1);
    ASSERT_EQ(cudaStreamWaitEvent(other, forked, 0), error::success);
    ASSERT_EQ(fill(p, 40, other), error::success);
    use(0);
    graph* captured = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(origin, &captured), error::stream_capture_unjoined);
    ASSERT_EQ(cudaStreamBeginCapture(origin, capture_mode::this_thread), error::success);
    ASSERT_EQ(cudaEventRecord(forked, origin), error::success);
    use(1);
    ASSERT_EQ(cudaStreamWaitEvent(other, forked, 0), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::stream_capture_unsupported) << "device 1 captures, too";
    use(0);
    EXPECT_EQ(cudaStreamEndCapture(origin, &captured), error::stream_capture_invalidated);
    use(1);
    EXPECT_EQ(fill(p, 40, other), error::success) << "the stream has left the capture";
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(read(p + 2), 42u);
}

} // namespace
} // namespace softgpu::runtime

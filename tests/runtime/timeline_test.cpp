// SPDX-License-Identifier: MIT
// The journal of operations that timelines are made from: what each operation is and waits for, and what the host waits for.
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/observe/timeline.hpp"
#include "tests/runtime/api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

using observe::engine;
using observe::host_step;

constexpr std::size_t bytes = 100'000;

class timeline_test : public testing::Test {
protected:
    void SetUp() override {
        (void)cudaGetLastError();
        for (stream** const s : {&first, &second}) {
            ASSERT_EQ(cudaStreamCreate(s), error::success);
        }
        ASSERT_EQ(cudaEventCreate(&done), error::success);
        ASSERT_EQ(cudaMalloc(&device, 2 * bytes), error::success);
        ASSERT_EQ(cudaMallocHost(&pinned, 2 * bytes), error::success);
    }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }

    // The operations of the body that use an engine.
    template <class Body>
    observe::operation_log log_of(Body&& body) {
        observe::operation_log log;
        softgpu_record_operations(&log);
        body();
        softgpu_record_operations(nullptr);
        return log;
    }

    static observe::timeline_machine slow() {
        observe::timeline_machine m;
        m.call_seconds = m.copy_latency = m.kernel_latency = 0;
        m.pinned_bytes_per_s = bytes; // one copy per second
        m.pageable_bytes_per_s = m.pinned_bytes_per_s / 2;
        m.memory_bytes_per_s = 2 * bytes;
        m.host_function_seconds = 1;
        return m;
    }

    stream* first = nullptr;
    stream* second = nullptr;
    event* done = nullptr;
    void* device = nullptr;
    void* pinned = nullptr;
};

TEST_F(timeline_test, copies_have_the_engine_of_their_direction) {
    std::vector<char> pageable(bytes);
    const auto log = log_of([&] {
        (void)cudaMemcpyAsync(device, pinned, bytes, copy_kind::host_to_device, first);
        (void)cudaMemcpyAsync(pinned, device, bytes, copy_kind::device_to_host, first);
        (void)cudaMemcpyAsync(static_cast<char*>(device) + bytes, device, bytes, copy_kind::device_to_device, first);
        (void)cudaMemcpyAsync(device, pageable.data(), bytes, copy_kind::host_to_device, first);
        (void)cudaMemcpyAsync(device, pageable.data(), 100, copy_kind::host_to_device, first);
        (void)cudaMemsetAsync(device, 1, bytes, first);
    });
    std::vector<engine> engines;
    for (const auto& o : log.operations) {
        engines.push_back(o.on);
    }
    EXPECT_EQ(engines, (std::vector<engine>{engine::to_device, engine::to_host, engine::compute, engine::to_device,
                                            engine::to_device, engine::compute}));
    EXPECT_FALSE(log.operations[0].pageable);
    EXPECT_TRUE(log.operations[3].pageable && !log.operations[3].staged);
    EXPECT_TRUE(log.operations[4].pageable && log.operations[4].staged);
    EXPECT_EQ(log.operations[0].bytes, bytes);
    EXPECT_EQ(log.operations[2].bytes, 2 * bytes) << "read and written";
    EXPECT_EQ(log.operations[0].stream, "stream 1");
    EXPECT_NE(log.operations[0].name.find("from pinned to device"), std::string::npos) << log.operations[0].name;
}

TEST_F(timeline_test, kernels_bring_their_counters) {
    const sample_program program;
    const auto log = log_of([&] { ASSERT_EQ(launch_in(first, &program.fill, 1, 64, device, 0), error::success); });
    ASSERT_EQ(log.operations.size(), 1u);
    const auto& kernel = log.operations[0];
    EXPECT_EQ(kernel.on, engine::compute);
    EXPECT_EQ(kernel.name, "fill(unsigned int*, unsigned int)");
    EXPECT_EQ(kernel.blocks, 1u);
    EXPECT_EQ(kernel.warp_instructions, 2 * 12u);
    EXPECT_EQ(kernel.memory_bytes, 64 * 4u);
}

TEST_F(timeline_test, events_and_streams_make_the_order) {
    const auto log = log_of([&] {
        (void)cudaMemcpyAsync(device, pinned, bytes, copy_kind::host_to_device, first);
        (void)cudaEventRecord(done, first);
        (void)cudaMemcpyAsync(static_cast<char*>(pinned) + bytes, static_cast<char*>(device) + bytes, bytes,
                              copy_kind::device_to_host, second);
        (void)cudaStreamWaitEvent(second, done, 0);
        (void)cudaMemsetAsync(device, 1, bytes, second);
    });
    const observe::timeline t = observe::model_of(log, slow());
    ASSERT_EQ(t.events.size(), 3u);
    EXPECT_EQ(t.events[2].after, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(t.events[0].start, 0);
    EXPECT_EQ(t.events[1].start, 0);
    EXPECT_EQ(t.events[2].start, 1);
    EXPECT_EQ(t.seconds(), 1.5);
}

TEST_F(timeline_test, the_default_stream_serialises_and_the_host_waits) {
    const auto log = log_of([&] {
        (void)cudaMemcpyAsync(device, pinned, bytes, copy_kind::host_to_device, first);
        (void)cudaMemsetAsync(device, 1, bytes, nullptr);
        (void)cudaMemcpyAsync(pinned, device, bytes, copy_kind::device_to_host, second);
        (void)cudaStreamSynchronize(second);
        (void)cudaMemcpy(device, pinned, bytes, copy_kind::host_to_device);
        (void)cudaMemcpyAsync(pinned, device, bytes, copy_kind::device_to_host, first);
    });
    const observe::timeline t = observe::model_of(log, slow());
    ASSERT_EQ(t.events.size(), 5u);
    EXPECT_EQ(t.events[1].start, 1);
    EXPECT_EQ(t.events[1].stream, "default stream");
    EXPECT_EQ(t.events[2].start, 1.5);
    EXPECT_EQ(t.events[3].issued, 2.5) << "after the synchronisation";
    EXPECT_EQ(t.events[4].issued, 3.5) << "after the blocking copy";
}

TEST_F(timeline_test, host_functions_are_no_threads_that_wait) {
    const auto log = log_of([&] {
        (void)cudaLaunchHostFunc(
            first, [](void*) {}, nullptr);
        (void)cudaStreamAddCallback(
            first, [](stream*, error, void*) {}, nullptr, 0);
    });
    ASSERT_EQ(log.operations.size(), 2u);
    EXPECT_EQ(log.operations[0].on, engine::host);
    EXPECT_EQ(log.operations[1].on, engine::host);
    for (const host_step& s : log.host) {
        EXPECT_EQ(s.thread, 0u);
    }
    EXPECT_EQ(observe::model_of(log, slow()).seconds(), 2);
}

TEST_F(timeline_test, one_log_at_a_time_and_none_in_between) {
    const auto first_log = log_of([&] { (void)cudaMemsetAsync(device, 1, bytes, first); });
    (void)cudaMemsetAsync(device, 2, bytes, first);
    const auto later = log_of([&] { (void)cudaMemsetAsync(device, 3, 10, first); });
    EXPECT_EQ(first_log.operations.size(), 1u);
    ASSERT_EQ(later.operations.size(), 1u);
    EXPECT_EQ(later.operations[0].bytes, 10u);
    EXPECT_TRUE(later.operations[0].after.empty()) << "what came before the log is over";
}

} // namespace
} // namespace softgpu::runtime

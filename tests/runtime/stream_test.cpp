// SPDX-License-Identifier: MIT
// Streams, events and callbacks: handles, order, and errors per thread.
#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/runtime/api.hpp"

namespace softgpu::runtime {
namespace {

class stream_test : public testing::Test {
protected:
    void SetUp() override { (void)cudaGetLastError(); }
    void TearDown() override { EXPECT_EQ(cudaDeviceReset(), error::success); }
};

TEST_F(stream_test, handles_are_checked) {
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    EXPECT_EQ(cudaStreamSynchronize(s), error::success);
    EXPECT_EQ(cudaStreamSynchronize_ptsz(s), error::success);
    EXPECT_EQ(cudaStreamDestroy(s), error::success);
    EXPECT_EQ(cudaStreamDestroy(s), error::invalid_resource_handle);
    EXPECT_EQ(cudaStreamQuery(s), error::invalid_resource_handle);
    EXPECT_EQ(cudaMemcpyAsync(nullptr, nullptr, 0, copy_kind::host_to_host, s), error::invalid_resource_handle);
    event* e = nullptr;
    ASSERT_EQ(cudaEventCreate(&e), error::success);
    EXPECT_EQ(cudaEventRecord(e, s), error::invalid_resource_handle);
    EXPECT_EQ(cudaEventDestroy(e), error::success);
    EXPECT_EQ(cudaEventRecord(e, nullptr), error::invalid_resource_handle);
    EXPECT_EQ(cudaEventDestroy(e), error::invalid_resource_handle);
}

TEST_F(stream_test, priorities_are_brought_into_range) {
    stream* s = nullptr;
    int priority = 9;
    for (const auto& [asked, given] : {std::pair{-100, -5}, {-2, -2}, {7, 0}}) {
        ASSERT_EQ(cudaStreamCreateWithPriority(&s, 0, asked), error::success);
        ASSERT_EQ(cudaStreamGetPriority(s, &priority), error::success);
        EXPECT_EQ(priority, given);
        ASSERT_EQ(cudaStreamDestroy(s), error::success);
    }
}

TEST_F(stream_test, events_measure_the_time_between_them) {
    event* start = nullptr;
    event* end = nullptr;
    ASSERT_EQ(cudaEventCreate(&start), error::success);
    ASSERT_EQ(cudaEventCreate(&end), error::success);
    ASSERT_EQ(cudaEventRecord(start, nullptr), error::success);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(cudaEventRecord(end, nullptr), error::success);
    ASSERT_EQ(cudaEventSynchronize(end), error::success);
    float milliseconds = -1;
    ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, end), error::success);
    EXPECT_GE(milliseconds, 20.0f) << "no less than the thread slept";
    ASSERT_EQ(cudaEventElapsedTime(&milliseconds, end, start), error::success);
    EXPECT_LE(milliseconds, -20.0f);
}

TEST_F(stream_test, host_functions_run_in_order_and_other_threads_get_on) {
    std::string order;
    stream* s = nullptr;
    ASSERT_EQ(cudaStreamCreate(&s), error::success);
    ASSERT_EQ(cudaLaunchHostFunc(
                  s, [](void* o) { *static_cast<std::string*>(o) += "a"; }, &order),
              error::success);
    ASSERT_EQ(cudaStreamAddCallback(
                  s,
                  [](stream* on, error status, void* o) {
                      *static_cast<std::string*>(o) += status == error::success ? "b" : "?";
                      // Another thread's call must succeed meanwhile.
                      std::thread([&] { EXPECT_EQ(cudaStreamQuery(on), error::not_ready); }).join();
                      EXPECT_EQ(cudaStreamSynchronize(on), error::not_permitted) << "it would wait for itself";
                  },
                  &order, 0),
              error::success);
    ASSERT_EQ(cudaStreamSynchronize(s), error::success);
    EXPECT_EQ(order, "ab");
}

// A host function that ends on request.
struct gate {
    std::atomic<bool> open{false};
    static void wait(void* self) {
        while (!static_cast<gate*>(self)->open) {
            std::this_thread::yield();
        }
    }
};

TEST_F(stream_test, each_thread_has_a_default_stream) {
    gate g;
    ASSERT_EQ(cudaLaunchHostFunc_ptsz(nullptr, gate::wait, &g), error::success);
    EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), error::not_ready);
    EXPECT_EQ(cudaStreamQuery(reinterpret_cast<stream*>(2)), error::not_ready);
    std::thread([] { EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), error::success) << "its own is empty"; }).join();
    EXPECT_EQ(cudaStreamQuery(nullptr), error::not_ready) << "the legacy stream waits for it";
    g.open = true;
    EXPECT_EQ(cudaStreamSynchronize(nullptr), error::success);
    EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), error::success);
}

// Threads that end give their handles to later ones; not so their streams.
TEST_F(stream_test, no_thread_inherits_the_default_stream_of_an_ended_one) {
    stream* const own = reinterpret_cast<stream*>(2);
    gate g;
    unsigned long long first = 0;
    std::thread([&] {
        ASSERT_EQ(cudaStreamGetId(own, &first), error::success);
        ASSERT_EQ(cudaLaunchHostFunc(own, gate::wait, &g), error::success);
    }).join();
    EXPECT_EQ(cudaStreamQuery(nullptr), error::not_ready) << "what the thread has left comes before the legacy stream";
    std::thread([&] {
        unsigned long long id = 0;
        EXPECT_EQ(cudaStreamGetId(own, &id), error::success);
        EXPECT_NE(id, first);
        EXPECT_EQ(cudaStreamQuery(own), error::success);
    }).join();
    g.open = true;
    EXPECT_EQ(cudaStreamSynchronize(nullptr), error::success);
    std::thread([&] { ASSERT_EQ(cudaStreamBeginCapture(own, capture_mode::this_thread), error::success); }).join();
    std::thread([&] {
        capture_status s = capture_status::active;
        EXPECT_EQ(cudaStreamIsCapturing(own, &s), error::success);
        EXPECT_EQ(s, capture_status::none);
    }).join();
}

TEST_F(stream_test, an_event_outlives_its_stream_and_is_waited_for_as_it_was) {
    gate first, second;
    stream* a = nullptr;
    stream* b = nullptr;
    event* e = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&a, 1), error::success);
    ASSERT_EQ(cudaStreamCreateWithFlags(&b, 1), error::success);
    ASSERT_EQ(cudaEventCreate(&e), error::success);
    EXPECT_EQ(cudaEventQuery(e), error::success) << "never recorded";
    ASSERT_EQ(cudaLaunchHostFunc(a, gate::wait, &first), error::success);
    ASSERT_EQ(cudaEventRecord(e, a), error::success);
    ASSERT_EQ(cudaStreamDestroy(a), error::success);
    ASSERT_EQ(cudaStreamWaitEvent(b, e, 0), error::success);
    EXPECT_EQ(cudaEventQuery(e), error::not_ready);
    EXPECT_EQ(cudaPeekAtLastError(), error::success) << "an answer, no error";
    ASSERT_EQ(cudaEventDestroy(e), error::success);
    ASSERT_EQ(cudaLaunchHostFunc(b, gate::wait, &second), error::success);
    second.open = true;
    EXPECT_EQ(cudaStreamQuery(b), error::not_ready);
    first.open = true;
    EXPECT_EQ(cudaStreamSynchronize(b), error::success);
    EXPECT_EQ(cudaStreamDestroy(b), error::success);
}

TEST_F(stream_test, the_last_error_is_the_threads_own) {
    EXPECT_EQ(cudaSetDevice(5), error::invalid_device);
    std::thread([] { EXPECT_EQ(cudaPeekAtLastError(), error::success); }).join();
    EXPECT_EQ(cudaDeviceSynchronize(), error::success);
    EXPECT_EQ(cudaPeekAtLastError(), error::invalid_device) << "a call that succeeds does not clear it";
    EXPECT_EQ(cudaGetLastError(), error::invalid_device);
    EXPECT_EQ(cudaGetLastError(), error::success);
}

TEST_F(stream_test, unsupported_calls_say_their_name) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaGraphicsMapResources(0, nullptr, nullptr), error::not_supported);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "softgpu: cudaGraphicsMapResources is not supported\n");
    EXPECT_EQ(cudaGetLastError(), error::not_supported);
}

TEST_F(stream_test, errors_have_names_and_texts) {
    EXPECT_STREQ(cudaGetErrorName(error::success), "cudaSuccess");
    EXPECT_STREQ(cudaGetErrorString(error::illegal_address), "an illegal memory access was encountered");
    EXPECT_STREQ(cudaGetErrorName(static_cast<error>(12345)), "unrecognized error code");
}

} // namespace
} // namespace softgpu::runtime

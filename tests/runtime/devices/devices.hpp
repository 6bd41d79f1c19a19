// SPDX-License-Identifier: MIT
// Three devices in this process, the calls about several of them, and a program that runs on each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {

extern "C" {

error cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                     std::size_t bytes);
error cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                          std::size_t bytes, stream* on);

} // extern "C"

inline constexpr int device_count = 3;
// Before the first call of the process.
inline const bool devices_are_chosen =
    ::setenv("SOFTGPU_DEVICES", "3", 1) == 0 && ::setenv("SOFTGPU_DEADLOCK_SECONDS", "0.02", 1) == 0;

// Keeps a stream from going on until it is released.
class held_stream {
public:
    explicit held_stream(stream* s) {
        // The host may run the function's thread so late that this object is gone.
        using shared_flag = decltype(released_);
        const host_function wait = [](void* user) {
            const std::unique_ptr<shared_flag> released(static_cast<shared_flag*>(user));
            while (!**released) {
                std::this_thread::yield();
            }
        };
        EXPECT_EQ(cudaLaunchHostFunc(s, wait, new shared_flag(released_)), error::success);
    }
    ~held_stream() {
        release();
        if (later_.joinable()) {
            later_.join();
        }
    }
    held_stream(const held_stream&) = delete;
    held_stream& operator=(const held_stream&) = delete;

    void release() { *released_ = true; }
    void release_later(std::chrono::milliseconds after) {
        later_ = std::thread([this, after] {
            for (const auto end = std::chrono::steady_clock::now() + after;
                 !*released_ && std::chrono::steady_clock::now() < end;) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            release();
        });
    }
    [[nodiscard]] bool is_released() const { return *released_; }

private:
    std::shared_ptr<std::atomic<bool>> released_ = std::make_shared<std::atomic<bool>>(false);
    std::thread later_;
};

class devices_test : public testing::Test {
protected:
    void SetUp() override { (void)cudaGetLastError(); }
    void TearDown() override {
        for (int device = 0; device < device_count; ++device) {
            use(device);
            EXPECT_EQ(cudaDeviceReset(), error::success);
        }
        use(0);
    }

public:
    static void use(int device) { ASSERT_EQ(cudaSetDevice(device), error::success); }
    static stream* make_stream() {
        stream* s = nullptr;
        EXPECT_EQ(cudaStreamCreateWithFlags(&s, 1), error::success);
        return s;
    }
    static event* make_event() {
        event* e = nullptr;
        EXPECT_EQ(cudaEventCreate(&e), error::success);
        return e;
    }
    static std::uint32_t* allocate(int device, std::size_t words) {
        use(device);
        void* p = nullptr;
        EXPECT_EQ(cudaMalloc(&p, words * 4), error::success);
        EXPECT_EQ(cudaMemset(p, 0, words * 4), error::success);
        EXPECT_EQ(cudaDeviceSynchronize(), error::success); // the tests' streams do not wait for the default stream
        return static_cast<std::uint32_t*>(p);
    }
    // On the current device: p[i] = value + i for 32 words.
    static error fill(std::uint32_t* p, std::uint32_t value, stream* on = nullptr) {
        return launch_in(on, &program().fill, 1, 32, p, value);
    }
    static error bump() { return launch(&program().bump, 1, 1); }
    static std::uint32_t read(const std::uint32_t* p) {
        std::uint32_t value = 0;
        EXPECT_EQ(cudaMemcpy(&value, p, 4, copy_kind::automatic), error::success);
        return value;
    }
    static std::uint32_t counter() {
        std::uint32_t value = 0;
        EXPECT_EQ(cudaMemcpyFromSymbol(&value, program().counter, 4, 0, copy_kind::device_to_host), error::success);
        return value;
    }
    static pointer_attributes attributes_of(const void* p) {
        pointer_attributes a{};
        EXPECT_EQ(cudaPointerGetAttributes(&a, p), error::success);
        return a;
    }
    static sample_program& program() {
        static sample_program only;
        return only;
    }
};

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Threads of the host that use several devices at once.
#include <thread>
#include <vector>

#include "tests/runtime/devices/devices.hpp"

namespace softgpu::runtime {
namespace {

// Two threads a device. Each copies its words to the next device and back.
TEST_F(devices_test, threads_use_several_devices_at_once) {
    (void)program();
    std::vector<std::thread> threads;
    threads.reserve(2 * device_count);
    for (int t = 0; t < 2 * device_count; ++t) {
        threads.emplace_back([t] {
            const int own = t % device_count;
            for (std::uint32_t round = 0; round < 20; ++round) {
                const std::uint32_t value = 1000 * static_cast<std::uint32_t>(t) + round;
                std::uint32_t* const there = allocate((own + 1) % device_count, 32);
                std::uint32_t* const here = allocate(own, 32);
                stream* const s = make_stream();
                event* filled = nullptr;
                ASSERT_EQ(cudaEventCreate(&filled), error::success);
                ASSERT_EQ(fill(here, value, s), error::success);
                ASSERT_EQ(cudaMemcpyPeerAsync(there, (own + 1) % device_count, here, own, 128, s), error::success);
                ASSERT_EQ(cudaMemsetAsync(here, 0, 128, s), error::success);
                ASSERT_EQ(cudaMemcpyAsync(here + 1, there + 1, 124, copy_kind::automatic, s), error::success);
                ASSERT_EQ(cudaEventRecord(filled, s), error::success);
                ASSERT_EQ(cudaEventSynchronize(filled), error::success);
                ASSERT_EQ(read(here), 0u);
                ASSERT_EQ(read(here + 31), value + 31);
                ASSERT_EQ(cudaEventDestroy(filled), error::success);
                ASSERT_EQ(cudaStreamDestroy(s), error::success);
                ASSERT_EQ(cudaFree(there), error::success);
                ASSERT_EQ(cudaFree(here), error::success);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

} // namespace
} // namespace softgpu::runtime

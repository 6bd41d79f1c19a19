// SPDX-License-Identifier: MIT
// Memory and events between two processes.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/driver/driver_fixture.hpp"
#include "tests/driver/shared_memory_protocol.hpp"
#include "tests/driver/virtual_memory_api.hpp"
#include "tests/runtime/embedded.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned interprocess = 2 | 4; // with timing disabled

// The other process. `keep`: a descriptor that it inherits.
class other_process {
public:
    explicit other_process(int keep = -1) {
        int to[2], from[2];
        EXPECT_EQ(::pipe2(to, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(from, O_CLOEXEC), 0);
        if (keep >= 0) {
            ::fcntl(keep, F_SETFD, 0);
        }
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(to[0], 0);
            ::dup2(from[1], 1);
            ::execl(SHARED_MEMORY_PROGRAM, SHARED_MEMORY_PROGRAM, static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(to[0]);
        ::close(from[1]);
        in_ = to[1];
        out_ = from[0];
    }
    ~other_process() {
        ::close(in_);
        ::close(out_);
        int status = 0;
        ::waitpid(child_, &status, 0);
        EXPECT_EQ(status, 0);
    }
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;

    answer ask(const request& r) const {
        answer a{result::unknown, 0};
        EXPECT_EQ(::write(in_, &r, sizeof r), static_cast<ssize_t>(sizeof r));
        EXPECT_EQ(::read(out_, &a, sizeof a), static_cast<ssize_t>(sizeof a));
        return a;
    }
    answer ask(order what, std::uint32_t value = 0) const { return ask(request{what, value, {}}); }

private:
    pid_t child_ = 0;
    int in_ = -1;
    int out_ = -1;
};

class shared_memory_test : public driver_fixture {
protected:
    static constexpr result invalid_context = static_cast<result>(201);

    static std::uint32_t word_at(device_address at) {
        std::uint32_t word = 0;
        EXPECT_EQ(cuMemcpyDtoH_v2(&word, at, 4), result::success);
        return word;
    }
};

TEST_F(shared_memory_test, both_processes_use_an_allocation) {
    device_address before = 0, memory = 0, behind = 0;
    ASSERT_EQ(cuMemAlloc_v2(&before, 300), result::success); // in the same pages
    ASSERT_EQ(cuMemAlloc_v2(&memory, 5000), result::success);
    ASSERT_EQ(cuMemAlloc_v2(&behind, 300), result::success);
    ASSERT_EQ(cuMemsetD32_v2(before, 1, 75), result::success);
    ASSERT_EQ(cuMemsetD32_v2(memory, 2, 1250), result::success);
    ASSERT_EQ(cuMemsetD32_v2(behind, 3, 75), result::success);
    shared_handle h{};
    ASSERT_EQ(cuIpcGetMemHandle(&h, memory + 8), result::success); // of the whole allocation
    EXPECT_EQ(word_at(before + 296), 1u);
    EXPECT_EQ(word_at(memory), 2u);
    EXPECT_EQ(word_at(behind), 3u);
    {
        const other_process other;
        ASSERT_EQ(other.ask({order::open, 0, h}).code, result::success);
        EXPECT_EQ(other.ask(order::bytes).word, 5000u);
        EXPECT_EQ(other.ask(order::read, 1249).word, 2u);
        ASSERT_EQ(cuMemsetD32_v2(memory, 9, 1), result::success);
        ASSERT_EQ(cuCtxSynchronize(), result::success);
        EXPECT_EQ(other.ask(order::read, 0).word, 9u);
        ASSERT_EQ(other.ask(order::fill, 100).code, result::success);
        ASSERT_EQ(other.ask(order::synchronize).code, result::success);
        EXPECT_EQ(word_at(memory + 4 * 63), 163u);
        EXPECT_EQ(other.ask(order::read, 1250).code, result::invalid_value); // the neighbour's
        EXPECT_EQ(other.ask(order::free).code, result::invalid_value);
        EXPECT_EQ(other.ask(order::close).code, result::success);
        EXPECT_EQ(other.ask(order::close).code, result::invalid_value);
        EXPECT_EQ(other.ask(order::read, 0).code, result::invalid_value);
        // A second allocation in pages that are shared already.
        shared_handle second{};
        ASSERT_EQ(cuIpcGetMemHandle(&second, behind), result::success);
        ASSERT_EQ(other.ask({order::open, 0, second}).code, result::success);
        EXPECT_EQ(other.ask(order::read, 74).word, 3u);
    }
    EXPECT_EQ(word_at(memory + 4), 101u);
    EXPECT_EQ(cuMemFree_v2(memory), result::success);
}

TEST_F(shared_memory_test, wrong_handles) {
    device_address memory = 0;
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), result::success);
    shared_handle h{};
    device_address at = 0;
    ASSERT_EQ(cuIpcGetMemHandle(&h, memory), result::success);
    EXPECT_EQ(cuIpcOpenMemHandle_v2(&at, h, 1), invalid_context); // in the process that exported it
    const other_process other;
    testing::internal::CaptureStderr();
    EXPECT_EQ(cuIpcOpenMemHandle_v2(&at, shared_handle{}, 1), result::invalid_value);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("no handle"), std::string::npos);
    shared_handle gone = h;
    gone.file += 1;
    EXPECT_EQ(other.ask({order::open, 0, gone}).code, result::invalid_handle);
    gone = h;
    gone.process = 1 << 30;
    EXPECT_EQ(other.ask({order::open, 0, gone}).code, result::invalid_handle);
    gone = h;
    gone.bytes = std::uint64_t{1} << 60;
    EXPECT_EQ(other.ask({order::open, 0, gone}).code, result::invalid_handle);
    EXPECT_EQ(other.ask({order::open_event, 0, h}).code, result::invalid_value);
    EXPECT_EQ(cuIpcGetMemHandle(&h, memory + 4096), result::invalid_value);
    device_address managed = 0;
    ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), result::success);
    EXPECT_EQ(cuIpcGetMemHandle(&h, managed), result::invalid_value);
    event* plain = nullptr;
    ASSERT_EQ(cuEventCreate(&plain, 2), result::success);
    EXPECT_EQ(cuIpcGetEventHandle(&h, plain), result::invalid_handle);
    constexpr shared_handle none{};
    EXPECT_EQ(std::memcmp(&h, &none, sizeof(h)), 0);
}

TEST_F(shared_memory_test, an_event_orders_the_streams_of_two_processes) {
    event* e = nullptr;
    stream* s = nullptr;
    device_address memory = 0;
    ASSERT_EQ(cuEventCreate(&e, interprocess), result::success);
    ASSERT_EQ(cuStreamCreate(&s, 1), result::success);
    ASSERT_EQ(cuMemAlloc_v2(&memory, 256), result::success);
    shared_handle of_event{}, of_memory{};
    ASSERT_EQ(cuIpcGetEventHandle(&of_event, e), result::success);
    ASSERT_EQ(cuIpcGetMemHandle(&of_memory, memory), result::success);
    const other_process other;
    ASSERT_EQ(other.ask({order::open, 0, of_memory}).code, result::success);
    ASSERT_EQ(other.ask({order::open_event, 0, of_event}).code, result::success);
    EXPECT_EQ(other.ask(order::query).code, result::success); // never recorded
    // The other process's kernel waits for a host function here.
    std::atomic<bool> go{false};
    ASSERT_EQ(cuLaunchHostFunc(
                  s,
                  [](void* user) {
                      while (!*static_cast<std::atomic<bool>*>(user)) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      }
                  },
                  &go),
              result::success);
    ASSERT_EQ(cuEventRecord(e, s), result::success);
    EXPECT_EQ(other.ask(order::query).code, static_cast<result>(600));
    ASSERT_EQ(other.ask(order::wait).code, result::success);
    ASSERT_EQ(other.ask(order::fill, 50).code, result::success);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(word_at(memory), 0u);
    go = true;
    ASSERT_EQ(other.ask(order::synchronize).code, result::success);
    EXPECT_EQ(word_at(memory), 50u);
    // And the other way: it records, this process waits.
    ASSERT_EQ(other.ask(order::record).code, result::success);
    ASSERT_EQ(cuStreamWaitEvent(s, e, 0), result::success);
    ASSERT_EQ(cuStreamSynchronize(s), result::success);
    ASSERT_EQ(cuEventSynchronize(e), result::success);
    EXPECT_EQ(cuEventQuery(e), result::success);
}

TEST_F(shared_memory_test, an_event_of_a_process_that_has_ended_is_over) {
    event* e = nullptr;
    ASSERT_EQ(cuEventCreate(&e, interprocess), result::success);
    shared_handle h{};
    ASSERT_EQ(cuIpcGetEventHandle(&h, e), result::success);
    {
        const other_process other;
        ASSERT_EQ(other.ask({order::open_event, 0, h}).code, result::success);
        ASSERT_EQ(other.ask(order::record).code, result::success);
    }
    EXPECT_EQ(cuEventSynchronize(e), result::success);
}

TEST_F(shared_memory_test, pools_and_their_allocations) {
    memory_pool* const pool = pool_of(pool_handles::file_descriptor);
    int descriptor = -1;
    ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, pool_handles::file_descriptor, 0), result::success);
    device_address memory = 0;
    ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 256, pool, nullptr), result::success);
    ASSERT_EQ(cuMemsetD32_v2(memory, 6, 64), result::success);
    shared_handle h{};
    ASSERT_EQ(cuMemPoolExportPointer(&h, memory), result::success);
    {
        const other_process other(descriptor);
        ASSERT_EQ(other.ask(order::open_pool, static_cast<std::uint32_t>(descriptor)).code, result::success);
        ASSERT_EQ(other.ask({order::open_in_pool, 0, h}).code, result::success);
        EXPECT_EQ(other.ask(order::read, 63).word, 6u);
        EXPECT_EQ(other.ask(order::free_in_pool).code, result::success);
        EXPECT_EQ(other.ask(order::read, 63).code, result::invalid_value);
        EXPECT_EQ(other.ask(order::open_pool, 1).code, result::invalid_value); // a pipe
    }
    ::close(descriptor);
    EXPECT_EQ(word_at(memory), 6u);
    EXPECT_EQ(
        cuMemPoolExportToShareableHandle(&descriptor, pool_of(pool_handles::none), pool_handles::file_descriptor, 0),
        result::invalid_value);
    EXPECT_EQ(cuMemFreeAsync(memory, nullptr), result::success);
}

TEST_F(shared_memory_test, an_allocation_of_a_pool_is_exported_while_the_device_works) {
    memory_pool* const pool = pool_of(pool_handles::file_descriptor);
    int descriptor = -1;
    ASSERT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, pool_handles::file_descriptor, 0), result::success);
    device_address before = 0, memory = 0, behind = 0;
    ASSERT_EQ(cuMemAlloc_v2(&before, 300), result::success);
    ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 256, pool, nullptr), result::success);
    ASSERT_EQ(cuMemAlloc_v2(&behind, 300), result::success);
    ASSERT_EQ(cuMemsetD32_v2(before, 1, 75), result::success);
    ASSERT_EQ(cuMemsetD32_v2(memory, 6, 64), result::success);
    ASSERT_EQ(cuMemsetD32_v2(behind, 3, 75), result::success);
    struct gate {
        std::atomic<bool> open{false};
        bool waited_in_vain = false;
    } at;
    ASSERT_EQ(cuLaunchHostFunc(
                  nullptr,
                  [](void* user) {
                      auto& g = *static_cast<gate*>(user);
                      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
                      while (!g.open && std::chrono::steady_clock::now() < end) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      }
                      g.waited_in_vain = !g.open;
                  },
                  &at),
              result::success);
    shared_handle h{};
    EXPECT_EQ(cuMemPoolExportPointer(&h, memory), result::success);
    at.open = true;
    ASSERT_EQ(cuCtxSynchronize(), result::success);
    EXPECT_FALSE(at.waited_in_vain);
    {
        const other_process other(descriptor);
        ASSERT_EQ(other.ask(order::open_pool, static_cast<std::uint32_t>(descriptor)).code, result::success);
        ASSERT_EQ(other.ask({order::open_in_pool, 0, h}).code, result::success);
        EXPECT_EQ(other.ask(order::read, 63).word, 6u);
        EXPECT_EQ(other.ask(order::free_in_pool).code, result::success);
    }
    ::close(descriptor);
    EXPECT_EQ(word_at(before + 296), 1u);
    EXPECT_EQ(word_at(behind), 3u);
    EXPECT_EQ(cuMemFreeAsync(memory, nullptr), result::success);
    EXPECT_EQ(cuMemFree_v2(before), result::success);
    EXPECT_EQ(cuMemFree_v2(behind), result::success);
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Calls of the software GPU's libnccl.so.2 that are wrong, differ between ranks, or whose ranks fail or abort.
#include "tests/libraries/nccl_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace softgpu::runtime {
namespace {

using nccl_errors_test = nccl_fixture;

// A call in a thread of its own, which waits for other ranks.
class call_that_waits {
public:
    explicit call_that_waits(const std::function<ncclResult_t()>& call)
        : thread_([this, call] {
              id_ = ::gettid();
              result_ = call();
              over_ = true;
          }) {
        while (!over_ && !(is_asleep() && is_asleep())) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_FALSE(over_);
    }
    ~call_that_waits() { thread_.join(); }
    call_that_waits(const call_that_waits&) = delete;
    call_that_waits& operator=(const call_that_waits&) = delete;

    ncclResult_t result() {
        while (!over_) {
            std::this_thread::yield();
        }
        return result_;
    }

private:
    // Whether the thread has begun and waits, instead of only standing still because the host runs others.
    [[nodiscard]] bool is_asleep() const {
        std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat"); // "ID (NAME) STATE ..."
        std::string text;
        std::getline(file, text);
        return id_ != 0 && text.find(") S ") != std::string::npos;
    }

    std::atomic<pid_t> id_{0};
    std::atomic<bool> over_{false};
    std::atomic<ncclResult_t> result_{ncclSuccess};
    std::thread thread_;
};

TEST_F(nccl_errors_test, an_abort_ends_waits) {
    std::uint32_t* const p = allocate(0, 1);
    call_that_waits waits([&] { return ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(0)); });
    EXPECT_EQ(ncclCommAbort(comms_[1]), ncclSuccess);
    EXPECT_EQ(waits.result(), ncclInternalError);
    ncclResult_t state = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm(0), &state), ncclSuccess);
    EXPECT_EQ(state, ncclInternalError);
    comms_.erase(comms_.begin() + 1);
}

TEST_F(nccl_errors_test, a_device_that_fails_ends_the_calls_of_all) {
    const std::vector<std::uint32_t*> data{allocate(0, 32), allocate(1, 32), allocate(2, 32)};
    use(0);
    ASSERT_EQ(fill(data[0], 5), error::success);
    ASSERT_EQ(cudaDeviceSynchronize(), error::success);
    const auto sum = [&](int r) {
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    };
    // Of the call behind it: rank 1's device fails in its stream.
    use(1);
    void* wild = nullptr;
    void* arguments[] = {&wild};
    ASSERT_EQ(cudaLaunchKernel(&program().wild, {1, 1, 1}, {1, 1, 1}, arguments, 0, streams_[1]), error::success);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < ranks; ++rank) {
        (void)sum(rank); // the device may have failed already
    }
    (void)ncclGroupEnd();
    use(1);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    for (const int rank : {0, 2}) {
        use(rank);
        EXPECT_EQ(cudaDeviceSynchronize(), error::success);
        ncclResult_t state = ncclSuccess;
        EXPECT_EQ(ncclCommGetAsyncError(comm(rank), &state), ncclSuccess);
        EXPECT_EQ(state, ncclRemoteError);
        EXPECT_EQ(sum(rank), ncclRemoteError) << "nobody waits";
    }
    EXPECT_EQ(read(data[0]), 5u) << "no garbage is added";
    EXPECT_EQ(sum(1), ncclUnhandledCudaError);
}

TEST_F(nccl_errors_test, a_device_that_fails_ends_waits) {
    std::uint32_t* const p = allocate(0, 1);
    call_that_waits waits([&] { return ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(0)); });
    use(2);
    EXPECT_EQ(fill(nullptr, 1), error::success);
    EXPECT_EQ(cudaDeviceSynchronize(), error::illegal_address);
    EXPECT_EQ(waits.result(), ncclRemoteError);
}

TEST_F(nccl_errors_test, wrong_calls) {
    std::uint32_t* const p = allocate(0, 4);
    EXPECT_EQ(ncclAllReduce(p, p, 5, ncclUint32, ncclSum, comm(0), on(0)), ncclInvalidArgument) << "20 bytes of 16";
    EXPECT_EQ(ncclAllReduce(p, p, 1, static_cast<ncclDataType_t>(12), ncclSum, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, static_cast<ncclRedOp_t>(5), comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclBroadcast(p, p, 1, ncclUint32, 3, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(p, 1, ncclUint32, -1, comm(0), on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, nullptr, on(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, comm(0), on(1)), ncclInvalidArgument) << "of another device";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    std::vector<std::uint32_t*> data{p, allocate(1, 4), allocate(2, 4)};
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int r = 0; r < 2; ++r) { // another count
        EXPECT_EQ(ncclAllReduce(data[static_cast<std::size_t>(r)], data[static_cast<std::size_t>(r)],
                                static_cast<std::size_t>(r) + 1, ncclUint32, ncclSum, comm(r), on(r)),
                  ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclAllReduce: rank 1 has 2 elements, rank 0 has 1"),
              std::string::npos);
    EXPECT_EQ(ncclAllReduce(data[2], data[2], 1, ncclUint32, ncclSum, comm(2), on(2)), ncclInvalidUsage)
        << "the rank that had not come learns of it";
    EXPECT_EQ(ncclAllReduce(p, p, std::size_t{1} << 62, ncclUint32, ncclSum, comm(0), on(0)), ncclInvalidArgument)
        << "0 bytes modulo 2^64";
    ncclUniqueId id{};
    ncclComm_t c = nullptr;
    EXPECT_EQ(ncclCommInitRank(&c, 1, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCount(comm(0), nullptr), ncclInvalidArgument);
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ASSERT_EQ(ncclCommInitRank(&c, 2, id, 1), ncclSuccess);
    ncclComm_t twice = nullptr;
    EXPECT_EQ(ncclCommInitRank(&twice, 2, id, 1), ncclInvalidArgument) << "the rank is taken";
    EXPECT_EQ(ncclCommDestroy(c), ncclSuccess);
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ++id.internal[32]; // the host
    testing::internal::CaptureStderr();
    EXPECT_EQ(ncclCommInitRank(&c, 1, id, 0), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("the id is of another host"), std::string::npos);
}

// What each rank calls, one of them differently: every rank gets the error, and one line says what differs.
TEST_F(nccl_errors_test, what_differs_is_named) {
    const std::vector<std::uint32_t*> data{allocate(0, 64), allocate(1, 64), allocate(2, 64)};
    // Rank `other` differs from both others. Whoever comes first is named last: parts[0] RANK parts[1] VALUE parts[2] RANK
    // parts[3] VALUE.
    const auto expect_named = [&](const std::vector<std::string>& parts, int other, const std::string& its,
                                  const std::string& theirs, const std::function<ncclResult_t(int, void*)>& call) {
        testing::internal::CaptureStderr();
        std::vector<std::thread> threads;
        threads.reserve(ranks);
        std::vector<ncclResult_t> results(ranks, ncclSuccess);
        for (int r = 0; r < ranks; ++r) {
            threads.emplace_back([&, r] {
                use(r);
                results[static_cast<std::size_t>(r)] = call(r, data[static_cast<std::size_t>(r)]);
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        const std::string said = testing::internal::GetCapturedStderr();
        bool named = false;
        for (int r = 0; r < ranks; ++r) {
            const auto words = [&](int late, const std::string& of_late, int first, const std::string& of_first) {
                std::string all = parts[0];
                for (const std::string& next :
                     {std::to_string(late), parts[1], of_late, parts[2], std::to_string(first), parts[3], of_first}) {
                    all += next;
                }
                return all;
            };
            named = named || (r != other && (said.find(words(other, its, r, theirs)) != std::string::npos ||
                                             said.find(words(r, theirs, other, its)) != std::string::npos));
        }
        EXPECT_TRUE(named) << parts[0] << its << "\n" << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_EQ(results, std::vector<ncclResult_t>(ranks, ncclInvalidUsage)) << said;
    };
    expect_named({"ncclAllReduce: rank ", " has elements of ", ", rank ", " of "}, 2, "ncclFloat32", "ncclUint32",
                 [&](int r, void* p) {
                     return ncclAllReduce(p, p, 4, r == 2 ? ncclFloat : ncclUint32, ncclSum, comm(r), on(r));
                 });
    expect_named({"ncclAllGather: rank ", " has ", " elements, rank ", " has "}, 1, "5", "4",
                 [&](int r, void* p) { return ncclAllGather(p, p, r == 1 ? 5 : 4, ncclUint32, comm(r), on(r)); });
    expect_named({"ncclReduceScatter: rank ", " has the operation ", ", rank ", " has "}, 1, "ncclMax", "ncclSum",
                 [&](int r, void* p) {
                     return ncclReduceScatter(p, p, 4, ncclUint32, r == 1 ? ncclMax : ncclSum, comm(r), on(r));
                 });
    expect_named({"ncclBroadcast: rank ", " has root ", ", rank ", " has root "}, 1, "1", "0",
                 [&](int r, void* p) { return ncclBroadcast(p, p, 4, ncclUint32, r == 1 ? 1 : 0, comm(r), on(r)); });
    std::vector<ncclComm_t> made(ranks);
    expect_named({": rank ", " calls ", ", rank ", " calls "}, 1, "ncclBroadcast", "ncclCommSplit",
                 [&](int r, void* p) {
                     return r == 1 ? ncclBroadcast(p, p, 4, ncclUint32, 0, comm(r), on(r))
                                   : ncclCommSplit(comm(r), 0, r, &made[static_cast<std::size_t>(r)], nullptr);
                 });
    EXPECT_EQ(made, std::vector<ncclComm_t>(ranks)) << "none was made";
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclRecv(data[0], 4, ncclUint32, 1, comm(0), on(0)), ncclSuccess);
    EXPECT_EQ(ncclSend(data[1], 8, ncclUint32, 0, comm(1), on(1)), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclRecv: rank 1 sends 32 bytes, rank 0 receives 16"),
              std::string::npos);
    together([&](int r) { // the communicator is of use
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    });
}

// A rank whose group ended in an error gets no communicator, and the others the error.
TEST_F(nccl_errors_test, a_split_that_was_given_up_makes_nothing) {
    auto given_up = std::make_unique<ncclComm_t>(nullptr);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(comm(0), 0, 0, given_up.get(), nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(comm(0), -3, 0, given_up.get(), nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    given_up.reset(); // nothing may be written there
    for (const int r : {1, 2}) {
        ncclComm_t none = nullptr;
        EXPECT_EQ(ncclCommSplit(comm(r), 0, 0, &none, nullptr), ncclInvalidArgument);
        EXPECT_EQ(none, nullptr);
    }
}

TEST_F(nccl_errors_test, an_abort_ends_the_waits_of_its_own_rank) {
    std::uint32_t* const p = allocate(0, 1);
    ncclUniqueId id{};
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    for (const bool all_have_joined : {false, true}) {
        ncclComm_t first = nullptr, second = nullptr;
        use(0);
        ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
        ASSERT_EQ(ncclCommInitRank(&first, 2, id, 0), ncclSuccess);
        if (all_have_joined) {
            ASSERT_EQ(ncclCommInitRank(&second, 2, id, 1), ncclSuccess);
        }
        call_that_waits waits([&] { return ncclAllReduce(p, p, 1, ncclUint32, ncclSum, first, on(0)); });
        EXPECT_EQ(ncclCommAbort(first), ncclSuccess);
        EXPECT_EQ(waits.result(), all_have_joined ? ncclInternalError : ncclInvalidUsage);
        if (all_have_joined) {
            EXPECT_EQ(ncclAllReduce(p, p, 1, ncclUint32, ncclSum, second, on(0)), ncclInvalidUsage);
            EXPECT_EQ(ncclCommAbort(second), ncclSuccess);
        }
    }
}

// A rank of a lower number than all who are there.
TEST_F(nccl_errors_test, another_count_is_found_in_any_order) {
    const std::vector<std::uint32_t*> data{allocate(0, 8), allocate(1, 8), allocate(2, 8)};
    testing::internal::CaptureStderr();
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (const int r : {1, 0, 2}) {
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        EXPECT_EQ(ncclAllReduce(p, p, r == 1 ? 4 : 8, ncclUint32, ncclSum, comm(r), on(r)), ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ncclAllReduce: rank 0 has 8 elements, rank 1 has 4"),
              std::string::npos);
    together([&](int r) { // the next call is not affected
        std::uint32_t* const p = data[static_cast<std::size_t>(r)];
        return ncclAllReduce(p, p, 8, ncclUint32, ncclSum, comm(r), on(r));
    });
}

TEST_F(nccl_errors_test, a_group_with_a_wrong_call_ends_for_all) {
    const std::vector<std::uint32_t*> data{allocate(0, 8), allocate(1, 8), allocate(2, 8)};
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(data[0], 8, ncclUint32, 1, comm(0), on(0)), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(data[0], data[0], 8, ncclUint32, 7, comm(0), on(0)), ncclInvalidArgument) << "no such root";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(ncclRecv(data[1], 8, ncclUint32, 0, comm(1), on(1)), ncclInvalidArgument) << "the sender gave up";
}

} // namespace
} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The ranks of a communicator, and the calls in which they meet. A call returns when all its ranks have made it; what it does
// is one operation after the work of all their streams, which all of them wait for. The lock of the devices guards everything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/nccl/rank_call.hpp"

namespace softgpu::runtime::nccl {

// What a rank says in ncclCommSplit, and where its new communicator goes.
struct split_call {
    int color = 0; // negative: none
    int key = 0;
    std::function<void(std::shared_ptr<class clique>, int)> take;
};

// A call that some ranks have made. One that has ended in an error is there until all of them have come.
struct meeting {
    call_terms terms;             // of the first one
    int first = 0;                // the rank that came first
    std::vector<rank_call> calls; // by rank; of a transfer the sender's and the receiver's
    std::vector<split_call> splits;
    std::size_t there = 0;
    bool done = false;
    ncclResult_t result = ncclSuccess;

    [[nodiscard]] bool can_begin() const noexcept { return there == calls.size() && !done; }
};

class clique {
public:
    explicit clique(int ranks) : last_(static_cast<std::size_t>(ranks)), gpus_(last_.size()) {}

    [[nodiscard]] int ranks() const noexcept { return static_cast<int>(last_.size()); }
    // Gives the rank a device. False if another communicator has this rank already.
    [[nodiscard]] bool take(int rank, context& gpu) {
        return std::exchange(gpus_[static_cast<std::size_t>(rank)], &gpu) == nullptr;
    }
    // Whether all ranks have a device.
    [[nodiscard]] bool is_complete() const;
    // Whether a rank's device has failed: no call can end well then.
    [[nodiscard]] bool has_lost_device() const;

    // A rank makes a call. Returns the meeting that wait() is for. Throws failure for a stream that cannot be used.
    std::shared_ptr<meeting> post(const call_terms& terms, int rank, const rank_call& with);
    // ncclCommSplit: the last rank makes the new cliques.
    std::shared_ptr<meeting> split(int rank, split_call with);
    // Waits until all ranks have come, the clique is aborted or has lost a device. Says so once if that takes a minute.
    ncclResult_t wait(locked& lock, const std::shared_ptr<meeting>& at);
    // Ends the call for all its ranks, also for those that have not come yet.
    static void give_up(meeting& at, ncclResult_t result);
    // Ends all waits.
    void abort();
    [[nodiscard]] bool is_aborted() const noexcept { return *aborted_; }

private:
    using queue = std::deque<std::shared_ptr<meeting>>;

    std::shared_ptr<meeting> meet(const call_terms& terms, int rank, const rank_call& with);
    std::shared_ptr<meeting> transfer(const call_terms& terms, int rank, const rank_call& with);

    std::vector<std::uint64_t> last_;                         // by rank: the number of its last collective call
    std::map<std::uint64_t, std::shared_ptr<meeting>> begun_; // by number
    std::map<std::pair<int, int>, queue> sent_, received_;    // that are not matched, by both ranks
    std::vector<context*> gpus_;                              // by rank
    std::shared_ptr<std::atomic<bool>> aborted_ = std::make_shared<std::atomic<bool>>(false); // captured calls have it
};

} // namespace softgpu::runtime::nccl

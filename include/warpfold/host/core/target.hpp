// SPDX-License-Identifier: MIT
// The host as a target: how many threads a call may use, and work shared out among them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace warpfold {

// A call on the host's cores. It returns when the work is done. Its result does not depend on the number of threads.
struct host {
    unsigned threads = 0; // 0: as many as the machine has
};

namespace detail {

// Calls work(k) for k in [0, pieces), each once, on at most `on.threads` threads, this one among them. What a call
// throws first is thrown again when all have stopped.
template <class Work>
void share_out(const host& on, std::uint64_t pieces, const Work& work) {
    const unsigned wanted = on.threads != 0 ? on.threads : std::max(1u, std::thread::hardware_concurrency());
    const std::uint64_t threads = std::min<std::uint64_t>(wanted, pieces);
    if (threads <= 1) {
        for (std::uint64_t k = 0; k < pieces; ++k) {
            work(k);
        }
        return;
    }
    std::atomic<std::uint64_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto take = [&] {
        try {
            for (std::uint64_t k = next++; k < pieces; k = next++) {
                work(k);
            }
        } catch (...) {
            next = pieces;
            const std::lock_guard lock(guard);
            if (!failure) {
                failure = std::current_exception();
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        helpers.reserve(threads - 1);
        for (std::uint64_t k = 1; k < threads; ++k) {
            helpers.emplace_back(take);
        }
        take();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace detail
} // namespace warpfold

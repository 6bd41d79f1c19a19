// SPDX-License-Identifier: MIT
// A parallel loop on the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace warpfold::detail {

// Calls work(k) once for each k in [0, pieces), on at most `threads` threads including the caller's; 0: the machine's
// number. When all threads have stopped, rethrows the first exception.
template <class Work>
void parallel_for(unsigned threads, std::uint64_t pieces, const Work& work) {
    const std::uint64_t most = threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
    const std::uint64_t used = std::min(most, pieces);
    if (used <= 1) {
        for (std::uint64_t k = 0; k < pieces; ++k) {
            work(k);
        }
        return;
    }
    std::atomic<std::uint64_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto run = [&] {
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
        helpers.reserve(used - 1);
        for (std::uint64_t k = 1; k < used; ++k) {
            helpers.emplace_back(run);
        }
        run();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace warpfold::detail

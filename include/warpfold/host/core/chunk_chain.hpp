// SPDX-License-Identifier: MIT
// How the threads of a call pass prefixes on, from each chunk of the input to the next.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace warpfold::detail {

// The prefix of each chunk, passed from thread to thread.
template <class A>
class chunk_chain {
public:
    explicit chunk_chain(std::uint64_t chunks) : links_(new link[chunks]) {}

    void hand_on(std::uint64_t chunk, const A& through) {
        links_[chunk].value = through;
        links_[chunk].there.store(true, std::memory_order_release);
    }
    // Returns false if another thread has failed, so that the value never comes.
    [[nodiscard]] bool wait(std::uint64_t chunk, A& through) const {
        for (unsigned spins = 0; !links_[chunk].there.load(std::memory_order_acquire); ++spins) {
            if (failed_.load(std::memory_order_relaxed)) {
                return false;
            }
            if (spins > 1 << 14) {
                std::this_thread::yield();
            }
        }
        through = links_[chunk].value;
        return true;
    }
    void fail() { failed_ = true; }

private:
    struct link {
        A value;
        std::atomic<bool> there{false};
    };
    std::unique_ptr<link[]> links_;
    std::atomic<bool> failed_{false};
};

} // namespace warpfold::detail

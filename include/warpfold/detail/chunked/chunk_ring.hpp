// SPDX-License-Identifier: MIT
// A ring of buffers between one who uses them in turn and threads that read or write them: see read_ahead.hpp and
// write_behind.hpp.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace warpfold::detail {

// How many chunks of `each` elements n elements are.
inline std::uint64_t chunks_of(std::uint64_t n, std::uint64_t each) { return n / each + (n % each != 0 ? 1 : 0); }

// A chunk of a source or a sink: the elements [first, first + count).
struct chunk_range {
    std::uint64_t first = 0, count = 0; // count 0: there is none
};

// The k-th chunk that is worked on, from the first to the last or the other way.
inline chunk_range chunk_at(std::uint64_t n, std::uint64_t each, std::uint64_t k, bool backwards) {
    const std::uint64_t first = (backwards ? chunks_of(n, each) - 1 - k : k) * each;
    return {first, std::min(each, n - first)};
}

// What the user and the threads share, all of it under `guard`, but for what is in a buffer: that is a thread's or the
// user's alone.
struct chunk_ring {
    struct buffer {
        void* data = nullptr;
        chunk_range at;
        std::uint64_t pieces = 0; // that are read or written
    };

    chunk_ring(const std::vector<void*>& places, std::uint64_t elements_a_piece)
        : piece(std::max<std::uint64_t>(elements_a_piece, 1)) {
        for (void* const data : places) {
            buffers.push_back({data, {}, 0});
        }
    }
    [[nodiscard]] buffer& of(std::uint64_t chunk) { return buffers[chunk % buffers.size()]; }
    [[nodiscard]] const buffer& of(std::uint64_t chunk) const { return buffers[chunk % buffers.size()]; }
    [[nodiscard]] std::uint64_t size() const { return buffers.size(); }
    // Throws what a thread has thrown.
    void raise() const {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    std::vector<buffer> buffers;
    const std::uint64_t piece; // elements that a thread reads or writes at a time
    std::mutex guard;
    std::condition_variable for_threads, for_user;
    bool stopped = false; // the threads are to return
    std::exception_ptr failure;
};

// Threads that call work(), once each. What it throws stops all of them, and is kept for the user.
class ring_threads {
public:
    template <class Work>
    ring_threads(chunk_ring& ring, std::uint64_t count, Work work) : ring_(ring) {
        threads_.reserve(count);
        try {
            for (std::uint64_t k = 0; k < count; ++k) {
                threads_.emplace_back([this, work] { run(work); });
            }
        } catch (...) {
            stop();
            throw;
        }
    }
    ring_threads(const ring_threads&) = delete;
    ring_threads& operator=(const ring_threads&) = delete;
    ~ring_threads() { stop(); }

private:
    template <class Work>
    void run(const Work& work) noexcept {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(ring_.guard);
            if (!ring_.failure) {
                ring_.failure = std::current_exception();
            }
            ring_.stopped = true;
            ring_.for_threads.notify_all();
            ring_.for_user.notify_all();
        }
    }
    void stop() noexcept {
        {
            const std::lock_guard lock(ring_.guard);
            ring_.stopped = true;
        }
        ring_.for_threads.notify_all();
        for (std::thread& one : threads_) {
            one.join();
        }
    }

    chunk_ring& ring_;
    std::vector<std::thread> threads_;
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// A ring of buffers between one user and the threads that read or write them (read_ahead.hpp, write_behind.hpp).
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

// The number of chunks of `each` elements.
inline std::uint64_t chunks_of(std::uint64_t n, std::uint64_t each) { return n / each + (n % each != 0 ? 1 : 0); }

// A chunk: the elements [first, first + count).
struct chunk_range {
    std::uint64_t first = 0, count = 0; // count 0: no chunk
};

// The k-th chunk to be processed, forwards or backwards.
inline chunk_range chunk_at(std::uint64_t n, std::uint64_t each, std::uint64_t k, bool backwards) {
    const std::uint64_t first = (backwards ? chunks_of(n, each) - 1 - k : k) * each;
    return {first, std::min(each, n - first)};
}

// State shared by the user and the threads, protected by `guard`. The contents of a buffer belong to one of them at a
// time.
struct chunk_ring {
    struct buffer {
        void* data = nullptr;
        chunk_range at;
        std::uint64_t pieces = 0; // pieces read or written
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
    // Rethrows the exception of a thread.
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

// Threads that each call work() once. Its first exception stops all of them and is kept for the user.
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

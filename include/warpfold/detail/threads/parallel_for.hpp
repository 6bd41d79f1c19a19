// SPDX-License-Identifier: MIT
// Parallel loops on the host. The caller begins alone, and threads join as soon as the time that is left pays for them;
// so short loops cost what they cost on one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

#include "warpfold/detail/threads/thread_pool.hpp"
#include "warpfold/error.hpp"

namespace warpfold::detail {

// Time left for which a further thread joins: one that polls joins in less than a microsecond, but finds the data in
// another core's cache; one that sleeps has to be woken as well.
inline constexpr double polling_thread_ns = 20000, sleeping_thread_ns = 60000;

// For pieces of 64 to 512 KiB that are read once: a processor reads longer stretches of memory faster.
inline constexpr std::uint64_t pieces_together = 8;

// The threads that `threads` of a target stands for; 0: the machine's number.
inline unsigned threads_of(unsigned threads) { return threads != 0 ? threads : machine_threads(); }

// The pieces of a loop on one thread.
class serial_claims {
public:
    explicit serial_claims(std::uint64_t pieces) : pieces_(pieces) {}
    [[nodiscard]] bool operator()(std::uint64_t& piece) noexcept {
        piece = next_++;
        return piece < pieces_;
    }

private:
    std::uint64_t pieces_, next_ = 0;
};

// A loop that threads join. `Body` is a type of its own for each loop in the program.
template <class Body>
class shared_loop : thread_pool::task {
public:
    shared_loop(unsigned threads, std::uint64_t pieces, const Body& body, std::uint64_t most_together)
        : task([](task& self) noexcept { static_cast<shared_loop&>(self).join(); }),
          body_(body),
          pieces_(pieces),
          together_(std::clamp<std::uint64_t>(pieces / (32 * std::uint64_t{threads}), 1, most_together)),
          others_(static_cast<unsigned>(std::min<std::uint64_t>(threads, pieces) - 1)) {}

    // Returns when all threads have stopped. Rethrows the first exception. Throws error in a child of fork() that was
    // called in the loop.
    void run() {
        begin_ = clock::now();
        guarded([this] {
            body_([this, mine = stretch{}](std::uint64_t& piece) mutable { return claim_and_share(piece, mine); });
        });
        if (pool_ != nullptr) {
            if (pool_ != &thread_pool::instance()) {
                throw error("warpfold: a process that was forked inside a loop has no threads to finish it");
            }
            pool_->withdraw(*this);
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    using clock = std::chrono::steady_clock;

    // Neighbours that a thread has taken and not begun.
    struct stretch {
        std::uint64_t begin = 0, end = 0;
    };

    [[nodiscard]] bool claim(std::uint64_t& piece, stretch& mine) noexcept {
        if (mine.begin == mine.end) {
            mine.begin = next_.fetch_add(together_, std::memory_order_relaxed);
            mine.end = mine.begin + together_;
        }
        piece = mine.begin++;
        return piece < pieces_;
    }

    // The caller's claims. It lets threads join as far as the estimated time pays for them. The estimate is the time of
    // the last call's first piece, or the average in this one.
    [[nodiscard]] bool claim_and_share(std::uint64_t& piece, stretch& mine) {
        if (!claim(piece, mine)) {
            return false;
        }
        if (offered_ < others_) {
            double each = piece_ns.load(std::memory_order_relaxed);
            if (mine_ != 0) {
                const double now = std::chrono::duration<double, std::nano>(clock::now() - begin_).count() /
                                   static_cast<double>(mine_);
                if (mine_ == 1) {
                    piece_ns.store(static_cast<float>(now), std::memory_order_relaxed);
                }
                each = now;
            }
            share(each * static_cast<double>(pieces_ - piece));
            ++mine_;
        }
        return true;
    }
    void share(double left_ns) {
        if (left_ns < polling_thread_ns) {
            return;
        }
        thread_pool& pool = thread_pool::instance();
        if (pool_ != nullptr && pool_ != &pool) {
            return;
        }
        const auto worth = [this](double number) {
            return static_cast<unsigned>(std::min<double>(number, static_cast<double>(others_)));
        };
        const unsigned wanted =
            std::max(std::min(pool.polling(), worth(left_ns / polling_thread_ns)), worth(left_ns / sleeping_thread_ns));
        if (wanted > offered_) {
            pool_ = &pool;
            pool.offer(*this, wanted - offered_);
            offered_ = wanted;
        }
    }

    void join() noexcept {
        guarded(
            [this] { body_([this, mine = stretch{}](std::uint64_t& piece) mutable { return claim(piece, mine); }); });
    }
    template <class Work>
    void guarded(const Work& work) noexcept {
        try {
            work();
        } catch (...) {
            next_ = pieces_;
            if (!failed_.exchange(true)) {
                failure_ = std::current_exception();
            }
        }
    }

    // Of the last call. The value changes times only, never results.
    static inline std::atomic<float> piece_ns{0};

    const Body& body_;
    const std::uint64_t pieces_;
    const std::uint64_t together_; // pieces that a thread takes at a time
    const unsigned others_;        // threads beside the caller
    thread_pool* pool_ = nullptr;  // where they were asked for
    unsigned offered_ = 0;
    std::uint64_t mine_ = 0; // pieces of the caller, while threads may still join
    clock::time_point begin_;
    std::exception_ptr failure_;
    std::atomic<bool> failed_{false};
    alignas(64) std::atomic<std::uint64_t> next_{0};
};

// Calls body(claim) on each of at most `threads` threads including the caller's; 0: the machine's number.
// claim(std::uint64_t& k) takes the next piece of [0, pieces), and returns false when none is left. When all threads
// have stopped, rethrows the first exception. Where there are many pieces, a thread takes up to `most_together` neighbours at a
// time. It must be 1 for pieces that wait for earlier ones.
template <class Body>
void parallel_claims(unsigned threads, std::uint64_t pieces, const Body& body, std::uint64_t most_together = 1) {
    if (pieces <= 1 || threads_of(threads) <= 1) {
        body(serial_claims(pieces));
    } else {
        shared_loop<Body>(threads_of(threads), pieces, body, most_together).run();
    }
}

// Calls work(k) once for each k in [0, pieces).
template <class Work>
void parallel_for(unsigned threads, std::uint64_t pieces, const Work& work, std::uint64_t most_together = 1) {
    const auto body = [&work](auto&& claim) {
        for (std::uint64_t piece = 0; claim(piece);) {
            work(piece);
        }
    };
    parallel_claims(threads, pieces, body, most_together);
}

} // namespace warpfold::detail

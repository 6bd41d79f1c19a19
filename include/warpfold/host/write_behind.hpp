// SPDX-License-Identifier: MIT
// Threads that write the chunks in a ring of buffers to a sink, behind the one who makes them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "warpfold/host/read_ahead.hpp"
#include "warpfold/source.hpp"

namespace warpfold::detail {

template <class Sink>
class write_behind {
public:
    using element = typename Sink::element;

    write_behind(Sink& sink, std::vector<void*> slots, std::uint64_t piece, unsigned threads)
        : sink_(sink), slots_(std::move(slots)), piece_(std::max<std::uint64_t>(piece, 1)), held_(slots_.size()) {
        const unsigned wanted = writes_anywhere<Sink> ? std::max(1u, threads) : 1;
        threads_.reserve(wanted);
        try {
            for (unsigned k = 0; k < wanted; ++k) {
                threads_.emplace_back([this] { run(); });
            }
        } catch (...) {
            stop();
            throw;
        }
    }
    write_behind(const write_behind&) = delete;
    write_behind& operator=(const write_behind&) = delete;
    // What was submitted and not written is lost: finish() waits for it.
    ~write_behind() { stop(); }

    // A buffer for the next chunk, when what it held is written. Throws what the sink has thrown.
    [[nodiscard]] element* acquire() {
        std::unique_lock lock(guard_);
        written_.wait(lock, [&] { return failure_ || acquired_ < done_ + slots_.size(); });
        failure_.raise();
        return static_cast<element*>(slots_[slot_of(acquired_++)]);
    }
    // The oldest buffer that was acquired and not submitted holds this chunk.
    void submit(chunk_range at) {
        const std::lock_guard lock(guard_);
        failure_.raise();
        held_[slot_of(submitted_)] = {at, 0};
        ++submitted_;
        work_.notify_all();
    }
    // Waits until all is written.
    void finish() {
        std::unique_lock lock(guard_);
        written_.wait(lock, [&] { return failure_ || done_ == submitted_; });
        failure_.raise();
    }

private:
    struct contents {
        chunk_range at;
        std::uint64_t pieces = 0; // that are written
    };

    [[nodiscard]] unsigned slot_of(std::uint64_t chunk) const { return static_cast<unsigned>(chunk % slots_.size()); }
    [[nodiscard]] std::uint64_t pieces_of(const contents& s) const {
        return writes_anywhere<Sink> ? chunks_of(s.at.count, piece_) : 1;
    }
    void stop() noexcept {
        {
            const std::lock_guard lock(guard_);
            stopped_ = true;
        }
        work_.notify_all();
        for (std::thread& one : threads_) {
            one.join();
        }
    }
    void run() noexcept {
        try {
            write_chunks();
        } catch (...) {
            const std::lock_guard lock(guard_);
            failure_.set(std::current_exception());
            stopped_ = true;
            written_.notify_all();
            work_.notify_all();
        }
    }
    void write_chunks() {
        std::unique_lock lock(guard_);
        for (;;) {
            work_.wait(lock, [&] { return stopped_ || writing_ < submitted_; });
            if (stopped_) {
                return;
            }
            contents& mine = held_[slot_of(writing_)];
            const std::uint64_t begin = piece_ * next_piece_++;
            const chunk_range at = mine.at;
            const auto* const from = static_cast<const element*>(slots_[slot_of(writing_)]);
            if (next_piece_ == pieces_of(mine)) {
                next_piece_ = 0;
                ++writing_;
            }
            lock.unlock();
            if constexpr (writes_anywhere<Sink>) {
                sink_.write(at.first + begin, from + begin, std::min(piece_, at.count - begin));
            } else {
                sink_.put(from, at.count);
            }
            lock.lock();
            ++mine.pieces;
            bool news = false;
            while (done_ < writing_ && held_[slot_of(done_)].pieces == pieces_of(held_[slot_of(done_)])) {
                ++done_;
                news = true;
            }
            if (news) {
                written_.notify_all();
            }
        }
    }

    Sink& sink_;
    const std::vector<void*> slots_;
    const std::uint64_t piece_;

    std::mutex guard_;
    std::condition_variable work_, written_;
    std::vector<contents> held_;
    std::uint64_t acquired_ = 0, submitted_ = 0, writing_ = 0, next_piece_ = 0, done_ = 0;
    bool stopped_ = false;
    shared_failure failure_;
    std::vector<std::thread> threads_;
};

} // namespace warpfold::detail

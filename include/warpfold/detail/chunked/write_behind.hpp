// SPDX-License-Identifier: MIT
// Threads that write chunks from a ring of buffers to a sink, after their use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/chunked/chunk_ring.hpp"

namespace warpfold::detail {

template <class Sink>
class write_behind {
public:
    using element = typename Sink::element;

    // Destruction drops chunks that are submitted and not yet written; finish() waits for them.
    write_behind(Sink& sink, const std::vector<void*>& slots, std::uint64_t piece, unsigned threads)
        : sink_(sink),
          ring_(slots, piece),
          threads_(ring_, random_access_sink<Sink> ? std::max(1u, threads) : 1, [this] { write(); }) {}

    // Waits for a free buffer for the next chunk. Throws what the sink throws.
    [[nodiscard]] element* acquire() {
        std::unique_lock lock(ring_.guard);
        ring_.for_user.wait(lock, [&] { return ring_.failure || acquired_ < done_ + ring_.size(); });
        ring_.raise();
        return static_cast<element*>(ring_.of(acquired_++).data);
    }
    // The oldest acquired buffer holds this chunk.
    void submit(chunk_range at) {
        const std::lock_guard lock(ring_.guard);
        ring_.raise();
        ring_.of(submitted_).at = at;
        ring_.of(submitted_).pieces = 0;
        ++submitted_;
        ring_.for_threads.notify_all();
    }
    // Waits until everything is written.
    void finish() {
        std::unique_lock lock(ring_.guard);
        ring_.for_user.wait(lock, [&] { return ring_.failure || done_ == submitted_; });
        ring_.raise();
    }

private:
    [[nodiscard]] std::uint64_t pieces_of(const chunk_ring::buffer& b) const {
        return random_access_sink<Sink> ? chunks_of(b.at.count, ring_.piece) : 1;
    }
    [[nodiscard]] bool is_written(std::uint64_t chunk) const {
        const chunk_ring::buffer& b = ring_.of(chunk);
        return b.pieces == pieces_of(b);
    }
    void write() {
        std::unique_lock lock(ring_.guard);
        for (;;) {
            ring_.for_threads.wait(lock, [&] { return ring_.stopped || writing_ < submitted_; });
            if (ring_.stopped) {
                return;
            }
            chunk_ring::buffer& mine = ring_.of(writing_);
            const std::uint64_t begin = ring_.piece * next_piece_++;
            if (next_piece_ == pieces_of(mine)) {
                next_piece_ = 0;
                ++writing_;
            }
            const chunk_range at = mine.at;
            lock.unlock();
            const auto* const from = static_cast<const element*>(mine.data);
            if constexpr (random_access_sink<Sink>) {
                sink_.write(at.first + begin, from + begin, std::min(ring_.piece, at.count - begin));
            } else {
                sink_.put(from, at.count);
            }
            lock.lock();
            ++mine.pieces;
            bool news = false;
            for (; done_ < writing_ && is_written(done_); ++done_) {
                news = true;
            }
            if (news) {
                ring_.for_user.notify_all();
            }
        }
    }

    Sink& sink_;
    chunk_ring ring_;
    std::uint64_t acquired_ = 0, submitted_ = 0, writing_ = 0, next_piece_ = 0, done_ = 0;
    ring_threads threads_; // last member: the threads use all others
};

} // namespace warpfold::detail

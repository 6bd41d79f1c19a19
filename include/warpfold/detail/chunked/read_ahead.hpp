// SPDX-License-Identifier: MIT
// Threads that read the chunks of a source into a ring of buffers, ahead of their use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/chunked/chunk_ring.hpp"

namespace warpfold::detail {

template <class Source>
class read_ahead {
public:
    struct filled {
        void* data = nullptr;
        chunk_range at;
    };

    // A slot holds up to `each` elements; a thread reads `piece` elements at a time.
    read_ahead(Source& source, const std::vector<void*>& slots, std::uint64_t each, std::uint64_t piece,
               unsigned threads, bool backwards)
        : source_(source),
          each_(each),
          backwards_(backwards),
          size_(known_size(source)),
          ring_(slots, piece),
          chunks_(random_access_source<Source> ? chunks_of(size_, each) : ~std::uint64_t{0}),
          threads_(ring_, readers(threads), [this] { read(); }) {}

    // Waits for the next chunk; count 0 at the end. Throws what the source throws.
    [[nodiscard]] filled next() {
        std::unique_lock lock(ring_.guard);
        ring_.for_user.wait(lock, [&] { return ring_.failure || handed_ == chunks_ || is_there(handed_); });
        ring_.raise();
        if (handed_ == chunks_) {
            return {};
        }
        const chunk_ring::buffer& next = ring_.of(handed_++);
        return {next.data, next.at};
    }
    // The oldest chunk not yet released may be overwritten.
    void release() {
        const std::lock_guard lock(ring_.guard);
        fill_in(released_, {}, 0);
        ++released_;
        ring_.for_threads.notify_all();
    }

private:
    [[nodiscard]] std::uint64_t readers(unsigned threads) const {
        if constexpr (random_access_source<Source>) {
            const std::uint64_t pieces = std::min(size_, each_ * ring_.size()) / ring_.piece + 1;
            return std::min<std::uint64_t>(std::max(1u, threads), pieces);
        } else {
            return 1;
        }
    }
    [[nodiscard]] bool is_there(std::uint64_t chunk) const {
        const chunk_ring::buffer& b = ring_.of(chunk);
        return b.at.count != 0 && b.pieces == chunks_of(b.at.count, ring_.piece);
    }
    void fill_in(std::uint64_t chunk, chunk_range at, std::uint64_t pieces) {
        ring_.of(chunk).at = at;
        ring_.of(chunk).pieces = pieces;
    }
    void read() {
        if constexpr (random_access_source<Source>) {
            read_pieces();
        } else {
            fill_chunks();
        }
    }
    // Waits for a free buffer; false if there is nothing left to read.
    bool wait_for_room(std::unique_lock<std::mutex>& lock) {
        ring_.for_threads.wait(
            lock, [&] { return ring_.stopped || reading_ == chunks_ || reading_ < released_ + ring_.size(); });
        return !ring_.stopped && reading_ != chunks_;
    }
    void read_pieces() {
        std::unique_lock lock(ring_.guard);
        while (wait_for_room(lock)) {
            chunk_ring::buffer& mine = ring_.of(reading_);
            const chunk_range at = chunk_at(size_, each_, reading_, backwards_);
            const std::uint64_t begin = ring_.piece * next_piece_++;
            mine.at = at;
            if (next_piece_ == chunks_of(at.count, ring_.piece)) {
                next_piece_ = 0;
                if (++reading_ == chunks_) {
                    ring_.for_threads.notify_all();
                }
            }
            lock.unlock();
            source_.read(at.first + begin, place(mine, begin), std::min(ring_.piece, at.count - begin));
            lock.lock();
            if (++mine.pieces == chunks_of(at.count, ring_.piece)) {
                ring_.for_user.notify_one();
            }
        }
    }
    void fill_chunks() {
        std::uint64_t first = 0;
        std::unique_lock lock(ring_.guard);
        while (wait_for_room(lock)) {
            const chunk_ring::buffer& mine = ring_.of(reading_);
            lock.unlock();
            std::uint64_t count = 0;
            bool more = true;
            while (more && count < each_) {
                const std::uint64_t got = source_.fill(place(mine, count), each_ - count);
                if (got > each_ - count) {
                    throw invalid_argument("warpfold: a source says that it has filled in more elements than it was "
                                           "asked for");
                }
                count += got;
                more = got != 0;
            }
            lock.lock();
            if (count != 0) {
                fill_in(reading_, {first, count}, chunks_of(count, ring_.piece));
                first += count;
                ++reading_;
            }
            if (!more) {
                chunks_ = reading_;
            }
            ring_.for_user.notify_one();
        }
    }
    [[nodiscard]] stored_t<Source>* place(const chunk_ring::buffer& buffer, std::uint64_t element) const {
        return static_cast<stored_t<Source>*>(
            static_cast<void*>(static_cast<unsigned char*>(buffer.data) + element * stored_bytes(source_)));
    }

    Source& source_;
    const std::uint64_t each_;
    const bool backwards_;
    const std::uint64_t size_; // of a random access source
    chunk_ring ring_;
    std::uint64_t chunks_; // as far as known
    std::uint64_t reading_ = 0, next_piece_ = 0, handed_ = 0, released_ = 0;
    ring_threads threads_; // last member: the threads use all others
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// Threads that read the chunks of a source into a ring of buffers, ahead of the one who uses them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "warpfold/source.hpp"

namespace warpfold::detail {

// How many chunks of `each` elements n elements are.
inline std::uint64_t chunks_of(std::uint64_t n, std::uint64_t each) { return n / each + (n % each != 0 ? 1 : 0); }

// A chunk of a source: the elements [first, first + count).
struct chunk_range {
    std::uint64_t first = 0, count = 0; // count 0: there is none
};

// The k-th chunk that is worked on, from the first to the last or the other way.
inline chunk_range chunk_at(std::uint64_t n, std::uint64_t each, std::uint64_t k, bool backwards) {
    const std::uint64_t first = (backwards ? chunks_of(n, each) - 1 - k : k) * each;
    return {first, std::min(each, n - first)};
}

// What one of several threads has thrown, and that all are to stop.
class shared_failure {
public:
    // Under the lock of those who share it.
    void set(std::exception_ptr what) {
        if (!what_) {
            what_ = std::move(what);
        }
    }
    [[nodiscard]] explicit operator bool() const { return what_ != nullptr; }
    void raise() const {
        if (what_) {
            std::rethrow_exception(what_);
        }
    }

private:
    std::exception_ptr what_;
};

template <class Source>
class read_ahead {
public:
    struct filled {
        void* data = nullptr;
        chunk_range at;
    };

    // At most each elements of `bytes` bytes go into one of the slots, `piece` elements at a time.
    read_ahead(Source& source, std::vector<void*> slots, std::uint64_t each, std::uint64_t piece, unsigned threads,
               bool backwards)
        : source_(source), slots_(std::move(slots)), each_(each), piece_(std::max<std::uint64_t>(piece, 1)),
          backwards_(backwards), filled_(slots_.size()) {
        unsigned wanted = 1;
        if constexpr (reads_anywhere<Source>) {
            size_ = source.size();
            chunks_ = chunks_of(size_, each_);
            const std::uint64_t pieces = std::min(size_, each_ * slots_.size()) / piece_ + 1;
            wanted = static_cast<unsigned>(std::min<std::uint64_t>(std::max(1u, threads), pieces));
        }
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
    read_ahead(const read_ahead&) = delete;
    read_ahead& operator=(const read_ahead&) = delete;
    ~read_ahead() { stop(); }

    // The next chunk, when it is there; none at the end. Throws what the source has thrown.
    [[nodiscard]] filled next() {
        std::unique_lock lock(guard_);
        there_.wait(lock, [&] { return failure_ || handed_ == chunks_ || is_there(handed_); });
        failure_.raise();
        if (handed_ == chunks_) {
            return {};
        }
        const unsigned slot = slot_of(handed_++);
        return {slots_[slot], filled_[slot].at};
    }
    // The oldest chunk that was handed out and not released may be overwritten.
    void release() {
        const std::lock_guard lock(guard_);
        filled_[slot_of(released_)] = {};
        ++released_;
        room_.notify_all();
    }

private:
    struct contents {
        chunk_range at;
        std::uint64_t pieces = 0; // that are there
    };

    [[nodiscard]] unsigned slot_of(std::uint64_t chunk) const { return static_cast<unsigned>(chunk % slots_.size()); }
    [[nodiscard]] bool is_there(std::uint64_t chunk) const {
        const contents& s = filled_[slot_of(chunk)];
        return s.at.count != 0 && s.pieces == chunks_of(s.at.count, piece_);
    }
    void stop() noexcept {
        {
            const std::lock_guard lock(guard_);
            stopped_ = true;
        }
        room_.notify_all();
        for (std::thread& one : threads_) {
            one.join();
        }
    }
    void run() noexcept {
        try {
            if constexpr (reads_anywhere<Source>) {
                read_pieces();
            } else {
                fill_chunks();
            }
        } catch (...) {
            const std::lock_guard lock(guard_);
            failure_.set(std::current_exception());
            stopped_ = true;
            there_.notify_all();
            room_.notify_all();
        }
    }
    // Waits for room for the chunk that is read next; false where there is nothing to do any more.
    bool wait_for_room(std::unique_lock<std::mutex>& lock) {
        room_.wait(lock, [&] { return stopped_ || reading_ == chunks_ || reading_ < released_ + slots_.size(); });
        return !stopped_ && reading_ != chunks_;
    }
    void read_pieces() {
        std::unique_lock lock(guard_);
        while (wait_for_room(lock)) {
            const unsigned slot = slot_of(reading_);
            const chunk_range at = chunk_at(size_, each_, reading_, backwards_);
            const std::uint64_t begin = piece_ * next_piece_++;
            filled_[slot].at = at;
            if (next_piece_ == chunks_of(at.count, piece_)) {
                next_piece_ = 0;
                if (++reading_ == chunks_) {
                    room_.notify_all();
                }
            }
            lock.unlock();
            const std::uint64_t count = std::min(piece_, at.count - begin);
            source_.read(at.first + begin, place(slot, begin), count);
            lock.lock();
            if (++filled_[slot].pieces == chunks_of(at.count, piece_)) {
                there_.notify_one();
            }
        }
    }
    void fill_chunks() {
        std::uint64_t first = 0;
        std::unique_lock lock(guard_);
        while (wait_for_room(lock)) {
            const unsigned slot = slot_of(reading_);
            lock.unlock();
            std::uint64_t count = 0;
            bool more = true;
            while (more && count < each_) {
                const std::uint64_t got = source_.fill(place(slot, count), each_ - count);
                if (got > each_ - count) {
                    throw invalid_argument("warpfold: a source says that it has filled in more elements than it was "
                                           "asked for");
                }
                count += got;
                more = got != 0;
            }
            lock.lock();
            if (count != 0) {
                filled_[slot] = {{first, count}, chunks_of(count, piece_)};
                first += count;
                ++reading_;
            }
            if (!more) {
                chunks_ = reading_;
            }
            there_.notify_one();
        }
    }
    [[nodiscard]] stored_t<Source>* place(unsigned slot, std::uint64_t element) const {
        return static_cast<stored_t<Source>*>(
            static_cast<void*>(static_cast<unsigned char*>(slots_[slot]) + element * stored_bytes(source_)));
    }

    Source& source_;
    const std::vector<void*> slots_;
    const std::uint64_t each_, piece_;
    const bool backwards_;
    std::uint64_t size_ = 0;

    std::mutex guard_;
    std::condition_variable room_, there_;
    std::vector<contents> filled_;
    std::uint64_t chunks_ = ~std::uint64_t{0}; // as far as is known
    std::uint64_t reading_ = 0, next_piece_ = 0, handed_ = 0, released_ = 0;
    bool stopped_ = false;
    shared_failure failure_;
    std::vector<std::thread> threads_;
};

} // namespace warpfold::detail

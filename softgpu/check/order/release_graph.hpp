// SPDX-License-Identifier: MIT
// Order through memory: a thread releases (a fence and then an atomic or volatile store, or st.release), another one
// reads the same word with an atomic or volatile access and has acquired what was released. The graph of all releases
// and acquisitions of a launch is kept until it ends; a query walks backwards from the acquisitions of a thread.
//
// Times are those of stamps of global memory: a block's serial and its time, one number that grows within the block.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "softgpu/check/order/clock.hpp"

namespace softgpu::check {

class release_graph {
public:
    struct history;

    // A release by lanes of a warp: what it covers.
    struct release {
        unsigned warp = 0;
        std::uint64_t time = 0;       // what the lane itself has done before
        std::uint64_t warp_base = 0;  // what its warp has done before
        std::uint64_t block_base = 0; // what its block has done before
        std::uint32_t acquired = 0;   // acquisitions of the block until then
        bool within_block = false;    // .cta scope
        bool lenient = false;         // parts of the block have synchronised: all before is taken as covered
    };
    struct acquisition {
        event by;
        std::shared_ptr<history> from;
        std::uint32_t upto = 0; // entries of the history
    };
    // The last fence.sc of these lanes of a warp, an index into releases.
    struct fence {
        std::uint32_t release = 0;
        lane_mask by = 0;
    };
    struct block_record {
        void note_fence(std::uint32_t which, lane_mask by);
        // What the thread has acquired last; nullptr: nothing.
        [[nodiscard]] const acquisition* last_of(unsigned warp, unsigned lane) const noexcept {
            const std::size_t thread = std::size_t{warp} * 32 + lane;
            return thread < acquisition_of.size() && acquisition_of[thread] != 0
                       ? &acquisitions[acquisition_of[thread] - 1]
                       : nullptr;
        }

        std::uint64_t block = 0;
        std::vector<release> releases;
        std::vector<acquisition> acquisitions;
        std::vector<std::uint32_t> fence_of;       // by thread: its last fence, an index into releases, + 1
        std::vector<std::uint32_t> acquisition_of; // by thread: its last one, an index into acquisitions, + 1
        std::vector<fence> fences;                 // fence.sc of wider scope than the block's
        std::vector<fence> block_fences;           // those before the last barrier of the whole block
        std::unordered_map<std::uint64_t, std::uint32_t> last; // what a thread has acquired last of a history
    };
    struct entry {
        const block_record* block = nullptr;
        std::uint32_t release = 0;
        lane_mask by = 0;
    };
    struct history {
        std::uint64_t number = 0;
        std::vector<entry> entries;
        std::unordered_map<const block_record*, std::vector<std::uint32_t>> of_block;
    };
    // A word that is synchronised on: of global memory, or of a block's shared memory.
    struct word {
        std::uint64_t address = 0;
        std::uint64_t block = global;
        static constexpr std::uint64_t global = ~0ull;
        bool operator==(const word&) const = default;
    };

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    // The functions below require the mutex to be held.
    [[nodiscard]] block_record& record_of(std::uint64_t block);
    // A release, as of now: the block's time has just been closed for this warp.
    std::uint32_t add_release(block_record& record, const block_clock& clock, unsigned warp, bool within_block);
    // A write of the word carries the release by these lanes. `replaces`: a store, not a read-modify-write.
    void attach(const word& at, const block_record& record, std::uint32_t which, lane_mask by, bool replaces);
    // A read of the word by this thread at this time.
    void acquire(const word& at, block_record& record, const event& by);
    [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; } // needs no mutex

    // Whether `before`, of block `of`, is known to this thread of `record`'s block; `is_known` says which events of the
    // own block are. Also true where the search is too long.
    template <class IsKnown>
    [[nodiscard]] bool is_ordered(std::uint64_t of, const event& before, const block_record& record, unsigned warp,
                                  unsigned lane, IsKnown&& is_known) const {
        // Nearly always by what the thread has just acquired itself, such as a barrier's phase.
        if (const acquisition* const last = record.last_of(warp, lane);
            last != nullptr && is_covered(of, before, record, *last)) {
            return true;
        }
        std::vector<const acquisition*> front;
        for (auto a = record.acquisitions.rbegin(); a != record.acquisitions.rend(); ++a) {
            if (is_known(a->by)) {
                front.push_back(&*a);
            }
        }
        return search(of, before, record, std::move(front));
    }
    // Memory is bounded: beyond this many releases and acquisitions everything counts as in order.
    [[nodiscard]] bool is_full() const noexcept { return size_ > most; }

private:
    static constexpr std::uint64_t most = 1u << 22;

    // Whether a release that was acquired covers it directly.
    [[nodiscard]] bool is_covered(std::uint64_t of, const event& before, const block_record& record,
                                  const acquisition& by) const;
    [[nodiscard]] bool search(std::uint64_t of, const event& before, const block_record& record,
                              std::vector<const acquisition*> front) const;

    struct hash {
        std::size_t operator()(const word& w) const noexcept {
            return static_cast<std::size_t>((w.address * 0x9E3779B97F4A7C15ull) ^ (w.block * 0xC2B2AE3D27D4EB4Full));
        }
    };

    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::unique_ptr<block_record>> records_;
    std::unordered_map<word, std::shared_ptr<history>, hash> histories_;
    std::uint64_t numbers_ = 0;
    std::atomic<std::uint64_t> size_{0};
};

} // namespace softgpu::check

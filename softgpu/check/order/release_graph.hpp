// SPDX-License-Identifier: MIT
// Order through memory: a thread releases (a fence and then an atomic or volatile store, or st.release), another one
// reads the same word with an atomic or volatile access and has acquired what was released. The graph of all releases
// and acquisitions of a launch is kept until it ends; a query walks backwards from the acquisitions of a thread.
//
// Times are those of stamps of global memory: a block's serial and its time, one number that grows within the block.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <iterator>
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
        std::uint32_t made = 0;       // when in the launch
        bool within_block = false;    // .cta scope
        bool of_inits = false;        // fence.mbarrier_init: of mbarrier.init alone
        bool lenient = false;         // parts of the block have synchronised: all before is taken as covered

        // Whether the release by these lanes covers what one of `of_lanes` did, in the same block. is_init: that is
        // mbarrier.init.
        [[nodiscard]] bool covers(lane_mask by, unsigned of_warp, std::uint64_t when, lane_mask of_lanes,
                                  bool is_init = false) const noexcept {
            return (is_init || !of_inits) &&
                   (when < block_base || (lenient && when < time) ||
                    (of_warp == warp && (when < warp_base || ((by & of_lanes) != 0 && when < time))));
        }
        [[nodiscard]] bool covers(lane_mask by, const event& e) const noexcept {
            return covers(by, e.warp, e.time, lane_mask{1} << e.lane, e.is_init);
        }
    };
    // Lanes of a warp acquire in one instruction.
    struct acquisition {
        unsigned warp = 0;
        std::uint64_t time = 0;
        lane_mask by = 0;
        std::shared_ptr<history> from;
        std::uint32_t upto = 0; // entries of the history
        std::uint32_t made = 0;
    };
    // The last fence.sc of these lanes of a warp, of the block's scope or of a wider one: an index into releases.
    struct fence {
        std::uint32_t release = 0;
        lane_mask by = 0;
    };
    struct block_record {
        void note_fence(std::uint32_t which, lane_mask by);
        // What the thread has acquired last, an index into acquisitions, + 1; 0: nothing.
        [[nodiscard]] std::uint32_t last_of(unsigned warp, unsigned lane) const noexcept {
            const std::size_t thread = std::size_t{warp} * 32 + lane;
            return thread < acquisition_of.size() ? acquisition_of[thread] : 0;
        }

        std::uint64_t block = 0;
        std::vector<release> releases; // in the order of their times
        std::vector<acquisition> acquisitions;
        std::vector<std::uint32_t> fence_of;       // by thread: its last fence, an index into releases, + 1
        std::vector<std::uint32_t> init_fence_of;  // the same of fence.mbarrier_init
        std::vector<std::uint32_t> acquisition_of; // by thread: its last one, an index into acquisitions, + 1
        std::vector<fence> fences;                 // fence.sc
        std::vector<fence> block_fences;           // those before the last barrier of the whole block
        struct extent {
            std::uint32_t upto = 0;
            lane_mask by = 0;
        };
        std::unordered_map<std::uint64_t, extent> last; // what a warp has acquired last of a history, and which lanes
    };
    struct entry {
        const block_record* block = nullptr;
        std::uint32_t release = 0;
        lane_mask by = 0;
        std::uint32_t made = 0;
    };
    struct history {
        std::uint64_t number = 0;
        std::vector<entry> entries;
        std::unordered_map<const block_record*, std::vector<std::uint32_t>> of_block;
    };
    // A release of a block that an acquisition has found: it often covers what the next lanes ask for. What several
    // warps did may be asked for in turn.
    struct covering {
        const block_record* record = nullptr; // whose acquisition
        std::uint32_t acquisition = 0;        // its index + 1
        std::uint64_t block = 0;
        release what;
        lane_mask by = 0;
    };
    using coverings = std::array<covering, 8>; // by the warp of what is covered
    // What a search has found: by this acquisition a block knows of a release of another one. Later searches often have the
    // same answer.
    struct path {
        const block_record* record = nullptr; // whose acquisition
        std::uint32_t acquisition = 0;        // its index
        std::uint64_t block = 0;
        release what;
        lane_mask by = 0;
    };
    using paths = std::array<path, 32>; // by the block of the release
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
    std::uint32_t add_release(block_record& record, const block_clock& clock, unsigned warp, bool within_block,
                              bool of_inits = false);
    // A write of the word carries the release by these lanes. `replaces`: a store, not a read-modify-write.
    void attach(const word& at, const block_record& record, std::uint32_t which, lane_mask by, bool replaces);
    // A read of the word by these lanes of a warp at this time.
    void acquire(const word& at, block_record& record, unsigned warp, std::uint64_t time, lane_mask by);
    [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; } // needs no mutex

    // Whether what this thread of `record`'s block has acquired last, such as a barrier's phase, covers `before`, of block
    // `of`, without further steps. Only the block's own thread of the host may ask. Takes the mutex only if `kept` does not
    // answer.
    [[nodiscard]] bool is_covered(std::uint64_t of, const event& before, const block_record& record, unsigned warp,
                                  unsigned lane, coverings& kept) {
        const std::uint32_t last = record.last_of(warp, lane);
        covering& found = kept[before.warp % kept.size()];
        return last != 0 && ((found.acquisition == last && found.block == of && found.record == &record &&
                              found.what.covers(found.by, before)) ||
                             find_covering(of, before, record, last, found));
    }
    // Whether `before`, of block `of`, is known by what a search has found, to a thread of `record`'s block that knows of the
    // acquisition; `is_known` says which events of the own block it knows. Needs no mutex.
    template <class IsKnown>
    [[nodiscard]] static bool is_on_path(std::uint64_t of, const event& before, const block_record& record,
                                         const paths& kept, IsKnown&& is_known) {
        const path& found = kept[of % kept.size()];
        return found.record == &record && found.block == of && found.what.covers(found.by, before) &&
               is_any_known(record.acquisitions[found.acquisition], is_known);
    }
    // Whether `before`, of block `of`, is known to this thread of `record`'s block; `is_known` says which events of the
    // own block are. Also true where the search is too long.
    template <class IsKnown>
    [[nodiscard]] bool is_ordered(std::uint64_t of, const event& before, const block_record& record, paths& kept,
                                  IsKnown&& is_known) const {
        if (is_full()) {
            return true;
        }
        const release* const first = first_release(of, before);
        if (first == nullptr) {
            return false;
        }
        std::vector<step> front;
        for (auto a = record.acquisitions.rbegin(); a != record.acquisitions.rend() && a->made > first->made; ++a) {
            if (is_any_known(*a, is_known)) {
                front.push_back({&*a, &*a});
            }
        }
        return search(of, before, record, std::move(front), &kept[of % kept.size()]);
    }
    // Whether a release by these lanes of `record`'s block, or what it had acquired before, covers `before`, by `of_lanes` of
    // block `of`. Takes the mutex.
    [[nodiscard]] bool is_known_at(const block_record& record, std::uint32_t which, lane_mask by, std::uint64_t of,
                                   const event& before, lane_mask of_lanes);
    // Calls body(release) for the last release of each block that the acquisition has found, where they are at most `most`.
    // Requires the mutex to be held.
    template <class Body>
    static void each_found(const acquisition& a, std::size_t most, Body&& body) {
        if (a.from->of_block.size() > most) {
            return;
        }
        for (const auto& [block, entries] : a.from->of_block) {
            const auto after = std::partition_point(entries.begin(), entries.end(), [&](auto k) { return k < a.upto; });
            if (after != entries.begin()) {
                body(*block, block->releases[a.from->entries[*std::prev(after)].release]);
            }
        }
    }
    // Grows with everything that is added. Needs no mutex.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    // Memory is bounded: beyond this many releases and acquisitions everything counts as in order.
    [[nodiscard]] bool is_full() const noexcept { return size_ > most; }

private:
    static constexpr std::uint64_t most = 1u << 22;
    [[nodiscard]] std::uint32_t now() const noexcept { return static_cast<std::uint32_t>(size_); }

    template <class IsKnown>
    [[nodiscard]] static bool is_any_known(const acquisition& a, IsKnown&& is_known) {
        for (lane_mask left = a.by; left != 0; left &= left - 1) {
            if (is_known(event{a.time, a.warp, static_cast<unsigned>(std::countr_zero(left))})) {
                return true;
            }
        }
        return false;
    }
    // The first release that may cover `before`, of block `of`: what was made earlier does not know of it. nullptr: there is
    // none.
    [[nodiscard]] const release* first_release(std::uint64_t of, const event& before) const;
    [[nodiscard]] bool find_covering(std::uint64_t of, const event& before, const block_record& record,
                                     std::uint32_t last, covering& found);
    // An acquisition that a search has come to, and the one of its front that has led there.
    struct step {
        const acquisition* at;
        const acquisition* from;
    };
    [[nodiscard]] bool search(std::uint64_t of, const event& before, const block_record& record,
                              std::vector<step> front, path* found) const;

    struct hash {
        std::size_t operator()(const word& w) const noexcept {
            return static_cast<std::size_t>((w.address * 0x9E3779B97F4A7C15ull) ^ (w.block * 0xC2B2AE3D27D4EB4Full));
        }
    };

    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::unique_ptr<block_record>> records_;
    std::unordered_map<word, std::shared_ptr<history>, hash> histories_;
    std::uint64_t numbers_ = 0;
    std::atomic<std::uint64_t> size_{0}; // also the time in the launch
};

} // namespace softgpu::check

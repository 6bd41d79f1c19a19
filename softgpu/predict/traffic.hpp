// SPDX-License-Identifier: MIT
// What a launch's global accesses do to a card's caches: L1 for each block, L2 for the device.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "softgpu/machine/trace.hpp"
#include "softgpu/predict/load_cache.hpp"
#include "softgpu/predict/sector_cache.hpp"

namespace softgpu::predict {

// Sectors, except where the name says otherwise.
struct traffic {
    std::uint64_t loads = 0;
    std::uint64_t l1_hits = 0;
    std::uint64_t load_requests = 0;        // instructions of warps
    std::uint64_t load_requests_missed = 0; // of these, those of which L1 did not have all
    std::uint64_t load_requests_waited = 0; // these, and those of which a part was on its way to another warp
    std::uint64_t load_lines_missed = 0;    // lines, or parts of them, that they asked L2 for
    std::uint64_t load_lines_apart = 0;     // of these, such as do not follow the one before
    std::uint64_t l2_reads = 0;             // loads that L1 did not have, and atomics
    std::uint64_t l2_read_hits = 0;
    std::uint64_t l2_far_hits = 0; // sectors that the multiprocessor's part of L2 did not have and the other one had
    std::uint64_t l2_late_hits =
        0; // of l2_read_hits, sectors that DRAM sends with a neighbour that another warp asked for
    std::uint64_t l2_far_late = 0;    // likewise of l2_far_hits
    std::uint64_t l2_waited = 0;      // of both, sectors that are on their way from DRAM to another warp
    std::uint64_t l2_together = 0;    // of l2_late_hits, those that are asked for at the same time as the neighbour
    std::uint64_t l2_early_hits = 0;  // of l2_late_hits, those that are asked for before it
    std::uint64_t l2_atomics = 0;     // of l2_reads
    std::uint64_t l2_atomic_hits = 0; // of l2_read_hits
    std::uint64_t l2_writes = 0;
    std::uint64_t l2_requests = 0; // lines, or parts of them, that one instruction of a warp asks for
    std::uint64_t dram_reads = 0;
    std::uint64_t dram_writes = 0;
    std::uint64_t dram_rows = 0;         // that dram_reads open
    std::uint64_t dram_part_sectors = 0; // of dram_writes, those of lines that are not written whole
    std::uint64_t dram_part_lines = 0;   // such lines
    std::uint64_t l2_store_requests = 0; // of l2_requests, stores
    std::uint64_t atomic_passes = 0;     // the most lanes at one address of a sector, over all sectors and requests
    double slice_cycles = 0;             // of the slice of L2 that has most to do
    double last_slice_cycles = 0;        // the same of atomics that come last in their block or warp
    std::uint64_t host_sectors = 0;      // of the host's memory, past the caches
};

// Memory of the host that kernels reach: lines from `begin` to `end`.
struct host_lines {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// A slice of L2 does one thing at a time. Two have twice `bytes` together, in turn half of `bytes`.
struct l2_slices {
    std::uint64_t bytes = 512; // a power of two
    double load = 0;           // cycles
    double store = 0;
    double atomic = 0;  // a pass
    double floats = 0;  // a pass of additions of floats, behind another one of the same sector
    double changed = 0; // a load past L1 of a sector that was stored to since its last load
};

// Additions of floats in one slice of L2: each waits for the one before in its sector.
class float_additions {
public:
    // Passes for one sector, or for several.
    void add(std::uint64_t line, unsigned sectors, double passes) noexcept;
    // Passes of one sector.
    [[nodiscard]] double most() const noexcept { return most_added_; }

private:
    // A sector with more than half of the passes is found by majority vote; no other one bounds the slice.
    std::uint64_t sector_ = 0;
    double votes_ = 0;
    double added_ = 0; // to sector_, since it was chosen
    double most_added_ = 0;
};

// Cycles from a load to its data. Whoever asks for a sector that is on its way to another warp waits for it as well; 0: nothing is.
struct load_latencies {
    std::uint32_t l2 = 0;
    std::uint32_t dram = 0;
};

// One access behind L1.
struct l2_access {
    std::uint64_t line = 0;
    std::uint32_t passes = 0; // of an atomic; of stores that go together, how many
    std::uint32_t words = 0;  // as of a line_access
    // The lowest bit of the warp is the multiprocessor's part of L2.
    asker by{};
    std::uint8_t sectors = 0; // mask
    machine::touch how = machine::touch::load;
};

// The device's L2 cache. Thread-safe.
class device_l2 {
public:
    // `fetch`: bytes that come together from DRAM, 32, 64 or 128. `partitions`: 1 or 2. Each of two serves half of the
    // multiprocessors and is the home of half of the lines; it keeps copies of the others that its multiprocessors load.
    device_l2(std::uint64_t bytes, std::uint64_t fetch, l2_slices slices = {}, unsigned partitions = 1,
              load_latencies latencies = {})
        : cache_(bytes, static_cast<unsigned>(fetch / 32), latencies.dram),
          latency_(latencies.l2),
          partitions_(partitions),
          slices_(slices),
          slice_shift_(std::countr_zero(std::max<std::uint64_t>(slices.bytes / 128, 2))),
          slice_cycles_(slice_places),
          last_slice_cycles_(slice_places) {}

    // A launch begins: the cold cache is empty, the warm one is not.
    void begin();
    void take(const std::vector<l2_access>& accesses);
    [[nodiscard]] std::size_t slice_of(std::uint64_t line) const {
        const std::uint64_t pair = (line >> (slice_shift_ + 1)) * 0x9E3779B97F4A7C15ull >> 32;
        return (pair << 1 | (line >> (slice_shift_ - 1) & 1)) % slice_places;
    }
    // Of two partitions the one that the line is at home in.
    [[nodiscard]] unsigned home_of(std::uint64_t line) const { return slice_of(line) >> 1 & 1; }
    // Of an atomic in its slice.
    [[nodiscard]] double cycles_of(const l2_access& a) const;
    // From a load that L1 does not have to its data, at least.
    [[nodiscard]] std::uint32_t latency() const noexcept { return latency_; }
    // Cycles by slice, of what take() was given too: of a block's last atomics.
    void note_last(const std::unordered_map<std::size_t, double>& cycles);
    // Of a block, which others rarely have.
    [[nodiscard]] std::uint16_t next_number() noexcept { return blocks_++; }
    // The traffic behind L1 since begin().
    [[nodiscard]] traffic warm();
    [[nodiscard]] traffic cold();

private:
    static constexpr std::size_t slice_places = 4096; // more than a card has slices

    // Of one access: what the multiprocessor's part of L2 did, and what the line's home did if that is the other part.
    struct looked_up {
        sector_cache::outcomes own;
        sector_cache::outcomes home;
        bool is_far = false;
    };
    // A load of a line whose home is not in the multiprocessor's part.
    [[nodiscard]] bool is_far(const l2_access& a) const;
    [[nodiscard]] looked_up look_up(const l2_access& a);
    // Of what reads fetch from DRAM: the rows that were read last, which stay open.
    struct open_rows {
        static constexpr std::size_t places = 16;
        std::array<std::uint64_t, places> rows{}; // 1 more than the number
    };
    static void count_read(const sector_cache::outcome& own, const l2_access& a, traffic& to);
    void count(const sector_cache::outcome& own, const sector_cache::outcome* home, const l2_access& a, open_rows& open,
               traffic& to) const;
    void count_slice(const l2_access& a, unsigned changed);

    std::mutex mutex_;
    std::atomic<std::uint16_t> blocks_ = 0;
    sector_cache cache_; // of both partitions
    std::uint32_t latency_;
    unsigned partitions_;
    traffic of_warm_;
    traffic of_cold_;
    open_rows open_in_warm_;
    open_rows open_in_cold_;
    l2_slices slices_;
    int slice_shift_;                  // of a line's number
    std::vector<double> slice_cycles_; // by slice_of()
    std::unordered_map<std::size_t, float_additions> float_additions_;
    std::vector<double> last_slice_cycles_;
};

// Where a block is.
struct block_place {
    std::uint64_t place = 0; // among those that are on the device at once
    unsigned half = 0;       // of L2, that its multiprocessor has: 0 or 1
    // Blocks of one wave are there at the same time. The device's first ones begin together, and go on as if all did.
    std::uint32_t wave = 0;
};

// The last loads that a cache did not have, by line.
template <std::size_t Count>
class lines_on_their_way {
public:
    struct load {
        std::uint64_t line = 0;
        asker by{};
        std::uint16_t at = 0; // whatever the owner needs
        std::uint8_t sectors = 0;
    };

    [[nodiscard]] load& place_of(std::uint64_t line) noexcept { return last_[line % Count]; }
    // Whether another warp has asked for the line within so many cycles of this one, before or behind it.
    [[nodiscard]] bool has(std::uint64_t line, asker a, std::uint32_t cycles) const noexcept {
        const load& last = last_[line % Count];
        return last.line == line && last.sectors != 0 && last.by.by != a.by && is_within(cycles, a, last.by);
    }

private:
    std::array<load, Count> last_;
};

// A multiprocessor's L1. Thread-safe.
class shared_l1 {
public:
    explicit shared_l1(std::uint64_t bytes) : cache_(bytes) {}

    struct outcome {
        unsigned hits = 0; // sectors, as a mask
        bool waits = false;
    };
    // `latency`: cycles in which what missed is on its way.
    [[nodiscard]] outcome read(std::uint64_t line, unsigned sectors, asker a, std::uint32_t latency) {
        const std::lock_guard lock(mutex_);
        const unsigned hits = cache_.read(line, sectors);
        const bool waits = hits != 0 && asked_.has(line, a, latency);
        if (hits != sectors) {
            asked_.place_of(line) = {line, a, 0, static_cast<std::uint8_t>(sectors & ~hits)};
        }
        return {hits, waits};
    }
    void drop(std::uint64_t line, unsigned sectors) {
        const std::lock_guard lock(mutex_);
        cache_.drop(line, sectors);
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        cache_.clear();
    }

private:
    std::mutex mutex_;
    load_cache cache_;
    lines_on_their_way<256> asked_;
};

// Bytes of L1.
struct l1_sizes {
    std::uint64_t block = 0; // its share
    std::uint64_t multiprocessor = 0;
};

// What blocks that are over have left in L1, by place of a block on the device. Thread-safe.
class l1_places {
public:
    // Places are dealt to multiprocessors in turn.
    l1_places(l1_sizes bytes, std::uint64_t places, std::uint64_t multiprocessors) : bytes_(bytes.block), all_(places) {
        for (std::uint64_t k = 0; k < (bytes.multiprocessor > bytes.block ? multiprocessors : 0); ++k) {
            shared_.emplace_back(bytes.multiprocessor);
        }
    }

    // The L1 that the block in this place shares with others; nullptr: none are there at the same time.
    [[nodiscard]] shared_l1* shared_by(std::uint64_t place) {
        return shared_.empty() ? nullptr : &shared_[place % shared_.size()];
    }

    struct taken {
        std::uint64_t place;
        load_cache cache;
    };
    // `place`, or the next one that is free where a block is in it: the host may hold up a block for longer than a card would. If
    // none is free, `place` with an empty cache.
    [[nodiscard]] taken take(std::uint64_t place);
    void leave(std::uint64_t place, load_cache&& cache);

private:
    struct state {
        bool is_free = true;
        std::optional<load_cache> left; // by the block before
    };

    std::mutex mutex_;
    std::uint64_t bytes_;
    std::vector<state> all_;
    std::deque<shared_l1> shared_;
};

// One block's share of its multiprocessor's L1.
class block_l1 {
public:
    // A cache of 0 bytes: loads go past it, and stores go to L2 one by one. `shared`: with what other blocks of the multiprocessor
    // load, or nullptr. It and `host` outlive the block. Local memory of another place lies apart.
    block_l1(device_l2& behind, load_cache cache, const std::vector<host_lines>& host = none(), block_place at = {},
             shared_l1* shared = nullptr)
        : behind_(behind),
          cache_(std::move(cache)),
          shared_(shared),
          joins_stores_(!cache_.is_empty()),
          host_(host),
          local_(local_space | at.place << 32),
          at_(at),
          number_(behind.next_number()) {}

    // `when`: cycles since the block's begin.
    void touched(const machine::line_access& a, double when = 0);
    // Local memory: a store stays in L1 and goes to L2 as well.
    void touched_local(std::uint32_t warp, std::uint64_t line, std::uint32_t mask, machine::touch how);
    void clear() {
        if (std::exchange(may_hit_, false)) {
            cache_.clear();
            if (shared_ != nullptr) {
                shared_->clear();
            }
        }
    }
    void passed_barrier() {
        has_barrier_ = true;
        last_cycles_.clear();
        of_warp_.clear();
        joined_.clear();
    }
    // Hands on what waits. `loads` and `l1_hits` of the result are the block's.
    [[nodiscard]] traffic ended();
    // For the next block in its place, behind ended().
    [[nodiscard]] load_cache&& cache() noexcept { return std::move(cache_); }

private:
    static constexpr std::size_t joined_lines = 4;
    static constexpr std::uint64_t local_space = 1ull << 58; // above all lines of global memory

    static const std::vector<host_lines>& none() {
        static const std::vector<host_lines> empty;
        return empty;
    }
    // What a store of a warp stored to, as places in `waiting_`; of more than joined_lines the first ones.
    struct stored_lines {
        std::array<std::size_t, joined_lines> at{};
        std::size_t count = 0;
    };
    struct stores_of_warp {
        stored_lines before, now;
    };

    using asked_lines = lines_on_their_way<64>; // load::at is a place in waiting_

    void pass_on(const l2_access& a);
    // Of a load, the sectors that L1 does not have.
    [[nodiscard]] unsigned missed_by(const machine::line_access& a, asker self);
    void note_last_atomic(const l2_access& a, std::uint32_t warp);
    void keep_last_atomics();
    // Of sectors that L1 has: those for which, by the clocks, this warp asks before the one that has asked; the host has run that
    // one first. Of warps with the same clock either one may be first. They wait as this one's from now on.
    unsigned taken_back(const asked_lines::load& other, unsigned hits, asker from);
    // Whether a line of a store goes to L2 with the warp's store before.
    bool joins(const machine::line_access& a);
    [[nodiscard]] asker by(std::uint32_t warp, std::uint32_t when) const {
        constexpr std::uint32_t apart = 0x9E3779B1; // waves have no common clock
        return {static_cast<std::uint16_t>((at_.place * 61 + warp) << 1 | at_.half), number_, when + at_.wave * apart};
    }

    device_l2& behind_;
    load_cache cache_;
    shared_l1* shared_;
    bool joins_stores_;
    const std::vector<host_lines>& host_;
    std::uint64_t local_;
    block_place at_;
    std::uint16_t number_;
    std::vector<l2_access> waiting_;
    asked_lines asked_;
    std::vector<stores_of_warp> joined_; // by warp
    bool has_barrier_ = false;
    // By slice, of atomics behind the last barrier; without one, of those behind the last load of their warp.
    std::unordered_map<std::size_t, double> last_cycles_;
    std::uint32_t last_warp_ = 0;                     // that had an atomic
    std::unordered_map<std::size_t, double> of_warp_; // its part of last_cycles_, as far as known
    bool may_hit_ = true;                             // it has loaded since clear()
    std::uint64_t last_missed_ = 0;                   // line of the present load
    bool request_missed_ = false;                     // the present load
    bool request_waited_ = false;                     // likewise
    traffic own_;
};

} // namespace softgpu::predict

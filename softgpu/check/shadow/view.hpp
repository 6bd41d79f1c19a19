// SPDX-License-Identifier: MIT
// What the handlers of all instruction sets see of the checks: plain data, no functions of any library.
#pragma once

#include <cstdint>

#include "softgpu/check/shadow/stamp.hpp"

namespace softgpu::check {

struct lane_clocks;

struct warp_clock {
    std::uint64_t base = 0;    // what a lane of the warp has done before is known to all its lanes
    std::uint64_t touched = 0; // time of the last access
    lane_clocks* lanes = nullptr;
    std::uint64_t met = 0; // when it last acquired, or was at a barrier of some warps
};

// Stamps of an operation that was over before the launch, although operations with lower serials may not be.
struct ordered_stamps {
    stamp first = 0;
    std::uint64_t count = 0; // 0: none
    [[nodiscard]] bool contains(stamp s) const noexcept { return static_cast<std::uint64_t>(s - first) < count; }
};

// What other blocks of the launch have done and all threads of this block are in order behind, by releases and acquires.
// It holds as long as the block runs. An entry that another block takes is found again when it is needed.
struct known_blocks {
    static constexpr unsigned serial_shift = time_shift + serial_time_bits;
    static constexpr stamp size = 32;
    ordered_stamps by_serial[size];
    bool any = false;

    [[nodiscard, gnu::always_inline]] bool contains(stamp s) const noexcept {
        return by_serial[(s >> serial_shift) % size].contains(s);
    }
    // All before `upto` of the serial that it has.
    void add(stamp upto) noexcept {
        const stamp first = upto >> serial_shift << serial_shift;
        const auto count = static_cast<std::uint64_t>(upto - first);
        ordered_stamps& entry = by_serial[(upto >> serial_shift) % size];
        if (entry.first != first || entry.count < count) {
            entry = {first, count};
            any = true;
        }
    }
};

// What the handlers see of a block: everything that their fast path needs.
struct block_view {
    std::uint64_t time = 1;
    std::uint64_t base = 1;          // what was done before is known to all threads of the block
    std::uint64_t global_offset = 0; // added to a time: the time field of a stamp of global memory
    stamp launch_floor = 0;          // stamps of global memory below it are of what is over before the launch,
    stamp launch_first = 0;          // ... from here on the launch's own,
    stamp launch_end = 0;            // ... up to here; others may be of what is not in order with it
    stamp own_floor = 0;             // ... at or above it, and below the next serial's, are the block's own
    bool is_renewed = false;         // the block has had other serials before: stamps of it are below own_floor
    bool stamps_global = false;      // races in global memory are looked for
    bool has_fenced = false;         // a thread has executed a fence
    bool has_acquired = false;       // a thread has read what may have been a signal
    bool has_remote = false;         // other blocks of the cluster have accessed the shared memory
    warp_clock warps[32];
    stamp* shared_writes = nullptr; // by word of shared memory
    stamp* shared_reads = nullptr;
    std::uint8_t* shared_valid = nullptr;       // a bit for each byte: it has been written
    std::uint64_t shared_stored = 0;            // time of the last store to shared memory
    bool has_lost = false;                      // lanes of a warp have overwritten each other's words of it
    std::uint64_t shared_written_from = 0;      // all bytes of shared memory from here ...
    std::uint64_t shared_written_upto = 0;      // ... to before here have been written; others may have been as well
    std::uint8_t* local_valid = nullptr;        // likewise, the threads' local memory one after the other
    std::uint64_t (*acquired_at)[32] = nullptr; // by warp: addresses of the access that runs, where it may acquire
    ordered_stamps ordered[2];                  // the last two operations of this kind that accesses have met
    known_blocks known;                         // of global memory
};

// Of global memory: an arena of host addresses.
struct shadow_view {
    std::uint64_t arena = 0;
    std::uint64_t bytes = 0;
    stamp* writes = nullptr; // by word; nullptr: races are not looked for
    stamp* reads = nullptr;
    std::uint8_t* valid = nullptr; // a bit for each byte: it has been written; nullptr: not looked at
};

} // namespace softgpu::check

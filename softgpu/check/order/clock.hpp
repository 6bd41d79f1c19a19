// SPDX-License-Identifier: MIT
// Happens-before order within a block. The block has one logical time, which advances when its threads synchronize after
// an access to memory. A thread that knows a time of another thread is ordered after all that the other did before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/check/shadow/view.hpp"

namespace softgpu::check {

using lane_mask = std::uint32_t;

// An access, or another event, of one thread of a block.
struct event {
    std::uint64_t time = 0;
    unsigned warp = 0;
    unsigned lane = 0;
    bool is_init = false; // mbarrier.init
};

// known[b][a]: lane b is ordered after what lane a did before this time.
struct lane_clocks {
    std::uint64_t known[32][32];
    std::vector<lane_mask> groups; // synchronised since the last access
    std::uint64_t groups_at = 0;   // ... at this time
};

class block_clock {
public:
    block_view view;

    block_clock() = default;
    block_clock(const block_clock&) = delete;
    block_clock& operator=(const block_clock&) = delete;

    // A block starts with its place in the order of global memory, a serial that is its own.
    void start(unsigned warps, std::uint64_t serial, std::uint64_t launch_serial, bool stamps_global);
    // Takes a further serial; requires that all threads are in order.
    void renew(std::uint64_t serial);
    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    [[nodiscard]] bool wants_renewal() const noexcept { return view.time - serial_start_ > serial_times / 2; }

    // These lanes of a warp have synchronized; `whole`: they are all its live lanes.
    void synchronize_warp(unsigned warp, lane_mask lanes, bool whole);
    // All live threads of the block have synchronized.
    void synchronize_block();
    // A barrier of some of the threads, or with threads that arrive without waiting: arrive() for each, then complete().
    void arrive(unsigned barrier, unsigned warp, lane_mask lanes, bool waits);
    void complete(unsigned barrier, bool everybody);
    // Returns a time after everything that this warp has done.
    std::uint64_t close(unsigned warp);

    // Whether `before` is known to this thread now, by barriers and warp-wide instructions.
    [[nodiscard]] bool is_ordered(const event& before, unsigned warp, unsigned lane) const;
    // Parts of warps or of the block have synchronised: some order is not in base.
    [[nodiscard]] bool has_partial_order(unsigned warp) const noexcept {
        return !known_.empty() || view.warps[warp].lanes != nullptr;
    }
    // Whether the lane has synchronised with any other since this time.
    [[nodiscard]] bool has_synchronized_since(std::uint64_t time, unsigned warp, unsigned lane) const;
    // Whether the warp has synchronised with another one since this time, by a barrier that not all warps take part in.
    [[nodiscard]] bool has_met_warp_since(std::uint64_t time, unsigned warp) const;

private:
    void tick();

    struct participant {
        unsigned warp;
        bool waits;
        std::uint64_t at; // when it arrived
    };
    struct barrier {
        std::vector<participant> there;
        std::vector<std::uint64_t> known; // by those that have arrived, when they did
    };

    std::uint64_t& known(unsigned by, unsigned of) { return known_[by * warps_ + of]; }
    void make_known();

    unsigned warps_ = 0;
    std::uint64_t serial_ = 0;
    std::uint64_t serial_start_ = 0;
    bool can_stamp_global_ = false;
    std::vector<std::uint64_t> known_; // warps x warps, empty while only base counts
    std::array<barrier, 16> barriers_;
    std::array<std::unique_ptr<lane_clocks>, 32> lanes_;
};

} // namespace softgpu::check

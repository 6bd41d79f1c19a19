// SPDX-License-Identifier: MIT
// Order within a block. A block has one time, which goes on when threads of it synchronise and have touched memory
// since. What a thread has done before a time that another thread knows of is in order with what that one does.
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
};

// known[b][a]: lane b knows what lane a has done before this time.
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
    // Takes a further serial; for when all threads are in order.
    void renew(std::uint64_t serial);
    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    [[nodiscard]] bool wants_renewal() const noexcept { return view.time - serial_start_ > serial_times / 2; }

    // These lanes of a warp have come together; `whole`: they are all that live.
    void synchronize_warp(unsigned warp, lane_mask lanes, bool whole);
    // All threads of the block that live have come together.
    void synchronize_block();
    // A barrier that only some take part in, or that some only arrive at: note each, then complete.
    void arrive(unsigned barrier, unsigned warp, lane_mask lanes, bool waits);
    void complete(unsigned barrier, bool everybody);
    // Makes a time such that all that this warp has done is before it.
    std::uint64_t close(unsigned warp);

    // Whether `before` is known to this thread now, by barriers and warp-wide instructions.
    [[nodiscard]] bool is_ordered(const event& before, unsigned warp, unsigned lane) const;
    // Parts of warps or of the block have synchronised: some order is not in base.
    [[nodiscard]] bool has_partial_order(unsigned warp) const noexcept {
        return !known_.empty() || view.warps[warp].lanes != nullptr;
    }
    // Whether the lane has synchronised with any other since this time.
    [[nodiscard]] bool has_synchronized_since(std::uint64_t time, unsigned warp, unsigned lane) const;

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

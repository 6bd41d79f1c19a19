// SPDX-License-Identifier: MIT
#include "softgpu/check/order/clock.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softgpu::check {

namespace {

template <class Body>
void each(lane_mask mask, Body&& body) {
    for (; mask != 0; mask &= mask - 1) {
        body(static_cast<unsigned>(std::countr_zero(mask)));
    }
}

} // namespace

void block_clock::start(unsigned warps, std::uint64_t serial, std::uint64_t launch_serial, bool stamps_global) {
    warps_ = warps;
    ++view.time;
    view.base = view.time;
    for (warp_clock& w : view.warps) {
        w = {view.time, 0, nullptr, 0};
    }
    known_.clear();
    for (barrier& b : barriers_) {
        b.there.clear();
        b.known.clear();
    }
    can_stamp_global_ = stamps_global;
    view.launch_floor = static_cast<stamp>(launch_serial << (serial_time_bits + time_shift));
    view.ordered[0] = view.ordered[1] = {};
    view.known = {};
    renew(serial);
    view.is_renewed = false;
}

void block_clock::renew(std::uint64_t serial) {
    serial_ = serial;
    serial_start_ = view.time;
    view.global_offset = (serial << serial_time_bits) - view.time;
    view.own_floor = static_cast<stamp>(serial << (serial_time_bits + time_shift));
    view.stamps_global = can_stamp_global_;
    view.is_renewed = true;
}

void block_clock::tick() {
    ++view.time;
    if (view.time - serial_start_ >= serial_times) {
        view.stamps_global = false; // until the next serial
    }
}

std::uint64_t block_clock::close(unsigned warp) {
    if (view.warps[warp].touched == view.time) {
        tick();
    }
    return view.time;
}

void block_clock::synchronize_warp(unsigned warp, lane_mask lanes, bool whole) {
    warp_clock& w = view.warps[warp];
    if (whole) {
        w.base = close(warp);
        return;
    }
    if ((lanes & (lanes - 1)) == 0) {
        return;
    }
    if (w.lanes == nullptr) {
        if (lanes_[warp] == nullptr) {
            lanes_[warp] = std::make_unique<lane_clocks>();
        }
        w.lanes = lanes_[warp].get();
        std::memset(w.lanes->known, 0, sizeof(w.lanes->known));
        w.lanes->groups.clear();
    }
    lane_clocks& c = *w.lanes;
    if (w.touched == view.time || c.groups_at != w.touched) {
        c.groups.clear();
        c.groups_at = w.touched;
    }
    bool apart = true;
    bool again = false;
    for (const lane_mask g : c.groups) {
        again = again || g == lanes;
        apart = apart && (g == lanes || (g & lanes) == 0);
    }
    if (again && apart) {
        return; // nothing has happened since
    }
    const std::uint64_t now = close(warp);
    std::uint64_t joined[32] = {};
    each(lanes, [&](unsigned m) {
        for (unsigned a = 0; a < 32; ++a) {
            joined[a] = std::max(joined[a], c.known[m][a]);
        }
    });
    each(lanes, [&](unsigned m) { joined[m] = now; });
    each(lanes, [&](unsigned m) { std::memcpy(c.known[m], joined, sizeof(joined)); });
    if (c.groups.size() < 32) {
        c.groups.push_back(lanes);
        c.groups_at = w.touched;
    }
}

void block_clock::synchronize_block() {
    tick();
    view.base = view.time;
    for (unsigned k = 0; k < warps_; ++k) {
        view.warps[k].base = view.time;
        view.warps[k].lanes = nullptr;
    }
    known_.clear();
}

void block_clock::make_known() {
    if (known_.empty()) {
        known_.assign(std::size_t{warps_} * warps_, view.base);
    }
}

void block_clock::arrive(unsigned id, unsigned warp, lane_mask lanes, bool waits) {
    barrier& b = barriers_[id];
    // Lanes that come to a barrier together know of each other; that others of their warp do not is let go.
    synchronize_warp(warp, lanes, true);
    b.there.push_back({warp, waits, view.warps[warp].base});
    if (!known_.empty()) {
        b.known.resize(warps_, 0);
        for (unsigned k = 0; k < warps_; ++k) {
            b.known[k] = std::max(b.known[k], known(warp, k));
        }
    }
}

void block_clock::complete(unsigned id, bool everybody) {
    barrier& b = barriers_[id];
    const bool all_wait = std::all_of(b.there.begin(), b.there.end(), [](const participant& p) { return p.waits; });
    if (everybody && all_wait) {
        synchronize_block();
    } else {
        make_known();
        tick();
        std::vector<std::uint64_t> joined = b.known;
        joined.resize(warps_, 0);
        for (const participant& p : b.there) {
            joined[p.warp] = std::max(joined[p.warp], p.at);
        }
        for (const participant& p : b.there) {
            if (p.waits) {
                view.warps[p.warp].met = view.time;
                for (unsigned k = 0; k < warps_; ++k) {
                    known(p.warp, k) = std::max(known(p.warp, k), joined[k]);
                }
            }
        }
    }
    b.there.clear();
    b.known.clear();
}

bool block_clock::is_ordered(const event& before, unsigned warp, unsigned lane) const {
    if (before.time < view.base) {
        return true;
    }
    if (before.warp == warp) {
        const warp_clock& w = view.warps[warp];
        return before.lane == lane || before.time < w.base ||
               (w.lanes != nullptr && before.time < w.lanes->known[lane][before.lane]);
    }
    return !known_.empty() && before.time < known_[warp * warps_ + before.warp];
}

bool block_clock::has_synchronized_since(std::uint64_t time, unsigned warp, unsigned lane) const {
    const warp_clock& w = view.warps[warp];
    if (time < w.base) {
        return true;
    }
    if (w.lanes != nullptr) {
        for (unsigned a = 0; a < 32; ++a) {
            if (a != lane && time < w.lanes->known[lane][a]) {
                return true;
            }
        }
    }
    return has_met_warp_since(time, warp);
}

bool block_clock::has_met_warp_since(std::uint64_t time, unsigned warp) const {
    if (!known_.empty()) {
        for (unsigned k = 0; k < warps_; ++k) {
            if (k != warp && time < known_[warp * warps_ + k]) {
                return true;
            }
        }
    }
    return false;
}

} // namespace softgpu::check

// SPDX-License-Identifier: MIT
// Lanes that share a word. A row: lanes side by side have elements of 1 or 2 bytes, so one stamp tells the lane of each byte.
#include <algorithm>

#include "softgpu/machine/inspect/races/word_races.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

constexpr stamp by_lanes = static_cast<stamp>(check::spread::lanes) << check::kind_shift;
constexpr stamp kind_bits = stamp{7} << check::kind_shift;

// Applies `body` to the bytes of the mask until it is false.
template <class Body>
bool all_bytes(unsigned byte_mask, Body&& body) {
    for (unsigned byte = 0; byte < 4; ++byte) {
        if ((byte_mask >> byte & 1) != 0 && !body(byte)) {
            return false;
        }
    }
    return true;
}

unsigned lane_in_row(stamp row, unsigned element_bytes, unsigned byte) {
    return (check::lane_of(row) * (4 / element_bytes) + byte / element_bytes) % lanes;
}

} // namespace

// The bit of writes by several lanes is that of reads by lanes.
unsigned word_access::row_element(stamp s) const {
    if (check::bytes_of(s) != check::bytes_bits || (s & check::spread_bits) != by_lanes) {
        return 0;
    }
    const access_site* const site = site_before(s);
    return site != nullptr && site->bytes < 4 ? site->bytes : 0;
}

bool word_access::is_alone_in_row(stamp s) const {
    const unsigned element = row_element(s);
    return element != 0 && check::warp_of(s) == w_->index &&
           all_bytes(byte_mask_, [&](unsigned byte) { return lane_in_row(s, element, byte) == lane_; });
}

unsigned word_access::lane_before(stamp s) const {
    unsigned lane = check::lane_of(s);
    if (const unsigned element = row_element(s); element != 0) {
        all_bytes(byte_mask_, [&](unsigned byte) { return (lane = lane_in_row(s, element, byte)) == lane_; });
    }
    return lane;
}

bool word_access::follows_row(stamp s, event e) const {
    const unsigned element = row_element(s);
    const bool by_bytes = element != 0 && all_bytes(byte_mask_, [&](unsigned byte) {
                              e.lane = lane_in_row(s, element, byte);
                              return is_known(e);
                          });
    // Else which lanes is not known: after any synchronisation they count as known.
    return by_bytes || clock_.has_synchronized_since(e.time, w_->index, lane_) || has_acquired_since(e.time);
}

// Of different bytes of a word the last access is known, and of the two halves those of two lanes side by side.
stamp word_access::with_row(stamp old, stamp mine, stamp several) const {
    constexpr stamp when_and_warp = ~((stamp{1} << check::time_shift) - 1) | check::warp_bits;
    if (site_.bytes >= 4 || ((old ^ mine) & when_and_warp) != 0) {
        return mine;
    }
    const stamp row = (mine & ~check::lane_bits) | several | check::bytes_bits;
    const stamp lane = static_cast<stamp>(check::row_start(site_.bytes) + lane_ * site_.bytes / 4) << check::lane_shift;
    if (row_element(old) == site_.bytes && is_alone_in_row(old)) {
        return ((old ^ row) & kind_bits) == 0 ? row | lane : mine;
    }
    const access_site* const before = site_before(old);
    const bool are_halves = site_.bytes == 2 && before != nullptr && before->bytes == 2 &&
                            (check::bytes_of(old) ^ byte_mask_) == check::bytes_bits &&
                            check::lane_of(old) == (lane_ ^ 1) && (byte_mask_ == 3) == (lane_ % 2 == 0);
    return are_halves && ((old ^ mine) & kind_bits) == 0 ? row | lane : mine;
}

// Of the reads of several lanes or warps only the last is known. A thread that has synchronised since then counts as in order
// with all of them, as where it writes: the last arrival of a block may read the word again and then write it.
bool word_access::replaces_read(stamp s, std::uint64_t block, const event& e) const {
    const bool own = block == b_.linear;
    const check::spread by = check::spread_of(s);
    if (by == check::spread::thread) {
        // What it would take a search to know of another block's read does not matter: readers of a look-back are many, and a
        // write by a block that has acquired anything counts as in order with reads of several blocks.
        return own ? is_known(e) || is_released(block, e) : is_released_directly(block, e);
    }
    if (!own || by == check::spread::blocks || e.time == clock_.view.time) {
        return false;
    }
    const bool same_warp = e.warp == w_->index;
    return e.time < clock_.view.base || (is_known(e) && (!same_warp || has_acquired_itself_since(e.time))) ||
           (by == check::spread::warps ? clock_.has_met_warp_since(e.time, w_->index)
                                       : same_warp && clock_.has_synchronized_since(e.time, w_->index, lane_)) ||
           is_released_directly(block, e);
}

void word_access::note_read(stamp& read, stamp mine) const {
    std::uint64_t block = 0;
    event e;
    const stamp bytes = read & mine & check::bytes_bits;
    if (bytes == 0 || !event_of(read, block, e)) {
        read = with_row(read, mine, by_lanes);
        return;
    }
    const bool own = block == b_.linear;
    if (replaces_read(read, block, e)) {
        read = mine;
    } else if (own && check::spread_of(read) == check::spread::lanes && is_alone_in_row(read)) {
        read = with_row(read, mine, by_lanes);
    } else if ((mine & check::strong_read) == 0 || (read & check::strong_read) != 0) {
        const stamp spread = std::max<stamp>(read & check::spread_bits, static_cast<stamp>(!own                  ? 3
                                                                                           : e.warp == w_->index ? 1
                                                                                                                 : 2)
                                                                            << check::kind_shift);
        read = (mine & ~(check::strong_read | check::bytes_bits)) | spread | (read & mine & check::strong_read) | bytes;
    }
}

} // namespace softgpu::machine

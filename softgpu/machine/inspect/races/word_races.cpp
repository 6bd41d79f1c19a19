// SPDX-License-Identifier: MIT
// An access and those before it: what is looked at. word_order.cpp says what is in order, word_rows.cpp which lanes have
// which bytes of a word, word_race_reports.cpp has the findings.
#include "softgpu/machine/inspect/races/word_races.hpp"

#include <limits>

#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/inspect/products.hpp"
#include "softgpu/machine/inspect/races/operation_races.hpp"
#include "softgpu/machine/inspect/report.hpp"

namespace softgpu::machine {

using check::stamp;
using check::strength;

namespace {

// The stamp of a word of shared memory to which lanes of one warp have written different values: in order with nothing, and
// of a place that no word has in a row.
constexpr stamp lost_write = (std::numeric_limits<stamp>::max() >> check::time_shift << check::time_shift) |
                             check::lane_bits | check::several_lanes;

} // namespace

word_access::word_access(const instruction* i, std::byte* frame, warp* w, access_space space)
    : site_(*i->access),
      frame_(frame),
      w_(w),
      b_(*w->owner),
      l_(*w->host->launch),
      clock_(b_.checks->clock),
      in_global_(space == access_space::global) {
    const check::block_view& v = clock_.view;
    const std::uint64_t now = v.time + (in_global_ ? v.global_offset : 0);
    mine_ = static_cast<stamp>(now << check::time_shift) | static_cast<stamp>(site_.id) << check::site_shift |
            static_cast<stamp>(w->index) << check::warp_shift;
    mine_ |= site_.verb == access_verb::load ? (site_.strength == strength::plain ? 0 : check::strong_read)
                                             : static_cast<stamp>(site_.strength) << check::strength_shift;
}

void word_access::look(stamp& written_now, stamp& read_now, std::uint64_t at, unsigned lane, unsigned offset,
                       unsigned byte_mask) {
    stamp written = __atomic_load_n(&written_now, __ATOMIC_RELAXED);
    stamp read = __atomic_load_n(&read_now, __ATOMIC_RELAXED);
    lane_ = lane;
    at_ = at;
    offset_ = offset;
    byte_mask_ = byte_mask;
    const stamp mine = mine_ | static_cast<stamp>(lane) << check::lane_shift | byte_mask;
    const bool writes = site_.verb != access_verb::load;
    if (in_global_ && l_.checks->operations() != nullptr) {
        look_at_operations(written, true, byte_mask);
        if (writes) {
            look_at_operations(read, false, byte_mask);
        }
    }
    if (!in_global_ && check::may_be_under_way(written)) {
        if (check::is_under_way(written, b_.checks->started)) {
            report_under_way(written);
        }
        written = 0;
    }
    if (!in_global_ && check::may_be_under_way(read)) { // a product or a copy to global memory reads it
        bool still = check::is_under_way(read, b_.checks->started);
        if (still && is_product(b_, read)) {
            still = look_at_products(read, writes);
            if (writes && !still) {
                __atomic_store_n(&read_now, 0, __ATOMIC_RELAXED);
            }
        } else if (writes && still) {
            report_read_under_way(read);
        }
        if (writes || !still) {
            read = 0;
        }
    }
    bool lost = false;
    if (!in_global_ && (written & lost_write) == lost_write && (check::bytes_of(written) & byte_mask) != 0) {
        lost = site_.verb == access_verb::store && is_lost_still();
        if (site_.verb != access_verb::store) {
            report_lost();
        }
    } else if (written != 0 && (check::bytes_of(written) & byte_mask) != 0 && !agrees(written) &&
               !follows_write(written)) {
        lost = loses(written);
        if (!lost) {
            report_race(written, true);
        }
    }
    if (writes && read != 0 && (check::bytes_of(read) & byte_mask) != 0 &&
        !(site_.strength >= strength::strong && (read & check::strong_read) != 0) &&
        !(site_.strength == strength::volatile_ && (read & check::strong_read) != 0 && !is_of_warp(read)) &&
        !follows_read(read)) {
        report_race(read, false);
    }
    if (writes && hides(written)) {
        __atomic_store_n(&written_now, written | byte_mask, __ATOMIC_RELAXED);
    } else if (writes) {
        __atomic_store_n(&written_now, lost ? mine | lost_write : with_row(written, mine, check::several_lanes),
                         __ATOMIC_RELAXED);
    } else if (in_global_ || !check::may_be_under_way(read)) {
        note_read(read, mine);
        __atomic_store_n(&read_now, read, __ATOMIC_RELAXED);
    }
}

bool word_access::look_at_products(stamp read, bool writes) {
    const product_reads found =
        unordered_products(b_, at_, [&](const event& e) { return !writes || is_known(e) || follows_wait(e); });
    if (writes && found.under_way) {
        report_read_under_way(read);
    } else if (found.waited) {
        report_race(stamp_of_wait(*found.waited, read), false);
    }
    return found.under_way;
}

stamp word_access::stamp_of_wait(const event& e, stamp read) {
    constexpr stamp site_bits = static_cast<stamp>(check::most_sites) << check::site_shift;
    return static_cast<stamp>(e.time << check::time_shift) | (read & site_bits) |
           static_cast<stamp>(e.warp) << check::warp_shift |
           static_cast<stamp>(check::spread::lanes) << check::kind_shift | check::bytes_bits;
}

bool word_access::follows_wait(const event& e) const {
    return is_released_directly(b_.linear, e) || is_released(b_.linear, e);
}

bool word_access::is_own_block(stamp s) const {
    return !in_global_ || check::time_of(s) >> check::serial_time_bits == clock_.serial();
}

bool word_access::agrees(stamp s) const {
    const strength other = check::strength_of(s);
    if (site_.strength == strength::plain || other == strength::plain) {
        return false;
    }
    const bool both_volatile = site_.strength == strength::volatile_ && other == strength::volatile_;
    return !both_volatile || !is_of_warp(s);
}

bool word_access::hides(stamp s) const {
    if (site_.verb != access_verb::update || s == 0 || check::strength_of(s) != strength::plain || !is_of_warp(s) ||
        (!in_global_ && (s & lost_write) == lost_write)) {
        return false;
    }
    const std::uint64_t time = check::time_of(s) - (in_global_ ? clock_.view.global_offset : 0);
    return (check::lane_of(s) == lane_ || (s & check::several_lanes) != 0) && time >= clock_.view.base &&
           time >= clock_.view.warps[w_->index].base;
}

void word_access::look_at_operations(stamp s, bool of_write, unsigned byte_mask) {
    const check::block_view& v = clock_.view;
    if (s < v.launch_floor || (s >= v.launch_first && s < v.launch_end) || is_own_block(s) || v.known.contains(s) ||
        (check::bytes_of(s) & byte_mask) == 0) {
        return;
    }
    block_checks& known = *b_.checks;
    const std::uint64_t serial = check::time_of(s) >> check::serial_time_bits;
    check::order& operations = *l_.checks->operations();
    if (known.met_serial != serial) {
        known.met = operations.unordered(l_.checks->record(), serial);
        known.met_serial = serial;
    }
    if (known.met == nullptr) {
        return;
    }
    const check::operation_record& other = *known.met;
    if (l_.checks->was_launched_after(other, s, of_write)) {
        return;
    }
    const bool other_signals = other.reader != nullptr && other.reader->is_signal(s, of_write);
    if (site_.strength != strength::plain && (other_signals || other.reader == nullptr)) {
        if (of_write) {
            operations.meet(l_.checks->record(), &other);
            known.met_serial = 0;
        }
        return;
    }
    report_operations(l_, {w_, &site_, lane_, at_}, other, s, of_write);
}

instruction_place word_access::place_before(stamp s) const {
    const access_site* const site = site_before(s);
    return site == nullptr ? instruction_place{} : instruction_place{site->function, site->source};
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// Which operations are in order, and what those that are not have in common. order_chains.cpp keeps them.
#include "softgpu/check/order/order.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::check {

namespace {

using record_kind = operation_record::kind;

constexpr unsigned longest_way = 4; // of meetings that are followed
constexpr std::size_t most_meetings = 4096;

// Whether the operation is within this one, at any depth.
bool is_within(const moment& inner, const moment& outer) {
    for (const moment* m = inner.within.get(); m != nullptr; m = m->within.get()) {
        if (m->is(outer)) {
            return true;
        }
    }
    return false;
}

// Whether `a` is before `b` because an operation that `a` is within is over before `b` begins.
bool is_before_by_nesting(const moment& a, const moment& b) {
    for (const moment* inner = &a; inner->within != nullptr; inner = inner->within.get()) {
        const moment& outer = *inner->within;
        if (b.is(outer)) {
            return false;
        }
        const moment* sibling = &b; // what is directly within `outer`
        while (sibling != nullptr && (sibling->within == nullptr || !sibling->within->is(outer))) {
            sibling = sibling->within.get();
        }
        if (sibling != nullptr) {
            return !sibling->is(*inner) &&
                   (sibling->knows_of(inner->chain) >= inner->place || (sibling->last && !inner->last));
        }
        if (b.knows_of(outer.chain) >= outer.place) {
            return true;
        }
    }
    return false;
}

} // namespace

bool order::is_before(const moment& a, const moment& b, unsigned depth) const {
    if (b.knows_of(a.chain) >= a.place || is_before_by_nesting(a, b)) {
        return true;
    }
    return depth < longest_way && std::any_of(meetings_.begin(), meetings_.end(), [&](const meeting& m) {
               return (b.knows_of(m.who.chain) >= m.who.place || is_within(b, m.who)) &&
                      is_before(a, m.what, depth + 1);
           });
}

// Those that have begun and are neither before nor after it.
template <class Skip, class Body>
void order::each_unordered(const operation_record& self, Skip&& nobody_of, Body&& body) {
    const moment& now = *self.note.when;
    const auto is_after = [](std::uint32_t place, const record_pointer& r) { return place < r->note.when->place; };
    for (std::uint32_t c = 0; c < chains_.size(); ++c) {
        const auto& records = chains_[c].records;
        std::uint32_t seen = ~0u; // the group that has been looked at
        for (auto r = std::upper_bound(records.begin(), records.end(), now.knows_of(c), is_after);
             r != records.end();) {
            const moment& other = *(*r)->note.when;
            if (const std::uint32_t in = other.place / group_places; in != seen) {
                if (nobody_of(chains_[c].groups[in], now.knows_of(c) < in * group_places)) {
                    r = std::upper_bound(r, records.end(), in * group_places + group_places - 1, is_after);
                    continue;
                }
                seen = in;
            }
            const bool asks = !meetings_.empty() || other.within != nullptr || now.within != nullptr;
            if (r->get() != &self && !is_before(now, other) && (!asks || !is_before(other, now))) {
                body(*r);
            }
            ++r;
        }
    }
}

std::uint64_t order::begin_kernel(const record_pointer& record) {
    const std::lock_guard lock(mutex_);
    enter(record);
    std::uint64_t floor = record->first_serial;
    // Without transfers, which may still have to leave stamps, a group's lowest serial is enough.
    const auto lowers_floor_only = [&](const group& g, bool whole) {
        if (!whole || g.has_transfers) {
            return false;
        }
        floor = std::min(floor, g.first_serial);
        return true;
    };
    each_unordered(*record, lowers_floor_only, [&](const record_pointer& other) {
        if (other->what == record_kind::transfer && other->done && !other->stamped && other->first_serial != 0) {
            races_.put_stamps(*other);
        }
        if (other->first_serial != 0) {
            floor = std::min(floor, other->first_serial);
        }
    });
    return floor;
}

void order::further_serial(const record_pointer& record, std::uint64_t serial, std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    record->further.emplace(serial, block);
    serials_[serial] = {serial, record};
}

void order::end_kernel(const record_pointer& record) {
    const std::lock_guard lock(mutex_);
    record->done = true;
    const auto has_no_memory = [](const group& g, bool) { return !g.has_memory; };
    each_unordered(*record, has_no_memory, [&](const record_pointer& other) {
        if (other->what == record_kind::allocation || other->what == record_kind::release) {
            races_.compare_with_memory(*record, *other);
        }
    });
}

record_pointer order::unordered(const operation_record& self, std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    record_pointer other = named(serial);
    const bool is_ordered = other == nullptr || other.get() == &self || is_before(*other->note.when, *self.note.when);
    return is_ordered ? nullptr : other;
}

order::serial_span order::ordered_before(const operation_record& self, std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    const auto after = serials_.upper_bound(serial);
    if (after == serials_.begin() || serial > std::prev(after)->second.last) {
        return {serial, serial}; // nobody's any more: everyone is after it
    }
    const auto& [first, range] = *std::prev(after);
    const bool is_ordered = range.of.get() != &self && is_before(*range.of->note.when, *self.note.when);
    return is_ordered ? serial_span{first, range.last} : serial_span{};
}

record_pointer order::named(std::uint64_t serial) const {
    auto at = serials_.upper_bound(serial);
    if (at == serials_.begin()) {
        return nullptr;
    }
    --at;
    return serial > at->second.last ? nullptr : at->second.of;
}

std::uint64_t order::block_of(const operation_record& of, std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    return of.block_of(serial);
}

void order::meet(const operation_record& self, const operation_record* other) {
    const std::lock_guard lock(mutex_);
    moment what;
    if (other != nullptr) {
        what = *other->note.when;
    } else {
        what.known = host_;
    }
    add_meeting(*self.note.when, std::move(what));
}

void order::add_meeting(const moment& who, moment what) {
    for (meeting& m : meetings_) {
        if (m.who.chain == who.chain && m.who.place == who.place && m.what.chain == what.chain &&
            m.what.place == what.place) {
            m.what.known = std::move(what.known);
            return;
        }
    }
    if (meetings_.size() == most_meetings) {
        meetings_.erase(meetings_.begin(), meetings_.begin() + most_meetings / 2);
    }
    meetings_.push_back({who, std::move(what)});
}

void order::meet_writers(const operation_record& self) {
    for (const touched_range& r : self.ranges) {
        record_pointer last; // of the transfers
        const auto is_elsewhere = [&](const group& g, bool) { return !g.touched.meets(r.begin, r.end); };
        each_unordered(self, is_elsewhere, [&](const record_pointer& other) {
            const bool wrote =
                other->what == record_kind::transfer && std::ranges::any_of(other->ranges, [&](const touched_range& w) {
                    return w.writes && w.begin < r.end && r.begin < w.end;
                });
            if (wrote && (last == nullptr || last->first_serial < other->first_serial)) {
                last = other;
            }
        });
        if (last != nullptr) {
            add_meeting(*self.note.when, *last->note.when);
        }
        for (const stamp s : races_.writes_of(r)) {
            const record_pointer kernel = named(serial_of(s));
            if (kernel != nullptr && kernel->what == record_kind::kernel && kernel->reader->is_signal(s, true)) {
                add_meeting(*self.note.when, *kernel->note.when);
            }
        }
    }
}

bool order::may_touch_freed(const operation_record& self, std::uint64_t allocation) {
    const std::lock_guard lock(mutex_);
    bool may = false;
    const auto has_no_memory = [](const group& g, bool) { return !g.has_memory; };
    each_unordered(self, has_no_memory, [&](const record_pointer& other) {
        may = may || (other->what == record_kind::release && other->ranges.front().allocation == allocation);
    });
    return may;
}

void order::carry_out(operation_record::kind what, operation_note note, std::string name,
                      std::vector<touched_range> ranges, bool is_signal) {
    const auto record = std::make_shared<operation_record>();
    record->what = what;
    record->note = std::move(note);
    record->name = std::move(name);
    record->ranges = std::move(ranges);
    record->is_signal = is_signal;
    std::sort(record->ranges.begin(), record->ranges.end(),
              [](const touched_range& a, const touched_range& b) { return a.begin < b.begin; });
    if (what == record_kind::transfer) {
        record->first_serial = serial_numbers_.take(1);
        record->serials = 1;
    }
    const std::lock_guard lock(mutex_);
    if (is_signal) {
        meet_writers(*record);
    }
    enter(record);
    record->done = true;
    std::vector<record_pointer> kernels;
    bool now = false; // a launch that runs must meet its stamps
    const auto is_elsewhere = [&](const group& g, bool) {
        return !g.has_kernels && std::none_of(record->ranges.begin(), record->ranges.end(),
                                              [&](const touched_range& r) { return g.touched.meets(r.begin, r.end); });
    };
    each_unordered(*record, is_elsewhere, [&](const record_pointer& other) {
        if (other->what == record_kind::transfer && (is_signal || other->is_signal)) {
            return;
        }
        if (other->what != record_kind::kernel) {
            races_.compare_ranges(*record, *other);
        } else if (what == record_kind::transfer) {
            kernels.push_back(other);
            now = now || !other->done;
        } else if (other->done) { // else it is looked at when the launch ends
            races_.compare_with_memory(*other, *record);
        }
    });
    if (!kernels.empty()) {
        races_.compare_stamps(*record, kernels, now && record->first_serial != 0);
    }
}

} // namespace softgpu::check

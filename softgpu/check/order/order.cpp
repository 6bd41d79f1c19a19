// SPDX-License-Identifier: MIT
#include "softgpu/check/order/order.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::check {

namespace {

using sort = operation_record::sort;

constexpr unsigned longest_way = 4; // of meetings that are followed
constexpr std::uint32_t no_chain = ~0u;
constexpr std::size_t most_meetings = 4096;
constexpr std::size_t most_records = 200000; // then the oldest are taken as being in order

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

void order::join(std::vector<std::uint32_t>& knowledge, const std::vector<std::uint32_t>& of) {
    knowledge.resize(std::max(knowledge.size(), of.size()));
    for (std::size_t k = 0; k < of.size(); ++k) {
        knowledge[k] = std::max(knowledge[k], of[k]);
    }
}

std::shared_ptr<const moment> order::issue(std::span<const moment* const> after, int device) {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<moment>();
    made->known = host_;
    for (const moment* const m : after) {
        join(made->known, m->known);
    }
    enter_chain(*made, after);
    made->known.resize(std::max<std::size_t>(made->known.size(), made->chain + 1));
    made->known[made->chain] = made->place;
    join(of_device_[device], made->known);
    return made;
}

std::shared_ptr<const moment> order::issue_within(std::shared_ptr<const moment> outer,
                                                  std::span<const moment* const> after, bool last) {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<moment>();
    made->within = std::move(outer);
    made->last = last;
    const auto add = [&](std::uint32_t c, std::uint32_t count) {
        const auto at = std::ranges::find(made->siblings, c, [](const auto& s) { return s.first; });
        if (at == made->siblings.end()) {
            made->siblings.emplace_back(c, count);
        } else {
            at->second = std::max(at->second, count);
        }
    };
    for (const moment* const m : after) {
        add(m->chain, m->place);
        for (const auto& [c, count] : m->siblings) {
            add(c, count);
        }
    }
    made->chain = no_chain;
    enter_chain(*made, after);
    return made;
}

void order::enter_chain(moment& made, std::span<const moment* const> after) {
    // At the end of a chain that it follows anyway, best of all of one that it waits for directly.
    const auto may_extend = [&](std::uint32_t c) { return chains_[c].last == made.knows_of(c); };
    const auto direct = std::find_if(after.begin(), after.end(), [&](const moment* m) { return may_extend(m->chain); });
    if (direct != after.end()) {
        made.chain = (*direct)->chain;
    } else {
        std::uint32_t c = 0;
        while (c < chains_.size() && !may_extend(c)) {
            ++c;
        }
        if (c == chains_.size()) {
            chains_.emplace_back();
        }
        made.chain = c;
    }
    made.place = ++chains_[made.chain].last;
    unfinished_.emplace(std::pair(made.chain, made.place), made);
}

void order::finished(const moment& m) {
    const std::lock_guard lock(mutex_);
    unfinished_.erase({m.chain, m.place});
}

void order::host_waited(const moment& m) {
    const std::lock_guard lock(mutex_);
    join(host_, m.known);
}

void order::host_waited_for_all_of(int device) {
    const std::lock_guard lock(mutex_);
    join(host_, of_device_[device]);
}

void order::host_waited_for_all() {
    const std::lock_guard lock(mutex_);
    host_.resize(chains_.size());
    for (std::size_t k = 0; k < chains_.size(); ++k) {
        host_[k] = chains_[k].last;
    }
}

void order::name_serials(const record_pointer& record) {
    if (record->first_serial != 0) {
        serials_[record->first_serial] = {record->first_serial + record->serials - 1, record};
    }
}

void order::enter(const record_pointer& record) {
    chain& c = chains_[record->note.when->chain];
    const auto at =
        std::upper_bound(c.records.begin(), c.records.end(), record->note.when->place,
                         [](std::uint32_t place, const record_pointer& r) { return place < r->note.when->place; });
    c.records.insert(at, record);
    group& g = c.groups[record->note.when->place / group_places];
    g.has_kernels = g.has_kernels || record->what == sort::kernel;
    g.has_memory = g.has_memory || record->what == sort::allocation || record->what == sort::release;
    g.has_transfers = g.has_transfers || record->what == sort::transfer;
    if (record->first_serial != 0) {
        g.first_serial = std::min(g.first_serial, record->first_serial);
    }
    for (const touched_range& touched : record->ranges) {
        g.touched.add(touched.begin, touched.end);
    }
    name_serials(record);
    if (++kept_ > prune_at_) {
        prune();
    }
}

void order::drop(const operation_record& record) {
    --kept_;
    serials_.erase(record.first_serial);
    for (const auto& [serial, block] : record.further) {
        serials_.erase(serial);
    }
}

// What the host has waited for, and every operation that is not over follows, no later one can be without order to.
void order::prune() {
    std::vector<std::uint32_t> limit = host_;
    limit.resize(chains_.size());
    for (const auto& [where, m] : unfinished_) {
        for (std::uint32_t c = 0; c < limit.size(); ++c) {
            limit[c] = std::min(limit[c], m.knows_of(c));
        }
    }
    for (std::uint32_t c = 0; c < chains_.size(); ++c) {
        auto& records = chains_[c].records;
        while (!records.empty() && records.front()->note.when->place <= limit[c]) {
            drop(*records.front());
            records.pop_front();
        }
        while (kept_ > most_records && records.size() > most_records / 2 / chains_.size() && records.front()->done) {
            drop(*records.front());
            records.pop_front();
        }
        auto& groups = chains_[c].groups;
        groups.erase(groups.begin(), records.empty()
                                         ? groups.end()
                                         : groups.lower_bound(records.front()->note.when->place / group_places));
    }
    prune_at_ = 2 * kept_ + 64;
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
        if (other->what == sort::transfer && other->done && !other->stamped && other->first_serial != 0) {
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
        if (other->what == sort::allocation || other->what == sort::release) {
            races_.compare_with_memory(*record, *other);
        }
    });
}

record_pointer order::unordered(const operation_record& self, std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    auto at = serials_.upper_bound(serial);
    if (at == serials_.begin()) {
        return nullptr;
    }
    --at;
    const record_pointer& other = at->second.of;
    if (serial > at->second.last || other.get() == &self || is_before(*other->note.when, *self.note.when)) {
        return nullptr;
    }
    return other;
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
    const moment& who = *self.note.when;
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

bool order::may_touch_freed(const operation_record& self, std::uint64_t allocation) {
    const std::lock_guard lock(mutex_);
    bool may = false;
    const auto has_no_memory = [](const group& g, bool) { return !g.has_memory; };
    each_unordered(self, has_no_memory, [&](const record_pointer& other) {
        may = may || (other->what == sort::release && other->ranges.front().allocation == allocation);
    });
    return may;
}

void order::carry_out(operation_record::sort what, operation_note note, std::string name,
                      std::vector<touched_range> ranges) {
    const auto record = std::make_shared<operation_record>();
    record->what = what;
    record->note = std::move(note);
    record->name = std::move(name);
    record->ranges = std::move(ranges);
    std::sort(record->ranges.begin(), record->ranges.end(),
              [](const touched_range& a, const touched_range& b) { return a.begin < b.begin; });
    if (what == sort::transfer) {
        record->first_serial = serial_numbers_.take(1);
        record->serials = 1;
    }
    const std::lock_guard lock(mutex_);
    enter(record);
    record->done = true;
    std::vector<record_pointer> kernels;
    bool now = false; // a launch that runs must meet its stamps
    const auto is_elsewhere = [&](const group& g, bool) {
        return !g.has_kernels && std::none_of(record->ranges.begin(), record->ranges.end(),
                                              [&](const touched_range& r) { return g.touched.meets(r.begin, r.end); });
    };
    each_unordered(*record, is_elsewhere, [&](const record_pointer& other) {
        if (other->what != sort::kernel) {
            races_.compare_ranges(*record, *other);
        } else if (what == sort::transfer) {
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

void order::forget_serials() {
    const std::lock_guard lock(mutex_);
    serials_.clear();
    for (chain& c : chains_) {
        for (const record_pointer& r : c.records) {
            r->first_serial = r->serials = 0;
            r->further.clear();
            r->stamped = true;
        }
    }
}

void order::forget_all() {
    const std::lock_guard lock(mutex_);
    serials_.clear();
    meetings_.clear();
    for (chain& c : chains_) {
        c.records.clear();
        c.groups.clear();
    }
    kept_ = 0;
}

} // namespace softgpu::check

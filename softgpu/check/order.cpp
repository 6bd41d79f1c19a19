// SPDX-License-Identifier: MIT
#include "softgpu/check/order.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "softgpu/check/describe_address.hpp"

namespace softgpu::check {

namespace {

using sort = operation_record::sort;

constexpr unsigned longest_way = 4; // of meetings that are followed
constexpr std::size_t most_meetings = 4096;
constexpr std::size_t most_records = 200000; // then the oldest are taken as being in order

const char* const between_streams = "race between streams";
const char* const between_branches = "race between branches of a graph";
const char* const before_allocation = "use not ordered after the allocation";
const char* const after_free = "use not ordered before the free";

stamp stamp_of(std::uint64_t serial, unsigned byte_mask) {
    return static_cast<stamp>(serial << (serial_time_bits + time_shift)) | static_cast<stamp>(byte_mask);
}

std::uint64_t serial_of(stamp s) { return time_of(s) >> serial_time_bits; }

// The bytes of a range in the word at `word`, as a mask.
unsigned bytes_in_word(const touched_range& r, std::uint64_t word) {
    unsigned mask = 0;
    for (unsigned k = 0; k < 4; ++k) {
        mask |= (word + k >= r.begin && word + k < r.end ? 1u : 0u) << k;
    }
    return mask;
}

finding_access access_of(const operation_record& r, const char* doing) {
    finding_access a;
    a.what = r.title() + doing;
    return a;
}

const char* verb_of(const operation_record& r, const touched_range& range) {
    return r.what != sort::transfer ? "" : range.writes ? ", writes it" : ", reads it";
}

bool meet_in_memory(const touched_range& a, const touched_range& b) {
    return a.allocation == b.allocation && a.begin < b.end && b.begin < a.end && (a.writes || b.writes);
}

} // namespace

std::uint64_t operation_record::block_of(std::uint64_t serial) const {
    if (serial >= first_serial && serial - first_serial < serials) {
        return serial - first_serial;
    }
    const auto found = further.find(serial);
    return found == further.end() ? 0 : found->second;
}

bool order::is_before(const moment& a, const moment& b, unsigned depth) const {
    if (b.knows_of(a.chain) >= a.place) {
        return true;
    }
    return depth < longest_way && std::any_of(meetings_.begin(), meetings_.end(), [&](const meeting& m) {
               return b.knows_of(m.who.chain) >= m.who.place && is_before(a, m.what, depth + 1);
           });
}

// Those that have begun and are neither before nor after it.
template <class Body>
void order::each_unordered(const operation_record& self, Body&& body) {
    const moment& now = *self.note.when;
    for (std::uint32_t c = 0; c < chains_.size(); ++c) {
        const auto& records = chains_[c].records;
        const auto first =
            std::upper_bound(records.begin(), records.end(), now.knows_of(c),
                             [](std::uint32_t known, const record_pointer& r) { return known < r->note.when->place; });
        for (auto r = first; r != records.end(); ++r) {
            const moment& other = *(*r)->note.when;
            if (r->get() != &self && !is_before(now, other) && (meetings_.empty() || !is_before(other, now))) {
                body(*r);
            }
        }
    }
}

std::shared_ptr<const moment> order::issue(std::span<const moment* const> after) {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<moment>();
    made->known = host_;
    for (const moment* const m : after) {
        made->known.resize(std::max(made->known.size(), m->known.size()));
        for (std::size_t k = 0; k < m->known.size(); ++k) {
            made->known[k] = std::max(made->known[k], m->known[k]);
        }
    }
    // At the end of a chain that it follows anyway, best of all of one that it waits for directly.
    const auto may_extend = [&](std::uint32_t c) { return chains_[c].last == made->knows_of(c); };
    const auto direct = std::find_if(after.begin(), after.end(), [&](const moment* m) { return may_extend(m->chain); });
    if (direct != after.end()) {
        made->chain = (*direct)->chain;
    } else {
        while (made->chain < chains_.size() && !may_extend(made->chain)) {
            ++made->chain;
        }
        if (made->chain == chains_.size()) {
            chains_.emplace_back();
        }
    }
    made->place = ++chains_[made->chain].last;
    made->known.resize(std::max<std::size_t>(made->known.size(), made->chain + 1));
    made->known[made->chain] = made->place;
    unfinished_.emplace(std::pair(made->chain, made->place), *made);
    return made;
}

void order::finished(const moment& m) {
    const std::lock_guard lock(mutex_);
    unfinished_.erase({m.chain, m.place});
}

void order::host_waited(const moment& m) {
    const std::lock_guard lock(mutex_);
    host_.resize(std::max(host_.size(), m.known.size()));
    for (std::size_t k = 0; k < m.known.size(); ++k) {
        host_[k] = std::max(host_[k], m.known[k]);
    }
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
    }
    prune_at_ = 2 * kept_ + 64;
}

std::uint64_t order::begin_kernel(const record_pointer& record) {
    const std::lock_guard lock(mutex_);
    enter(record);
    std::uint64_t floor = record->first_serial;
    each_unordered(*record, [&](const record_pointer& other) {
        if (other->what == sort::transfer && other->done && !other->stamped && other->first_serial != 0) {
            put_stamps(*other);
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
    each_unordered(*record, [&](const record_pointer& other) {
        if (other->what == sort::allocation || other->what == sort::release) {
            compare_with_memory(*record, *other);
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
    each_unordered(self, [&](const record_pointer& other) {
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
    each_unordered(*record, [&](const record_pointer& other) {
        if (other->what != sort::kernel) {
            compare(*record, *other);
        } else if (what == sort::transfer) {
            kernels.push_back(other);
            now = now || !other->done;
        } else if (other->done) { // else it is looked at when the launch ends
            compare_with_memory(*other, *record);
        }
    });
    if (!kernels.empty()) {
        look_at_stamps(*record, kernels, now && record->first_serial != 0);
    }
}

void order::put_stamps(operation_record& record) { look_at_stamps(record, {}, true); }

void order::look_at_stamps(operation_record& record, const std::vector<record_pointer>& kernels, bool stamp_them) {
    const shadow_view& view = shadow_.view();
    struct seen {
        std::uint64_t times = 0;
        stamp first = 0;
        std::uint64_t at = 0;
        const operation_record* kernel = nullptr;
    };
    std::map<std::tuple<std::uint64_t, std::uint64_t, bool, bool>, seen>
        found; // kernel, site, of a write, range writes
    stamp floor = INT64_MAX;
    for (const record_pointer& k : kernels) {
        if (k->first_serial != 0) {
            floor = std::min(floor, stamp_of(k->first_serial, 0));
        }
    }
    const auto look = [&](stamp s, std::uint64_t word, const touched_range& r, bool of_write) {
        const std::uint64_t serial = serial_of(s);
        for (const record_pointer& k : kernels) {
            const bool own = serial >= k->first_serial && serial - k->first_serial < k->serials;
            if ((own || k->further.contains(serial)) && (bytes_of(s) & bytes_in_word(r, word)) != 0 &&
                !k->reader->is_signal(s, of_write)) {
                seen& now = found[{k->note.id, k->reader->site(s), of_write, r.writes}];
                if (now.times++ == 0) {
                    now.first = s;
                    now.at = word;
                    now.kernel = k.get();
                }
                return;
            }
        }
    };
    for (const touched_range& r : record.ranges) {
        if (view.writes == nullptr || r.allocation == 0 || r.begin < view.arena || r.end - view.arena > view.bytes) {
            continue;
        }
        if (const auto there = memory_.find(r.begin); !there || there->serial != r.allocation) {
            continue; // other memory stands there now
        }
        for (std::uint64_t word = r.begin / 4 * 4; word < r.end; word += 4) {
            const std::uint64_t k = (word - view.arena) / 4;
            const stamp written = __atomic_load_n(view.writes + k, __ATOMIC_RELAXED);
            const stamp read = __atomic_load_n(view.reads + k, __ATOMIC_RELAXED);
            if (stamp_them) {
                const bool whole = word >= r.begin && word + 4 <= r.end;
                const stamp mine = stamp_of(record.first_serial, whole ? 15 : bytes_in_word(r, word));
                if (r.writes ? written < mine : read < mine) {
                    __atomic_store_n((r.writes ? view.writes : view.reads) + k, mine, __ATOMIC_RELAXED);
                }
            }
            if (written >= floor) {
                look(written, word, r, true);
            }
            if (r.writes && read >= floor) {
                look(read, word, r, false);
            }
        }
    }
    record.stamped = record.stamped || stamp_them;
    for (const auto& [which, s] : found) {
        const bool of_write = std::get<2>(which);
        finding_access access = s.kernel->reader->describe(s.first, s.kernel->block_of(serial_of(s.first)), of_write);
        access.what = s.kernel->title() + ", " + access.what;
        finding f = race_of(*s.kernel, std::move(access), record,
                            access_of(record, std::get<3>(which) ? ", writes it" : ", reads it"));
        f.address = hexadecimal(s.at);
        f.allocation = describe_address(memory_, s.at);
        f.times = s.times;
        sink_.add(std::move(f));
    }
}

void order::compare(const operation_record& a, const operation_record& b) {
    std::uint64_t longest = 0;
    for (const touched_range& y : b.ranges) {
        longest = std::max(longest, y.end - y.begin);
    }
    for (const touched_range& x : a.ranges) {
        auto y = std::lower_bound(b.ranges.begin(), b.ranges.end(), x.begin,
                                  [&](const touched_range& r, std::uint64_t at) { return r.begin + longest <= at; });
        for (; y != b.ranges.end() && y->begin < x.end; ++y) {
            if (meet_in_memory(x, *y)) {
                finding f = race_of(a, access_of(a, verb_of(a, x)), b, access_of(b, verb_of(b, *y)));
                const std::uint64_t at = std::max(x.begin, y->begin);
                f.address = hexadecimal(at);
                f.allocation = x.allocation != 0 ? describe_address(memory_, at) : "memory of the host";
                sink_.add(std::move(f));
                return;
            }
        }
    }
}

void order::compare_with_memory(const operation_record& kernel, const operation_record& owned) {
    const touched_range& r = owned.ranges.front();
    if (!kernel.allocations.contains(r.allocation)) {
        return;
    }
    // Some access of the launch to this memory, to show; the latest to each word are known.
    const shadow_view& view = shadow_.view();
    finding_access access = access_of(kernel, "");
    const auto is_kernels = [&](stamp s) {
        return s != 0 && (serial_of(s) - kernel.first_serial < kernel.serials || kernel.further.contains(serial_of(s)));
    };
    for (std::uint64_t word = r.begin; view.writes != nullptr && word < r.end; word += 4) {
        const std::uint64_t k = (word - view.arena) / 4;
        const stamp written = __atomic_load_n(view.writes + k, __ATOMIC_RELAXED);
        const stamp read = __atomic_load_n(view.reads + k, __ATOMIC_RELAXED);
        if (is_kernels(written) || is_kernels(read)) {
            const bool of_write = is_kernels(written);
            const stamp s = of_write ? written : read;
            access = kernel.reader->describe(s, kernel.block_of(serial_of(s)), of_write);
            access.what = kernel.title() + ", " + access.what;
            break;
        }
    }
    finding f = race_of(kernel, std::move(access), owned, access_of(owned, ""));
    f.address = hexadecimal(r.begin);
    f.allocation = describe_address(memory_, r.begin);
    sink_.add(std::move(f));
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
    }
    kept_ = 0;
}

finding order::race_of(const operation_record& a, finding_access one, const operation_record& b, finding_access other) {
    const auto either = [&](sort s) { return a.what == s || b.what == s; };
    finding f;
    f.check = race;
    if (either(sort::release)) {
        f.kind = after_free;
        f.message = "memory is freed in a stream's order, and an operation that touches it has no order to the free";
    } else if (either(sort::allocation)) {
        f.kind = before_allocation;
        f.message = "memory is allocated in a stream's order, and an operation that touches it has no order to the "
                    "allocation";
    } else {
        f.kind = a.note.stream == b.note.stream ? between_branches : between_streams;
        f.message =
            "two operations touch the same memory, one writes it, and neither waits for the other: an event, an "
            "edge or a synchronisation is missing";
    }
    const bool swapped = b.note.id < a.note.id;
    f.accesses.push_back(std::move(swapped ? other : one));
    f.accesses.push_back(std::move(swapped ? one : other));
    return f;
}

} // namespace softgpu::check

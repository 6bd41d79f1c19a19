// SPDX-License-Identifier: MIT
#include "softgpu/check/order/operation_races.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "softgpu/check/order/launch_point.hpp"

namespace softgpu::check {

namespace {

using record_kind = operation_record::kind;

const char* const between_streams = "race between streams";
const char* const between_devices = "race between devices";
const char* const between_branches = "race between branches of a graph";
const char* const with_child = "race between a kernel and its child";
const char* const between_children = "race between children";
const char* const before_allocation = "use not ordered after the allocation";
const char* const after_free = "use not ordered before the free";

stamp stamp_of(std::uint64_t serial, unsigned byte_mask) {
    return static_cast<stamp>(serial << (serial_time_bits + time_shift)) | static_cast<stamp>(byte_mask);
}

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
    return r.what != record_kind::transfer ? "" : range.writes ? ", writes it" : ", reads it";
}

bool meet_in_memory(const touched_range& a, const touched_range& b) {
    return a.allocation == b.allocation && a.begin < b.end && b.begin < a.end && (a.writes || b.writes);
}

} // namespace

namespace {

bool is_below(const operation_record& child, const operation_record& parent) {
    return child.note.launched_at != nullptr && child.note.launched_at->is_below(parent);
}

// Whether `record`, which `kernel` or a child of it has launched, comes after the access that left the stamp.
bool follows(const operation_record& record, const operation_record& kernel, stamp s, bool of_write) {
    return is_below(record, kernel) &&
           record.note.launched_at->follows(kernel, kernel.block_of(serial_of(s)), s, of_write);
}

} // namespace

finding race_of(const operation_record& a, finding_access one, const operation_record& b, finding_access other) {
    const auto either = [&](record_kind k) { return a.what == k || b.what == k; };
    finding f;
    f.check = race;
    if (either(record_kind::release)) {
        f.kind = after_free;
        f.message = "memory is freed in a stream's order, and an operation that touches it has no order to the free";
    } else if (either(record_kind::allocation)) {
        f.kind = before_allocation;
        f.message = "memory is allocated in a stream's order, and an operation that touches it has no order to the "
                    "allocation";
    } else if (is_below(a, b) || is_below(b, a)) {
        f.kind = with_child;
        f.message =
            "a kernel and what it has launched touch the same memory, and one writes it: a child runs at any time "
            "from its launch on, and its parent cannot wait for it";
    } else if (a.note.launched_at != nullptr && b.note.launched_at != nullptr) {
        f.kind = between_children;
        f.message = "two launches by kernels touch the same memory, one writes it, and neither waits for the other: a "
                    "stream, an event or a tail launch is missing";
    } else {
        f.kind = a.note.device != b.note.device   ? between_devices
                 : a.note.stream == b.note.stream ? between_branches
                                                  : between_streams;
        f.message =
            "two operations touch the same memory, one writes it, and neither waits for the other: an event, an "
            "edge or a synchronisation is missing";
    }
    const bool swapped = b.note.id < a.note.id;
    f.accesses.push_back(std::move(swapped ? other : one));
    f.accesses.push_back(std::move(swapped ? one : other));
    return f;
}

std::vector<stamp> operation_races::writes_of(const touched_range& r) const {
    const shadow_view& view = shadow_.view();
    std::vector<stamp> found;
    if (view.writes == nullptr || r.allocation == 0 || r.begin < view.arena || r.end - view.arena > view.bytes) {
        return found;
    }
    for (std::uint64_t word = r.begin / 4 * 4; word < r.end; word += 4) {
        found.push_back(__atomic_load_n(view.writes + (word - view.arena) / 4, __ATOMIC_RELAXED));
    }
    return found;
}

void operation_races::put_stamps(operation_record& record) const { compare_stamps(record, {}, true); }

void operation_races::compare_stamps(operation_record& record, const std::vector<record_pointer>& kernels,
                                     bool stamp_them) const {
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
                !k->reader->is_signal(s, of_write) && !follows(record, *k, s, of_write)) {
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
        if (const auto there = memories_.find(r.begin); !there || there->serial != r.allocation) {
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
        f.allocation = memories_.describe(s.at);
        f.times = s.times;
        sink_.add(std::move(f));
    }
}

void operation_races::compare_ranges(const operation_record& a, const operation_record& b) const {
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
                f.allocation = x.allocation != 0 ? memories_.describe(at) : "memory of the host";
                sink_.add(std::move(f));
                return;
            }
        }
    }
}

void operation_races::compare_with_memory(const operation_record& kernel, const operation_record& owned) const {
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
    f.allocation = memories_.describe(r.begin);
    sink_.add(std::move(f));
}

} // namespace softgpu::check

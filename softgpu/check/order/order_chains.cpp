// SPDX-License-Identifier: MIT
// The chains of operations: what is issued, what the host waits for, which records are kept.
#include <algorithm>
#include <utility>

#include "softgpu/check/order/order.hpp"

namespace softgpu::check {

namespace {

using record_kind = operation_record::kind;

constexpr std::uint32_t no_chain = ~0u;
constexpr std::size_t most_records = 200000; // then the oldest are taken as being in order

} // namespace

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
    g.has_kernels = g.has_kernels || record->what == record_kind::kernel;
    g.has_memory = g.has_memory || record->what == record_kind::allocation || record->what == record_kind::release;
    g.has_transfers = g.has_transfers || record->what == record_kind::transfer;
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

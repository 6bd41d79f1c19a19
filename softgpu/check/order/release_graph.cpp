// SPDX-License-Identifier: MIT
#include "softgpu/check/order/release_graph.hpp"

#include <algorithm>

namespace softgpu::check {

namespace {

constexpr std::uint64_t most_steps = 1u << 20;

} // namespace

void release_graph::block_record::note_fence(std::uint32_t which, lane_mask by) {
    const release& made = releases[which];
    std::erase_if(fences, [&](fence& f) {
        const release& before = releases[f.release];
        f.by &= before.warp == made.warp && before.within_block == made.within_block ? ~by : ~lane_mask{0};
        return f.by == 0;
    });
    fences.push_back({which, by});
}

const release_graph::release* release_graph::first_release(std::uint64_t of, const event& before) const {
    const auto found = records_.find(of);
    if (found == records_.end()) {
        return nullptr;
    }
    const std::vector<release>& releases = found->second->releases;
    const auto is_earlier = [&](const release& r) { return r.time <= before.time; };
    std::size_t back = 1; // what is asked for is mostly among the last
    while (back < releases.size() && !is_earlier(releases[releases.size() - back])) {
        back *= 2;
    }
    const auto from = releases.end() - static_cast<std::ptrdiff_t>(std::min(back, releases.size()));
    const auto first = std::partition_point(from, releases.end(), is_earlier);
    return first == releases.end() ? nullptr : &*first;
}

release_graph::block_record& release_graph::record_of(std::uint64_t block) {
    auto& kept = records_[block];
    if (kept == nullptr) {
        kept = std::make_unique<block_record>();
        kept->block = block;
    }
    return *kept;
}

std::uint32_t release_graph::add_release(block_record& record, const block_clock& clock, unsigned warp,
                                         bool within_block, bool of_inits) {
    const block_view& v = clock.view;
    release r;
    r.warp = warp;
    r.time = v.time + v.global_offset;
    r.warp_base = v.warps[warp].base + v.global_offset;
    r.block_base = v.base + v.global_offset;
    r.acquired = static_cast<std::uint32_t>(record.acquisitions.size());
    r.within_block = within_block;
    r.of_inits = of_inits;
    r.lenient = clock.has_partial_order(warp);
    if (!record.releases.empty()) {
        const release& last = record.releases.back();
        if (last.warp == r.warp && last.time == r.time && last.warp_base == r.warp_base &&
            last.block_base == r.block_base && last.acquired == r.acquired && last.within_block == r.within_block &&
            last.of_inits == r.of_inits && last.lenient == r.lenient) {
            return static_cast<std::uint32_t>(record.releases.size() - 1);
        }
    }
    ++size_;
    r.made = now();
    record.releases.push_back(r);
    return static_cast<std::uint32_t>(record.releases.size() - 1);
}

void release_graph::attach(const word& at, const block_record& record, std::uint32_t which, lane_mask by,
                           bool replaces) {
    if (is_full()) {
        return;
    }
    auto& kept = histories_[at];
    if (kept == nullptr || (replaces && !kept->entries.empty())) {
        kept = std::make_shared<history>();
        kept->number = ++numbers_;
    }
    auto& mine = kept->of_block[&record];
    for (std::size_t k = mine.size(); k-- > 0 && k + 8 > mine.size();) {
        const entry& e = kept->entries[mine[k]];
        if (e.release == which && e.by == by) {
            return;
        }
    }
    mine.push_back(static_cast<std::uint32_t>(kept->entries.size()));
    ++size_;
    kept->entries.push_back({&record, which, by, now()});
}

void release_graph::acquire(const word& at, block_record& record, unsigned warp, std::uint64_t time, lane_mask by) {
    const auto found = histories_.find(at);
    if (found == histories_.end() || is_full()) {
        return;
    }
    const auto& from = found->second;
    const auto upto = static_cast<std::uint32_t>(from->entries.size());
    block_record::extent& last = record.last[from->number << 5 | warp];
    const lane_mask again = last.upto == upto ? last.by : 0;
    if ((by & ~again) == 0) {
        return;
    }
    last = {upto, by | again};
    ++size_;
    record.acquisitions.push_back({warp, time, by & ~again, from, upto, now()});
    const std::size_t first = std::size_t{warp} * 32;
    if (record.acquisition_of.size() < first + 32) {
        record.acquisition_of.resize(first + 32, 0);
    }
    for (lane_mask left = by & ~again; left != 0; left &= left - 1) {
        record.acquisition_of[first + static_cast<unsigned>(std::countr_zero(left))] =
            static_cast<std::uint32_t>(record.acquisitions.size());
    }
}

bool release_graph::find_covering(std::uint64_t of, const event& before, const block_record& record, std::uint32_t last,
                                  covering& found) {
    const std::lock_guard lock(mutex_);
    const auto wanted = records_.find(of);
    if (wanted == records_.end()) {
        return false;
    }
    const acquisition& by = record.acquisitions[last - 1];
    const auto mine = by.from->of_block.find(wanted->second.get());
    if (mine == by.from->of_block.end()) {
        return false;
    }
    const bool same_block = &record == wanted->second.get();
    return std::any_of(mine->second.rbegin(), mine->second.rend(), [&](std::uint32_t k) {
        const entry& e = by.from->entries[k];
        const release& r = wanted->second->releases[e.release];
        if (k >= by.upto || (!same_block && r.within_block) || !r.covers(e.by, before)) {
            return false;
        }
        found = {&record, last, of, r, e.by};
        return true;
    });
}

bool release_graph::is_known_at(const block_record& record, std::uint32_t which, lane_mask by, std::uint64_t of,
                                const event& before, lane_mask of_lanes) {
    const std::lock_guard lock(mutex_);
    const release& r = record.releases[which];
    if (of == record.block && r.covers(by, before.warp, before.time, of_lanes)) {
        return true;
    }
    const release* const first = first_release(of, before);
    std::vector<step> front;
    for (std::uint32_t k = r.acquired; first != nullptr && k-- > 0 && record.acquisitions[k].made > first->made;) {
        const acquisition& a = record.acquisitions[k];
        if (r.covers(by, a.warp, a.time, a.by)) {
            front.push_back({&a, &a});
        }
    }
    return search(of, before, record, std::move(front), nullptr);
}

bool release_graph::search(std::uint64_t of, const event& before, const block_record& record, std::vector<step> front,
                           path* found) const {
    if (is_full()) {
        return true;
    }
    const release* const first = first_release(of, before);
    if (first == nullptr) {
        return false; // that block has released nothing since
    }
    const block_record* const wanted = records_.find(of)->second.get();
    const bool same_block = &record == wanted;
    std::unordered_map<const history*, std::uint32_t> seen;
    std::uint64_t steps = 0;
    // First each history's entries of the wanted block, then what the others have acquired themselves.
    for (std::size_t next = 0; next < front.size(); ++next) {
        const acquisition& a = *front[next].at;
        const acquisition* const from = front[next].from;
        std::uint32_t& done = seen[a.from.get()];
        if (done >= a.upto) {
            continue;
        }
        if (const auto mine = a.from->of_block.find(wanted); mine != a.from->of_block.end()) {
            for (auto k = mine->second.rbegin(); k != mine->second.rend() && a.from->entries[*k].made > first->made;
                 ++k) {
                if (*k < a.upto && *k >= done) {
                    const entry& e = a.from->entries[*k];
                    const release& r = wanted->releases[e.release];
                    if ((same_block || !r.within_block) && r.covers(e.by, before)) {
                        if (found != nullptr) {
                            const auto which = static_cast<std::uint32_t>(from - record.acquisitions.data());
                            *found = {&record, which, of, r, e.by};
                        }
                        return true;
                    }
                }
            }
        }
        for (std::uint32_t k = a.upto; k-- > done && a.from->entries[k].made > first->made;) {
            const entry& e = a.from->entries[k];
            const release& r = e.block->releases[e.release];
            if (r.within_block && e.block != &record) {
                continue;
            }
            for (std::uint32_t n =
                     std::min<std::uint32_t>(r.acquired, static_cast<std::uint32_t>(e.block->acquisitions.size()));
                 n-- > 0 && e.block->acquisitions[n].made > first->made;) {
                const acquisition& earlier = e.block->acquisitions[n];
                if (++steps > most_steps) {
                    return true;
                }
                const auto known = seen.find(earlier.from.get());
                if ((known == seen.end() || known->second < earlier.upto) &&
                    r.covers(e.by, earlier.warp, earlier.time, earlier.by)) {
                    front.push_back({&earlier, from});
                }
            }
        }
        done = a.upto;
    }
    return false;
}

} // namespace softgpu::check

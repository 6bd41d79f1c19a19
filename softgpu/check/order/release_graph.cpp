// SPDX-License-Identifier: MIT
#include "softgpu/check/order/release_graph.hpp"

#include <algorithm>

namespace softgpu::check {

namespace {

using release = release_graph::release;

// Whether the release by these lanes covers an event of the same block.
bool covers(const release& r, lane_mask by, const event& e) {
    return e.time < r.block_base || (r.lenient && e.time < r.time) ||
           (e.warp == r.warp && (e.time < r.warp_base || ((by >> e.lane & 1u) != 0 && e.time < r.time)));
}

constexpr std::uint64_t most_steps = 1u << 20;

} // namespace

void release_graph::block_record::note_fence(std::uint32_t which, lane_mask by) {
    std::erase_if(fences, [&](fence& f) {
        f.by &= releases[f.release].warp == releases[which].warp ? ~by : ~lane_mask{0};
        return f.by == 0;
    });
    fences.push_back({which, by});
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
                                         bool within_block) {
    const block_view& v = clock.view;
    release r;
    r.warp = warp;
    r.time = v.time + v.global_offset;
    r.warp_base = v.warps[warp].base + v.global_offset;
    r.block_base = v.base + v.global_offset;
    r.acquired = static_cast<std::uint32_t>(record.acquisitions.size());
    r.within_block = within_block;
    r.lenient = clock.has_partial_order(warp);
    if (!record.releases.empty()) {
        const release& last = record.releases.back();
        if (last.warp == r.warp && last.time == r.time && last.warp_base == r.warp_base &&
            last.block_base == r.block_base && last.acquired == r.acquired && last.within_block == r.within_block) {
            return static_cast<std::uint32_t>(record.releases.size() - 1);
        }
    }
    record.releases.push_back(r);
    ++size_;
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
    kept->entries.push_back({&record, which, by});
    ++size_;
}

void release_graph::acquire(const word& at, block_record& record, const event& by) {
    const auto found = histories_.find(at);
    if (found == histories_.end() || is_full()) {
        return;
    }
    const auto& from = found->second;
    const auto upto = static_cast<std::uint32_t>(from->entries.size());
    std::uint32_t& last = record.last[from->number << 10 | by.warp << 5 | by.lane];
    if (last == upto) {
        return;
    }
    last = upto;
    record.acquisitions.push_back({by, from, upto});
    const std::size_t thread = std::size_t{by.warp} * 32 + by.lane;
    if (record.acquisition_of.size() <= thread) {
        record.acquisition_of.resize(thread + 1, 0);
    }
    record.acquisition_of[thread] = static_cast<std::uint32_t>(record.acquisitions.size());
    ++size_;
}

bool release_graph::is_covered(std::uint64_t of, const event& before, const block_record& record,
                               const acquisition& by) const {
    const auto wanted = records_.find(of);
    if (wanted == records_.end()) {
        return false;
    }
    const auto mine = by.from->of_block.find(wanted->second.get());
    if (mine == by.from->of_block.end()) {
        return false;
    }
    const bool same_block = &record == wanted->second.get();
    return std::any_of(mine->second.rbegin(), mine->second.rend(), [&](std::uint32_t k) {
        const entry& e = by.from->entries[k];
        const release& r = wanted->second->releases[e.release];
        return k < by.upto && (same_block || !r.within_block) && covers(r, e.by, before);
    });
}

bool release_graph::search(std::uint64_t of, const event& before, const block_record& record,
                           std::vector<const acquisition*> front) const {
    if (is_full()) {
        return true;
    }
    const auto found = records_.find(of);
    if (found == records_.end()) {
        return false; // that block has released nothing
    }
    const block_record* const wanted = found->second.get();
    const bool same_block = &record == wanted;
    std::unordered_map<const history*, std::uint32_t> seen;
    std::uint64_t steps = 0;
    // First each history's entries of the wanted block, then what the others have acquired themselves.
    for (std::size_t next = 0; next < front.size(); ++next) {
        const acquisition& a = *front[next];
        std::uint32_t& done = seen[a.from.get()];
        if (done >= a.upto) {
            continue;
        }
        if (const auto mine = a.from->of_block.find(wanted); mine != a.from->of_block.end()) {
            for (auto k = mine->second.rbegin(); k != mine->second.rend(); ++k) {
                if (*k < a.upto && *k >= done) {
                    const entry& e = a.from->entries[*k];
                    const release& r = wanted->releases[e.release];
                    if ((same_block || !r.within_block) && covers(r, e.by, before)) {
                        return true;
                    }
                }
            }
        }
        for (std::uint32_t k = a.upto; k-- > done;) {
            const entry& e = a.from->entries[k];
            const release& r = e.block->releases[e.release];
            if (r.within_block && e.block != &record) {
                continue;
            }
            for (std::uint32_t n =
                     std::min<std::uint32_t>(r.acquired, static_cast<std::uint32_t>(e.block->acquisitions.size()));
                 n-- > 0;) {
                const acquisition& earlier = e.block->acquisitions[n];
                if (++steps > most_steps) {
                    return true;
                }
                const auto known = seen.find(earlier.from.get());
                if ((known == seen.end() || known->second < earlier.upto) && covers(r, e.by, earlier.by)) {
                    front.push_back(&earlier);
                }
            }
        }
        done = a.upto;
    }
    return false;
}

} // namespace softgpu::check

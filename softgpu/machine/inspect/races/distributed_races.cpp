// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/races/distributed_races.hpp"

#include <mutex>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/products.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/inspect/uninitialized.hpp"
#include "softgpu/machine/state/distributed_place.hpp"

namespace softgpu::machine {

using check::event;
using check::stamp;
using check::strength;

namespace {

constexpr const char* distributed_race = "race in shared memory";
constexpr const char* without_order = "two blocks of a cluster use one word without an order between them";
constexpr const char* not_there_yet =
    "an asynchronous copy to this word is under way: nobody has waited for its mbarrier";
constexpr const char* product_reads_it =
    "wgmma.mma_async of this block may still read the word: no wgmma.wait_group in between";

const access_site* site_of(const block& b, stamp s) {
    return b.checks->sites->by_id[check::site_of(s)].load(std::memory_order_acquire);
}

bool releases(const block& b, stamp s) {
    const access_site* const site = site_of(b, s);
    return site != nullptr && site->releases;
}

bool is_init(const block& b, stamp s) {
    const access_site* const site = site_of(b, s);
    return site != nullptr && site->is_init;
}

// An earlier access, found in the stamps of the memory of `where`.
struct earlier {
    std::uint64_t block = 0;
    event when; // in the times of global memory
    stamp mark = 0;
    bool wrote = false;
    bool releases = false; // the access itself: who has acquired what it released comes behind it, too

    // The time that a release must cover.
    [[nodiscard]] event signalled() const { return {when.time - (releases ? 1 : 0), when.warp, when.lane}; }
};

bool may_go_together(const access_site& now, stamp s, bool wrote) {
    if (wrote) {
        return now.strength != strength::plain && check::strength_of(s) != strength::plain;
    }
    return now.strength >= strength::strong && (s & check::strong_read) != 0;
}

bool is_ordered(const earlier& e, const warp* w, unsigned lane) {
    const block& b = *w->owner;
    if (e.block == b.linear) {
        if (e.when.time >> check::serial_time_bits != b.checks->clock.serial()) {
            return true; // before the block has begun to count anew, at a barrier
        }
        event own = e.when;
        own.time -= b.view->global_offset;
        if (b.checks->clock.is_ordered(own, w->index, lane)) {
            return true;
        }
    }
    if (b.checks->record == nullptr) {
        return false;
    }
    check::release_graph& graph = w->host->launch->checks->graph;
    event before = e.signalled();
    before.is_init = e.wrote && is_init(b, e.mark);
    const auto is_known = [&](event by) {
        if (by.time >> check::serial_time_bits != b.checks->clock.serial()) {
            return true;
        }
        by.time -= b.view->global_offset;
        return b.checks->clock.is_ordered(by, w->index, lane);
    };
    if (graph.is_covered(e.block, before, *b.checks->record, w->index, lane, b.checks->released[w->index]) ||
        graph.is_on_path(e.block, before, *b.checks->record, b.checks->paths, is_known)) {
        return true;
    }
    const std::lock_guard lock(graph.mutex());
    return graph.is_ordered(e.block, before, *b.checks->record, b.checks->paths, is_known);
}

void report_pair(launch_state& l, const block& where, std::uint64_t at, const char* message, const access_facts& now,
                 const access_site* before, const earlier& e) {
    const instruction_place there =
        before != nullptr ? instruction_place{before->function, before->source} : instruction_place{};
    if (count_again(l, check::race, distributed_race, false, now.where, there)) {
        return;
    }
    address_facts place = place_in_shared(l, at);
    place.address += " of block " + index_text({where.id.x, where.id.y, where.id.z});
    const access_facts other{before != nullptr ? access_text(*before)
                             : e.wrote         ? "a write"
                                               : "a read",
                             there,
                             e.block,
                             check::warp_of(e.mark) * lanes + check::lane_of(e.mark),
                             {},
                             e.wrote || check::spread_of(e.mark) == check::spread::thread};
    report(l, {.check = check::race, .kind = distributed_race, .message = message, .at = std::move(place)}, now,
           &other);
}

// The access `now` of a lane, and what is known of the word before.
void compare(const access_site& now, const warp* w, unsigned lane, const block& where, std::uint64_t at,
             unsigned byte_mask, const earlier& e) {
    if ((check::bytes_of(e.mark) & byte_mask) == 0 || may_go_together(now, e.mark, e.wrote) || is_ordered(e, w, lane)) {
        return;
    }
    report_pair(*w->host->launch, where, at, without_order, access_by_site(now, w, lane), site_of(where, e.mark), e);
}

// A stamp that another block, or this one, has left in the memory of `where` by distributed access.
void compare_remote(const access_site& now, const warp* w, unsigned lane, const block& where, std::uint64_t at,
                    unsigned byte_mask, stamp s, bool wrote) {
    if (s == 0) {
        return;
    }
    earlier e{w->host->launch->checks->block_of(check::time_of(s) >> check::serial_time_bits),
              {check::time_of(s), check::warp_of(s), check::lane_of(s)},
              s,
              wrote,
              releases(where, s)};
    if (e.block != ~0ull) {
        compare(now, w, lane, where, at, byte_mask, e);
    }
}

// The write `now`, and the products of wgmma that read the word in its own block.
void compare_products(const access_site& now, const warp* w, unsigned lane, const block& where, std::uint64_t at,
                      stamp s) {
    const auto in_global = [&](event e) {
        e.time += where.view->global_offset;
        return earlier{where.linear, e, s, false};
    };
    const product_reads found = unordered_products(where, at, [&](const event& e) {
        const earlier before = in_global(e);
        return before.when.time >> check::serial_time_bits != where.checks->clock.serial() ||
               is_ordered(before, w, lane);
    });
    if (found.under_way || found.waited) {
        report_pair(*w->host->launch, where, at, found.under_way ? product_reads_it : without_order,
                    {access_text(now), {now.function, now.source}, w->owner->linear, thread_of(w, lane), {}},
                    site_of(where, s),
                    in_global(found.waited.value_or(event{where.view->time, check::warp_of(s), check::lane_of(s)})));
    }
}

// The same of the memory's own block.
void compare_own(const access_site& now, const warp* w, unsigned lane, block& where, std::uint64_t at,
                 unsigned byte_mask, stamp s, bool wrote) {
    const std::uint64_t time = check::time_of(s);
    if (s == 0 || time < where.checks->started) {
        return;
    }
    const std::uint64_t in_global = time + where.view->global_offset;
    earlier e{where.linear, {in_global, check::warp_of(s), check::lane_of(s)}, s, wrote};
    if (check::is_under_way(s, where.checks->started)) {
        if (!wrote && is_product(where, s)) {
            compare_products(now, w, lane, where, at, s);
            return;
        }
        report_pair(*w->host->launch, where, at, not_there_yet,
                    {access_text(now), {now.function, now.source}, w->owner->linear, thread_of(w, lane), {}},
                    site_of(where, s), e);
        return;
    }
    // Else of a block before, of before the block has begun to count anew, or lanes of a warp that overwrote each other.
    if (time <= where.view->time && in_global >> check::serial_time_bits == where.checks->clock.serial()) {
        compare(now, w, lane, where, at, byte_mask, e);
    }
}

void make_remote(block& b) {
    const std::size_t words = (b.launch->shared_bytes + 3) / 4;
    b.checks->remote_writes.assign(words, 0);
    b.checks->remote_reads.assign(words, 0);
    b.view->has_remote = true;
}

// The words of an access: body(word, where its first byte is, its bytes as a mask).
template <class Body>
void each_word_of(std::uint64_t offset, unsigned bytes, Body&& body) {
    for (std::uint64_t k = offset / 4; k <= (offset + bytes - 1) / 4; ++k) {
        unsigned mask = 0;
        for (unsigned byte = 0; byte < 4; ++byte) {
            const std::uint64_t at = 4 * k + byte;
            mask |= (at >= offset && at < offset + bytes ? 1u : 0u) << byte;
        }
        body(k, 4 * k, mask);
    }
}

void look_at_distributed_init(const access_site& site, warp* w, block& target, unsigned lane, std::uint64_t offset) {
    std::uint8_t* const valid = target.view->shared_valid;
    if (valid == nullptr) {
        return;
    }
    bool any = site.verb == access_verb::store || site.used == 0;
    for (std::uint64_t k = offset; k < offset + site.bytes; ++k) {
        any = any || (valid[k / 8] >> (k & 7) & 1) != 0;
    }
    if (!any) {
        report_uninitialized(site, w, lane, access_space::shared, offset);
    }
    for (std::uint64_t k = offset; site.verb != access_verb::load && site.from == nullptr && k < offset + site.bytes;
         ++k) {
        valid[k / 8] |= static_cast<std::uint8_t>(1u << (k & 7));
    }
}

} // namespace

void check_distributed(const access_site& site, warp* w, block& target, unsigned lane, std::uint64_t offset) {
    const launch_state& l = *w->host->launch;
    if (offset > l.shared_bytes || site.bytes > l.shared_bytes - offset) {
        return; // the access itself will say what is wrong
    }
    look_at_distributed_init(site, w, target, lane, offset);
    if (!l.check_races || target.view->shared_writes == nullptr || !w->owner->view->stamps_global) {
        return;
    }
    if (!target.view->has_remote) {
        make_remote(target);
    }
    check::block_view& v = *w->owner->view;
    v.warps[w->index].touched = v.time;
    const bool writes = site.verb != access_verb::load;
    each_word_of(offset, site.bytes, [&](std::uint64_t word, std::uint64_t at, unsigned mask) {
        stamp& remote_write = target.checks->remote_writes[word];
        stamp& remote_read = target.checks->remote_reads[word];
        compare_own(site, w, lane, target, at, mask, target.view->shared_writes[word], true);
        compare_remote(site, w, lane, target, at, mask, remote_write, true);
        if (writes) {
            compare_own(site, w, lane, target, at, mask, target.view->shared_reads[word], false);
            compare_remote(site, w, lane, target, at, mask, remote_read, false);
        }
        const stamp mine = static_cast<stamp>((v.time + v.global_offset) << check::time_shift) |
                           static_cast<stamp>(site.id) << check::site_shift |
                           static_cast<stamp>(w->index) << check::warp_shift |
                           static_cast<stamp>(lane) << check::lane_shift | mask;
        if (writes) {
            remote_write = mine | static_cast<stamp>(site.strength) << check::strength_shift;
        } else {
            remote_read = mine | (site.strength == strength::plain ? 0 : check::strong_read);
        }
    });
}

void meet_distributed(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask) {
    const access_site& site = *i->access;
    block& b = *w->owner;
    const launch_state& l = *w->host->launch;
    each_lane(mask, [&](unsigned lane) {
        if (at[lane] > l.shared_bytes || site.bytes > l.shared_bytes - at[lane]) {
            return;
        }
        each_word_of(at[lane], site.bytes, [&](std::uint64_t word, std::uint64_t where, unsigned bytes) {
            compare_remote(site, w, lane, b, where, bytes, b.checks->remote_writes[word], true);
            if (site.verb != access_verb::load) {
                compare_remote(site, w, lane, b, where, bytes, b.checks->remote_reads[word], false);
            }
        });
    });
}

void check_end_of_block(block& b) {
    if (b.view == nullptr || !b.view->has_remote) {
        return;
    }
    launch_state& l = *b.launch;
    check::release_graph& graph = l.checks->graph;
    const auto look = [&](const std::vector<stamp>& stamps, bool wrote) {
        stamp last = 0;
        for (std::size_t word = 0; word < stamps.size(); ++word) {
            const stamp s = stamps[word];
            const std::uint64_t by =
                s == 0 || s == last ? ~0ull : l.checks->block_of(check::time_of(s) >> check::serial_time_bits);
            last = s;
            if (by == ~0ull || by == b.linear) {
                continue;
            }
            const earlier e{by, {check::time_of(s), check::warp_of(s), check::lane_of(s)}, s, wrote, releases(b, s)};
            bool known = false;
            if (b.checks->record != nullptr) {
                const std::lock_guard lock(graph.mutex());
                known = graph.is_ordered(by, e.signalled(), *b.checks->record, b.checks->paths,
                                         [](const event&) { return true; });
            }
            if (!known) {
                const access_site* const site = site_of(b, s);
                report_pair(l, b, 4 * word,
                            "the block may end before: nothing orders its end after another block's access to its "
                            "shared memory",
                            {"end of the block",
                             site != nullptr ? instruction_place{site->function, site->source} : instruction_place{},
                             b.linear,
                             0,
                             {},
                             false},
                            site, e);
            }
        }
    };
    look(b.checks->remote_writes, true);
    look(b.checks->remote_reads, false);
}

lane_mask inspect_distributed(const instruction* i, warp* w, std::uint64_t* at, bool generic) {
    const launch_state& l = *w->host->launch;
    const std::uint64_t own_window = generic ? l.memory->shared_window() : 0;
    lane_mask others = 0;
    each_lane(w->mask, [&](unsigned lane) {
        const bool by_rank = generic ? is_in_cluster_window(l, at[lane]) : at[lane] >> cluster_rank_shift != 0;
        if (!by_rank) {
            return;
        }
        const auto found = find_distributed(*w->owner, generic ? shared_cluster_address(l, at[lane]) : at[lane]);
        if (found && found->owner == w->owner) {
            at[lane] = own_window + found->offset;
            return;
        }
        others |= 1u << lane;
        if (found) {
            check_distributed(*i->access, w, *found->owner, lane, found->offset);
        }
    });
    return others;
}

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// Accesses to words of global memory that other blocks have touched before a release that all threads of this block are
// behind, such as a barrier of the grid.
#pragma once

#include "softgpu/machine/handlers/checks/pattern.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// `at` counts from the start of the arena. false: the access needs check_access().
template <access_verb Verb>
__attribute__((noinline)) bool pass_known(const instruction* i, const warp* w, const std::uint64_t* at,
                                          lane_mask mask) {
    const check::shadow_view& shadow = *w->host->launch->shadow;
    const check::block_view& view = *w->owner->view;
    const check::known_blocks& known = view.known;
    const unsigned bytes = i->access->bytes;
    const unsigned words = bytes / 4;
    if (!known.any || !view.stamps_global || words == 0) {
        return false;
    }
    const race_view v = global_view(view, w->index, stamp_of<Verb>(*i->access, w->index));
    const auto mine_of = [&](unsigned l) { return v.mine + (static_cast<stamp>(l) << check::lane_shift); };
    // Of the blocks that have read the word only the last one is known: a read does not take their place.
    const auto is_known_read = [&](stamp s) {
        return known.contains(s) && (Verb != access_verb::load || (~s & check::spread_bits) != 0);
    };
    bool fine = true;
    each_lane(mask, [&](unsigned l) {
        fine = fine && (at[l] & (bytes - 1)) == 0 && at[l] <= shadow.bytes && bytes <= shadow.bytes - at[l] &&
               (shadow.valid == nullptr || pass_valid<Verb>(shadow.valid, at[l], bytes));
        for (unsigned k = 0; fine && k < words; ++k) {
            const stamp written = shadow.writes[at[l] / 4 + k];
            const stamp read = shadow.reads[at[l] / 4 + k];
            fine = known.contains(written) || may_follow_write<Verb>(written, mine_of(l), v);
            if (Verb == access_verb::load) {
                fine = fine && (is_known_read(read) || is_clear(read, mine_of(l), v));
            } else {
                fine = fine && (is_known_read(read) || may_follow_read<Verb>(read, mine_of(l), v));
            }
        }
    });
    if (!fine) {
        return false;
    }
    stamp twice = 0;
    each_lane(mask, [&](unsigned l) {
        for (unsigned k = 0; k < words; ++k) {
            stamp& read = shadow.reads[at[l] / 4 + k];
            if (Verb == access_verb::load) {
                read = is_known_read(read) ? mine_of(l) : read_stamp<true>(read, mine_of(l), v);
            } else {
                shadow.writes[at[l] / 4 + k] = mine_of(l);
            }
        }
    });
    if (Verb == access_verb::store) {
        each_lane(mask, [&](unsigned l) {
            for (unsigned k = 0; k < words; ++k) {
                twice |= shadow.writes[at[l] / 4 + k] ^ mine_of(l);
            }
        });
    }
    return twice == 0;
}

} // namespace softgpu::machine::SOFTGPU_TARGET

// SPDX-License-Identifier: MIT
// What an atomic access costs: wavefronts of shared memory, sectors of global memory, lanes that meet at one address.
#pragma once

#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Each lane is a turn of its bank; lanes of 8 bytes go by half warps. What compares passes twice, and the second pass is no
// conflict. As measured (tests/counters/golden).
inline bank_cost count_atomic_wavefronts(lane_mask mask, const std::uint64_t* at, unsigned bytes, bool compares) {
    bank_cost cost;
    const unsigned group = bytes <= 4 ? 32 : 16;
    for (unsigned first = 0; first < lanes; first += group) {
        std::uint8_t turns[32] = {};
        unsigned worst = 0;
        each_lane(mask & lanes_from(first, group), [&](unsigned l) {
            std::uint8_t& mine = turns[at[l] >> 2 & 31];
            ++mine;
            worst = mine > worst ? mine : worst;
        });
        cost.wavefronts += compares ? 2 * worst : worst;
        cost.conflicts += worst > 0 ? worst - 1 : 0;
    }
    return cost;
}

// Sectors of distinct addresses, each as often as the most lanes that meet at one address of it.
inline unsigned count_atomic_sectors(const std::uint64_t* addresses, const std::uint8_t* met, unsigned distinct) {
    unsigned n = 0;
    for (unsigned k = 0; k < distinct; ++k) {
        unsigned worst = met[k];
        bool last = true;
        for (unsigned m = 0; m < distinct; ++m) {
            if (addresses[m] >> 5 == addresses[k] >> 5) {
                last = last && m <= k;
                worst = met[m] > worst ? met[m] : worst;
            }
        }
        n += last ? worst : 0; // once for each sector
    }
    return n;
}

inline void count_atomic(warp* w, lane_mask mask, const std::uint64_t* at, bool in_shared, unsigned bytes,
                         bool compares) {
    observe::counters& c = *w->counts;
    const auto n = static_cast<std::uint64_t>(std::popcount(mask));
    if (in_shared) {
        const bank_cost cost = count_atomic_wavefronts(mask, at, bytes, compares);
        ++c.shared_atomic_requests;
        c.shared_atomic_lanes += n;
        c.shared_atomic_wavefronts += cost.wavefronts;
        c.shared_atomic_bank_conflicts += cost.conflicts;
        // Lanes that meet at an address meet at its bank: mostly, so few of them that they need not be looked for.
        if (cost.conflicts + (bytes <= 4 ? 1 : 2) <= c.atomic_worst_multiplicity) {
            return;
        }
    } else {
        ++c.atomic_requests;
        c.atomic_lanes += n;
    }
    std::uint64_t keys[lanes];
    std::uint8_t counts[lanes];
    unsigned distinct = 0;
    std::uint64_t worst = 0;
    each_lane(mask, [&](unsigned l) {
        unsigned k = 0;
        while (k < distinct && keys[k] != at[l]) {
            ++k;
        }
        if (k == distinct) {
            keys[k] = at[l];
            counts[k] = 0;
            ++distinct;
        }
        ++counts[k];
        worst = counts[k] > worst ? counts[k] : worst;
    });
    if (!in_shared) {
        c.atomic_sectors += worst == 1 ? count_sectors(mask, at) : count_atomic_sectors(keys, counts, distinct);
    }
    c.atomic_worst_multiplicity = worst > c.atomic_worst_multiplicity ? worst : c.atomic_worst_multiplicity;
}

} // namespace softgpu::machine::SOFTGPU_TARGET

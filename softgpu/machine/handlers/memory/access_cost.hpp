// SPDX-License-Identifier: MIT
// The cost of an access (sectors of a global request, wavefronts of a shared one) and its bounds.
#pragma once

#include <type_traits>

#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/run/fault.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

enum class verb { load, store };

template <verb Verb>
constexpr const char* verb_name = Verb == verb::load ? "read" : "write";

// [at, at + bytes) lies in one allocation, which the kernel may access so.
SOFTGPU_INLINE bool is_allocated(warp* w, std::uint64_t at, std::uint64_t bytes, verb how) {
    worker* const host = w->host;
    for (const known_allocation& k : host->known) {
        if (at - k.base < k.bytes && bytes <= k.bytes - (at - k.base)) {
            return true;
        }
    }
    return look_up_allocation(host, at, bytes, how == verb::store);
}

// at[l] == origin + l * step for every active lane.
template <class Address>
SOFTGPU_INLINE bool is_run(lane_mask mask, const Address* at, std::type_identity_t<Address> origin,
                           std::type_identity_t<Address> step) {
    Address off = 0;
    if (mask == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= at[l] ^ (origin + l * step);
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= (mask & (1u << l)) != 0 ? at[l] ^ (origin + l * step) : 0;
        }
    }
    return off == 0;
}

// Distinct 32-byte sectors of an aligned access; none crosses a sector.
inline unsigned count_sectors(lane_mask mask, const std::uint64_t* at) {
    if (mask == all_lanes) {
        std::uint64_t steps = 0;
        std::uint64_t falls = 0;
        for (unsigned l = 1; l < lanes; ++l) {
            const std::uint64_t before = at[l - 1] >> 5;
            const std::uint64_t here = at[l] >> 5;
            steps += here != before ? 1 : 0;
            falls |= here < before ? 1 : 0;
        }
        if (falls == 0) {
            return static_cast<unsigned>(steps) + 1;
        }
    }
    std::uint64_t previous = at[std::countr_zero(mask)] >> 5;
    unsigned n = 1;
    bool sorted = true;
    each_lane(mask, [&](unsigned l) {
        const std::uint64_t s = at[l] >> 5;
        sorted = sorted && s >= previous;
        n += s != previous ? 1u : 0u;
        previous = s;
    });
    if (sorted) {
        return n;
    }
    std::uint64_t table[64];
    std::uint64_t used = 0;
    n = 0;
    each_lane(mask, [&](unsigned l) {
        const std::uint64_t s = at[l] >> 5;
        auto slot = static_cast<unsigned>((s * 0x9E3779B97F4A7C15ull) >> 58);
        while ((used >> slot & 1) != 0 && table[slot] != s) {
            slot = (slot + 1) & 63;
        }
        if ((used >> slot & 1) == 0) {
            used |= 1ull << slot;
            table[slot] = s;
            ++n;
        }
    });
    return n;
}

// Distinct 32-byte sectors of an access to local memory, which lies word by word, the 32 lanes' words side by side.
inline unsigned count_local_sectors(lane_mask mask, const std::uint64_t* at, unsigned bytes) {
    unsigned n = 0;
    for (unsigned first = 0; first < lanes; first += 8) {
        std::uint64_t seen[8 * 5];
        unsigned distinct = 0;
        each_lane(mask & (0xFFu << first), [&](unsigned l) {
            for (std::uint64_t word = at[l] >> 2; word <= (at[l] + bytes - 1) >> 2; ++word) {
                unsigned k = 0;
                while (k < distinct && seen[k] != word) {
                    ++k;
                }
                seen[k] = word;
                distinct += k == distinct ? 1u : 0u;
            }
        });
        n += distinct;
    }
    return n;
}

struct bank_cost {
    unsigned wavefronts = 0;
    unsigned conflicts = 0;
};

// Every lane's neighbour (the lane whose number differs in bit `bit`) is inactive, or has the same address.
inline bool is_shared_by_neighbours(lane_mask mask, const std::uint32_t* at, unsigned bit) {
    bool shared = true;
    each_lane(mask, [&](unsigned l) {
        const unsigned neighbour = l ^ bit;
        shared = shared && ((mask >> neighbour & 1u) == 0 || at[neighbour] == at[l]);
    });
    return shared;
}

inline lane_mask lanes_from(unsigned first, unsigned count) {
    return count == 32 ? all_lanes : ((1u << count) - 1) << first;
}

// How many different words the busiest of the 32 banks has.
inline unsigned most_in_a_bank(std::uint32_t* words, unsigned n) {
    std::uint32_t low = ~0u;
    std::uint32_t high = 0;
    for (unsigned k = 0; k < n; ++k) {
        low = words[k] < low ? words[k] : low;
        high = words[k] > high ? words[k] : high;
    }
    unsigned most = 0;
    if ((high >> 5) - (low >> 5) < 64) { // within 8 KiB, a bit for each word of a bank
        std::uint64_t rows[32] = {};
        for (unsigned k = 0; k < n; ++k) {
            rows[words[k] & 31] |= 1ull << ((words[k] >> 5) - (low >> 5));
        }
        for (const std::uint64_t r : rows) {
            const auto here = static_cast<unsigned>(std::popcount(r));
            most = here > most ? here : most;
        }
        return most;
    }
    for (; n != 0; ++most) { // each turn takes one word of each bank out of the list
        std::uint32_t taken[32];
        for (unsigned k = 0; k < n; ++k) {
            taken[words[k] & 31] = words[k];
        }
        unsigned left = 0;
        for (unsigned k = 0; k < n; ++k) {
            const std::uint32_t word = words[k];
            words[left] = word;
            left += taken[word & 31] != word ? 1u : 0u;
        }
        n = left;
    }
    return most;
}

// A wavefront serves each of the 32 banks of 4 bytes once; lanes that access the same word share it. 8-byte accesses go by
// half warps, 16-byte accesses by quarter warps. Two halves (quarters) of a load go together where all neighbours of the
// warp have the same address: all lanes 2n and 2n + 1, or all that are two apart. Measured (tests/counters/golden).
template <verb Verb>
inline bank_cost count_wavefronts(lane_mask mask, const std::uint32_t* at, unsigned bytes) {
    const unsigned least = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    const unsigned words_each = bytes <= 4 ? 1 : bytes / 4;
    bank_cost cost;
    const bool together = Verb == verb::load && least < lanes &&
                          (is_shared_by_neighbours(mask, at, 1) || is_shared_by_neighbours(mask, at, 2));
    const unsigned group = together ? 2 * least : least;
    for (unsigned first = 0; first < lanes; first += group) {
        const lane_mask mine = mask & lanes_from(first, group);
        if (mine == 0) {
            continue;
        }
        std::uint32_t words[128]; // of 16 lanes, 32 bytes each
        unsigned n = 0;
        if (words_each == 1 && mine == all_lanes) {
            for (; n < lanes; ++n) {
                words[n] = at[n] >> 2;
            }
        } else {
            each_lane(mine, [&](unsigned l) {
                for (unsigned k = 0; k < words_each; ++k) {
                    words[n++] = (at[l] >> 2) + k;
                }
            });
        }
        const unsigned worst = most_in_a_bank(words, n);
        cost.wavefronts += worst;
        cost.conflicts += worst - 1;
    }
    return cost;
}

// The same, remembered for accesses that go up by one step a lane: their cost depends on the step, the active lanes and
// the first bank only.
template <verb Verb>
inline bank_cost wavefronts_of(warp* w, lane_mask mask, const std::uint32_t* at, unsigned bytes) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
    const lane_mask rest = mask & (mask - 1);
    if (rest == 0) {
        return count_wavefronts<Verb>(mask, at, bytes);
    }
    const unsigned second = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t step = (at[second] - at[first]) / (second - first);
    if (bytes > 4) {
        return count_wavefronts<Verb>(mask, at, bytes);
    }
    if ((step & 3) != 0 || !is_run(mask, at, at[first] - first * step, step)) {
        return count_wavefronts<Verb>(mask, at, bytes);
    }
    if (step == 0) {
        return {1, 0};
    }
    strided_cost& known = w->host->strided[(step * 0x9E3779B1u ^ mask * 0x85EBCA6Bu) >> 26];
    if (known.step != step || known.mask != mask) {
        const bank_cost fresh = count_wavefronts<Verb>(mask, at, bytes);
        known = {step, mask, fresh.wavefronts, fresh.conflicts};
    }
    return {known.wavefronts, known.conflicts};
}

template <verb Verb>
SOFTGPU_INLINE void count_global(warp* w, lane_mask mask, unsigned sectors, unsigned bytes) {
    observe::counters& c = *w->counts;
    const auto total = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
    if constexpr (Verb == verb::load) {
        ++c.global_load_requests;
        c.global_load_sectors += sectors;
        c.global_load_bytes += total;
    } else {
        ++c.global_store_requests;
        c.global_store_sectors += sectors;
        c.global_store_bytes += total;
    }
}

template <verb Verb>
SOFTGPU_INLINE void count_shared(warp* w, lane_mask mask, bank_cost cost, unsigned bytes) {
    observe::counters& c = *w->counts;
    const auto total = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
    if constexpr (Verb == verb::load) {
        ++c.shared_load_requests;
        c.shared_load_wavefronts += cost.wavefronts;
        c.shared_load_bank_conflicts += cost.conflicts;
        c.shared_load_bytes += total;
    } else {
        ++c.shared_store_requests;
        c.shared_store_wavefronts += cost.wavefronts;
        c.shared_store_bank_conflicts += cost.conflicts;
        c.shared_store_bytes += total;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET

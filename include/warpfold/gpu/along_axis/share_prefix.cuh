// SPDX-License-Identifier: MIT
// What precedes a share of a row in a scan along an axis whose rows are divided among blocks, from the totals that other
// blocks publish inside the same launch. Sixteen shares are a group, sixteen groups a district: a share reads the totals
// of those before it in its group, of the groups before that in its district, and the prefix of the district. The last
// share of a group publishes the group's total instead of its own, the last of a district the prefix of the next one.
// So the order is fixed by the share's number (gpu/scan/tile_prefix.cuh says why).
//
// A block has one share of some neighbouring rows. Totals travel in flagged slots, those of neighbouring rows side by
// side. Blocks start in the order of their index, and wait only for those before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/gpu/along_axis/along_axis.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"

namespace warpfold::detail {

inline constexpr unsigned shares_in_group = 16; // and groups in a district
inline constexpr unsigned shares_in_district = shares_in_group * shares_in_group;

// A block's share, and a thread's place in the block: row x of `across`, place y of `along` places along the row. Threads
// behind all places have no row.
struct share_place {
    std::uint64_t row;  // of all
    bool is_row;        // there is one
    std::uint64_t tile; // of neighbouring rows
    unsigned share, across, along, x, y;
};

// Of one launch. All slots and counters are zero, and are left so.
template <class A>
struct share_totals {
    static constexpr std::size_t bytes(std::uint64_t rows, std::uint64_t shares, std::uint64_t tiles) {
        const std::uint64_t groups = rounded_quotient(shares, shares_in_group),
                            districts = rounded_quotient(shares, shares_in_district);
        return rows * (shares + groups + districts) * sizeof(flagged_slot<A>) +
               tiles * (groups + districts) * sizeof(unsigned);
    }
    // Bytes of shared memory for the threads of a block.
    static constexpr std::size_t shared_bytes(unsigned across) { return across * (shares_in_group + 1) * sizeof(A); }

    share_totals(void* memory, std::uint64_t rows_, std::uint64_t shares_, std::uint64_t tiles_)
        : rows(rows_),
          tiles(tiles_),
          shares(static_cast<unsigned>(shares_)),
          of_share(static_cast<flagged_slot<A>*>(memory)),
          of_group(of_share + rows * shares),
          through_district(of_group + rows * rounded_quotient(shares, shares_in_group)),
          left_group(
              reinterpret_cast<unsigned*>(through_district + rows * rounded_quotient(shares, shares_in_district))),
          left_district(left_group + tiles * rounded_quotient(shares, shares_in_group)) {}

    // By all threads of the block: what precedes the share in the thread's row. `all` is the share's total, `shared` has
    // shared_bytes. Barriers.
    template <class Op>
    __device__ A before(const share_place& at, const A& all, const A& first, const Op& op, A* shared) const {
        const unsigned group = at.share / shares_in_group, district = at.share / shares_in_district;
        const unsigned shares_before = at.share % shares_in_group, groups_before = group % shares_in_group;
        const bool closes_group = shares_before + 1 == shares_in_group;
        const bool closes_district = closes_group && groups_before + 1 == shares_in_group;
        const bool posts = at.is_row && at.y == 0 && at.share + 1 < shares;
        if (posts && !closes_group) {
            detail::publish(&of_share[at.share * rows + at.row], all);
        }
        flagged_slot<A>* const its_shares = of_share + std::uint64_t{group} * shares_in_group * rows + at.row;
        flagged_slot<A>* const its_groups = of_group + std::uint64_t{district} * shares_in_group * rows + at.row;
        slot_reader<A> share_words[at_once]{}, group_words[at_once]{};
        request(share_words, its_shares, shares_before, at);
        request(group_words, its_groups, groups_before, at);
        A prefix = Op::template identity<A>();
        if (shares_before != 0) {
            prefix = folded(share_words, its_shares, shares_before, at, op, shared);
        }
        if (posts && closes_group && !closes_district) {
            detail::publish(&of_group[group * rows + at.row], static_cast<A>(op(prefix, all)));
        }
        if (groups_before != 0) {
            prefix = op(folded(group_words, its_groups, groups_before, at, op, shared), prefix);
        }
        A* const found = shared + shares_in_group * at.across;
        if (at.is_row && at.y == 0) {
            slot_reader<A> words{};
            prefix = op(district == 0 ? first : words.wait(&through_district[(district - 1) * rows + at.row]), prefix);
            found[at.x] = prefix;
        }
        if (posts && closes_district) {
            detail::publish(&through_district[district * rows + at.row], static_cast<A>(op(prefix, all)));
        }
        leave(at, group, district, its_shares, its_groups);
        return at.is_row ? found[at.x] : first;
    }

private:
    static constexpr unsigned at_once = 2; // slots on their way to a thread together

    // Calls work(slot, k) for the thread's slots of the first `count`, which are every along-th.
    template <class Work>
    __device__ void for_own(unsigned count, const share_place& at, const Work& work) const {
        for (unsigned k = 0, slot = at.y; at.is_row && slot < count; ++k, slot += at.along) {
            work(slot, k);
        }
    }
    __device__ void request(slot_reader<A> (&words)[at_once], const flagged_slot<A>* slots, unsigned count,
                            const share_place& at) const {
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            if (const unsigned slot = at.y + k * at.along; at.is_row && slot < count) {
                words[k].load(slots + slot * rows);
            }
        }
    }
    // In the threads of y = 0: op over the first `count` slots.
    template <class Op>
    __device__ A folded(slot_reader<A> (&words)[at_once], const flagged_slot<A>* slots, unsigned count,
                        const share_place& at, const Op& op, A* shared) const {
        __syncthreads();
        unsigned slot = at.y;
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k, slot += at.along) {
            if (at.is_row && slot < count) {
                shared[slot * at.across + at.x] = words[k].wait(slots + slot * rows);
            }
        }
        for (; at.is_row && slot < count; slot += at.along) {
            slot_reader<A> word{};
            shared[slot * at.across + at.x] = word.wait(slots + slot * rows);
        }
        __syncthreads();
        A all = Op::template identity<A>();
        if (at.is_row && at.y == 0) {
            all = shared[at.x];
            for (unsigned k = 1; k < count; ++k) {
                all = op(all, shared[k * at.across + at.x]);
            }
        }
        return all;
    }
    // The last share of a group, or of a district, empties what its shares have read.
    __device__ void leave(const share_place& at, unsigned group, unsigned district, flagged_slot<A>* its_shares,
                          flagged_slot<A>* its_groups) const {
        __shared__ bool empties_group, empties_district;
        const unsigned in_group = min(shares_in_group, shares - group * shares_in_group);
        const unsigned in_district = min(shares_in_district, shares - district * shares_in_district);
        unsigned* const group_counter = &left_group[group * tiles + at.tile];
        unsigned* const district_counter = &left_district[district * tiles + at.tile];
        __syncthreads();
        if (threadIdx.x == 0) {
            empties_group = atomicAdd(group_counter, 1u) + 1 == in_group;
            empties_district = shares > shares_in_group && atomicAdd(district_counter, 1u) + 1 == in_district;
            if (empties_group) {
                atomicExch(group_counter, 0u);
            }
            if (empties_district) {
                atomicExch(district_counter, 0u);
            }
        }
        __syncthreads();
        if (empties_group) {
            for_own(in_group, at, [&](unsigned slot, unsigned) { detail::reset_slot(its_shares + slot * rows); });
        }
        if (empties_district) {
            for_own((in_district + shares_in_group - 1) / shares_in_group, at,
                    [&](unsigned slot, unsigned) { detail::reset_slot(its_groups + slot * rows); });
            if (at.is_row && at.y == 0 && district != 0) {
                detail::reset_slot(&through_district[(district - 1) * rows + at.row]);
            }
        }
    }

    std::uint64_t rows, tiles;
    unsigned shares;
    flagged_slot<A>* of_share;         // [share * rows + row]
    flagged_slot<A>* of_group;         // [group * rows + row]
    flagged_slot<A>* through_district; // [district * rows + row]: the prefix of the next one
    unsigned* left_group;              // [group * tiles + tile]: shares that have read their slots
    unsigned* left_district;
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// The tile prefix of any number of tiles, one a block, with the fewest steps from block to block: that of groups
// (grouped_prefix.cuh) where there is one group, else that of all tiles before (all_tiles_prefix.cuh) where it can be, else
// that of groups again, with two steps or three.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/grouped_prefix.cuh"

namespace warpfold::detail {

template <class A>
class any_tiles_prefix {
    using few_type = all_tiles_prefix<A>;
    using many_type = grouped_prefix<A, false>;

public:
    union storage {
        typename few_type::storage few;
        typename many_type::storage many;
    };

    // Enough for up to so many tiles.
    static std::size_t bytes(std::uint64_t tiles) {
        return std::max(
            many_type::bytes(tiles),
            few_type::bytes(static_cast<unsigned>(std::min<std::uint64_t>(tiles, few_type::most_tiles)), false));
    }

    // `tiles` and `ordered` as for grouped_prefix.
    __device__ any_tiles_prefix(void* memory, storage& shared, unsigned tiles = gridDim.x, bool ordered = false)
        : few_(memory, false, shared.few, tiles, ordered),
          many_(memory, shared.many, tiles, ordered),
          are_few_(tiles > tiles_in_group && tiles <= few_type::most_tiles) {}

    __device__ void publish(const A& total) const {
        if (are_few_) {
            few_.publish(total);
        } else {
            many_.publish(total);
        }
    }
    template <class First, class Op>
    __device__ A before(const A& total, const First& first, const Op& op) {
        return are_few_ ? few_.before(total, first, op) : many_.before(total, first, op);
    }
    __device__ void release() const {
        if (are_few_) {
            few_.release();
        } else {
            many_.release();
        }
    }

private:
    few_type few_;
    many_type many_;
    bool are_few_;
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// The dimensions of a plan in a kernel: from the number of an element to its place, by multiplications.
#pragma once

#include <cstdint>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

// Division by a number known to the host, at least 2. Numbers below 2^32 are divided by one multiplication: with
// m = floor(2^64 / d) + 1, floor(n m / 2^64) is n / d while n d is at most 2^64.
struct index_divisor {
    std::uint64_t by = 2;
    std::uint64_t reciprocal = 0;

    index_divisor() = default;
    explicit index_divisor(std::uint64_t d) : by(d), reciprocal(~std::uint64_t{0} / d + 1) {}

    [[nodiscard]] __device__ std::uint64_t divide(std::uint64_t n) const {
        return n >> 32 == 0 ? __umul64hi(n, reciprocal) : n / by;
    }
};

// Where an element or a result is: in the input, and in its role (axis_plan.hpp).
struct axis_place {
    std::int64_t in;
    std::int64_t role;
};

struct axis_indices {
    unsigned count;
    std::int64_t in_begin, role_begin;
    index_divisor extent[8];
    std::int64_t in[8], role[8];

    explicit axis_indices(const plan_dimensions& dimensions)
        : count(dimensions.count), in_begin(dimensions.in_begin), role_begin(dimensions.role_begin) {
        for (unsigned d = 0; d < 8; ++d) {
            extent[d] = d < count ? index_divisor(dimensions.at[d].extent) : index_divisor();
            in[d] = d < count ? dimensions.at[d].in : 0;
            role[d] = d < count ? dimensions.at[d].role : 0;
        }
    }

    // Of element `index`, counted innermost first.
    [[nodiscard]] __device__ axis_place at(std::uint64_t index) const {
        axis_place found{in_begin, role_begin};
#pragma unroll
        for (unsigned d = 0; d < 8; ++d) {
            if (d + 1 < count) {
                const std::uint64_t outer = extent[d].divide(index);
                const auto here = static_cast<std::int64_t>(index - outer * extent[d].by);
                found.in += here * in[d];
                found.role += here * role[d];
                index = outer;
            } else {
                found.in += static_cast<std::int64_t>(index) * in[d];
                found.role += static_cast<std::int64_t>(index) * role[d];
                break;
            }
        }
        return found;
    }
};

// A map of the elements of a row, which starts at index `first` and has `weight` indices from one to the next.
template <class Map>
struct map_from_index {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr decltype(auto) operator()(const T& x, std::uint64_t k) const {
        return detail::mapped(map, x, first + k * weight);
    }

    const Map& map;
    std::uint64_t first, weight;
};

// A map of elements of rows of one length that lie one after the other: of element k, the one with that index of all.
template <class Map>
struct map_in_row {
    template <class T>
    __device__ constexpr decltype(auto) operator()(const T& x, std::uint64_t k) const {
        if constexpr (std::is_invocable_v<const Map&, const T&, std::uint64_t>) {
            return map(x, first + (k - length.divide(k) * length.by) * weight);
        } else {
            return map(x);
        }
    }

    Map map;
    index_divisor length;
    std::uint64_t first, weight;
};
template <class Map>
struct user_callable<map_in_row<Map>> : user_callable<Map> {};

} // namespace warpfold::detail

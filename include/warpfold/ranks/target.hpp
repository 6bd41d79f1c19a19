// SPDX-License-Identifier: MIT
// A target on every rank of a communicator.
#pragma once

#include <type_traits>

#include "warpfold/communicator.hpp"
#include "warpfold/detail/engines.hpp"

namespace warpfold {

template <class On, class Comm>
struct reproducible_ranks;

// Of host{}.over(comm) and gpu{stream}.over(comm). Every rank makes the same call with its part of the arrays; parts
// follow each other in rank order and may be empty. `comm` outlives the target.
template <class On, class Comm>
struct over_ranks {
    On on;
    Comm* comm;
    int root = every_rank;

    // The same with outputs that are written at one rank only; at others they may be null. Calls that return a value
    // return it at every rank, a vector of counts is empty at the others. Scans and convolutions have no root.
    [[nodiscard]] constexpr over_ranks at_root(int rank) const { return {on, comm, rank}; }

    // The same with results whose bits depend neither on the split nor on the number and kind of the ranks: for reductions
    // and scans (ranks/reproducible/tree.hpp). Other calls do not take it.
    [[nodiscard]] constexpr reproducible_ranks<On, Comm> reproducible() const { return {*this}; }

    [[nodiscard]] bool has_result() const { return root == every_rank || root == comm->rank(); }
};

template <class On, class Comm>
struct reproducible_ranks {
    over_ranks<On, Comm> ranks;

    [[nodiscard]] constexpr reproducible_ranks at_root(int rank) const { return {ranks.at_root(rank)}; }
};

namespace detail {

template <class On, class Comm>
inline constexpr bool is_split_v<over_ranks<On, Comm>> = true;
template <class On, class Comm>
inline constexpr bool is_split_v<reproducible_ranks<On, Comm>> = true;

// What a call over ranks needs of a rank's target:
//   read(on, to, from, n)                 copies elements of the target's memory to the host's, and waits
//   write(on, to, from, n)                copies elements of the host's memory to the target's, and waits
//   put(on, out, value)                   *out = value
//   allocate<T>(on, n)                    n elements of the target's memory: data()
//   add_exact<T>(on, to, n, call, ins...) adds the terms to a long_accumulator of the host, and waits
template <class On>
struct rank_target;

} // namespace detail
} // namespace warpfold

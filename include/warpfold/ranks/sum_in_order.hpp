// SPDX-License-Identifier: MIT
// Sums of arrays of the host over ranks. Integers wrap, so their order does not matter; others are added in rank order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/detail/portable.hpp"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

template <class X>
WARPFOLD_HD constexpr X wrapping_sum(X a, X b) {
    if constexpr (std::is_integral_v<X>) {
        using bits = std::make_unsigned_t<X>;
        return static_cast<X>(static_cast<bits>(a) + static_cast<bits>(b));
    } else {
        return a + b;
    }
}

// Each rank adds a share of the places for all ranks, which is two steps for any number of ranks.
template <class On, class Comm, class X>
void add_in_rank_order(const over_ranks<On, Comm>& on, X* values, std::uint64_t n, const char* call) {
    Comm& comm = *on.comm;
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const auto mine = static_cast<std::uint64_t>(comm.rank());
    const auto begin = [&](std::uint64_t r) { return n / ranks * r + (r < n % ranks ? r : n % ranks); };
    const std::uint64_t share = begin(mine + 1) - begin(mine);
    std::vector<X> parts(share * ranks);
    std::vector<message> sent, received;
    sent.reserve(ranks);
    received.reserve(ranks);
    for (std::uint64_t r = 0; r < ranks; ++r) {
        sent.push_back({static_cast<int>(r), values + begin(r), (begin(r + 1) - begin(r)) * sizeof(X)});
        received.push_back({static_cast<int>(r), parts.data() + r * share, share * sizeof(X)});
    }
    comm.exchange(sent, received, call);
    for (std::uint64_t k = 0; k < share; ++k) {
        X total = parts[k];
        for (std::uint64_t r = 1; r < ranks; ++r) {
            total = detail::wrapping_sum(total, parts[r * share + k]);
        }
        parts[k] = total;
    }
    sent.clear();
    received.clear();
    for (std::uint64_t r = 0; r < ranks; ++r) {
        const int to = static_cast<int>(r);
        if (on.root == every_rank || on.root == to) {
            sent.push_back({to, parts.data(), share * sizeof(X)});
        }
        if (on.has_result()) {
            received.push_back({to, values + begin(r), (begin(r + 1) - begin(r)) * sizeof(X)});
        }
    }
    comm.exchange(sent, received, call);
}

// values[k] = the sum over all ranks, at the root or at every rank.
template <class On, class Comm, class X>
void add_over_ranks(const over_ranks<On, Comm>& on, X* values, std::uint64_t n, const char* call) {
    if constexpr (std::is_integral_v<X>) {
        using word = std::conditional_t<sizeof(X) == 8, std::uint64_t, std::uint32_t>;
        static_assert(sizeof(X) == sizeof(word));
        if constexpr (std::is_same_v<X, word>) {
            on.comm->add(values, n, on.root, call);
        } else {
            std::vector<word> words(values, values + n);
            on.comm->add(words.data(), n, on.root, call);
            for (std::uint64_t k = 0; k < n; ++k) {
                values[k] = static_cast<X>(words[k]);
            }
        }
    } else {
        detail::add_in_rank_order(on, values, n, call);
    }
}

} // namespace warpfold::detail

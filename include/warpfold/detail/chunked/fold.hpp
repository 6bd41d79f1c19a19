// SPDX-License-Identifier: MIT
// How reductions of chunked data continue from chunk to chunk, the same for every target.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/indexed.hpp"

namespace warpfold::detail {

// How a reduction continues from chunk to chunk. The engine folds a chunk, after map_at(first), by `op` into a
// `folded`; result_at(in, first) converts that to a `value`; more(total, value) combines it with the earlier chunks.
// `continues`: a chunk may be folded onto the earlier `folded`, and last() converts the total; the fold of no elements is
// then defined. `locates`: a value is a located. `before`: elements of the whole data before the first chunk.
// indexed_by<T>: `before` matters.
template <class A, class Map, class Op>
struct chunked_plain_fold {
    using folded = A;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool locates = false;
    template <class T>
    static constexpr bool indexed_by = takes_index_v<Map, T>;

    template <class T>
    auto map_at(std::uint64_t first) const {
        return detail::map_from<T>(map, before + first);
    }
    template <class In>
    identity_result result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const A& total) const { return initial == nullptr ? total : static_cast<A>(more(*initial, total)); }

    Map map;
    Op op, more;
    const A* initial; // nullptr: none
    std::uint64_t before = 0;
};

// The same for an operation without an identity, which has an initial value.
template <class A, class Map, class Op>
struct chunked_optional_fold {
    using folded = optional_value<A>;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool locates = false;
    template <class T>
    static constexpr bool indexed_by = takes_index_v<Map, T>;

    struct present {
        WARPFOLD_HD constexpr A operator()(const optional_value<A>& x) const { return x.value; }
    };

    template <class T>
    auto map_at(std::uint64_t first) const {
        const auto inner = detail::map_from<T>(map, before + first);
        return optional_map<std::remove_cv_t<decltype(inner)>, A>{inner};
    }
    template <class In>
    present result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const optional_value<A>& total) const {
        if (initial == nullptr) {
            return total.value;
        }
        return total.has_value ? static_cast<A>(more(*initial, total.value)) : *initial;
    }

    Map map;
    optional_operation<Op> op;
    Op more;
    const A* initial; // nullptr: none, and there are elements
    std::uint64_t before = 0;
};

template <bool Smallest>
struct better_located {
    template <class T>
    WARPFOLD_HD constexpr located<T> operator()(const located<T>& a, const located<T>& b) const {
        const candidate_map<T, Smallest> map;
        return better_candidate<Smallest>{}(map(a.value, a.index), map(b.value, b.index)).index == a.index ? a : b;
    }
};

// min_max.
template <class T>
using chunked_extremes_fold = chunked_plain_fold<extremes<T>, extremes_map<T>, extremes_operation>;

// arg_min and arg_max.
template <bool Smallest, class T>
struct chunked_arg_fold {
    using fold = arg_fold<Smallest, T>;
    using folded = typename fold::folded;
    using value = located<T>;
    static constexpr bool continues = false;
    static constexpr bool locates = true;
    template <class>
    static constexpr bool indexed_by = false;

    template <class In>
    struct located_from {
        template <class C>
        WARPFOLD_HD constexpr located<T> operator()(const C& best) const {
            located<T> found = located_result<In>{in}(best);
            found.index += first;
            return found;
        }

        In in;
        std::uint64_t first;
    };

    template <class>
    auto map_at(std::uint64_t) const {
        return typename fold::folded_map{};
    }
    template <class In>
    auto result_at(const In& in, std::uint64_t first) const {
        return located_from<In>{in, first};
    }

    typename fold::folded_op op;
    better_located<Smallest> more;
    const value* initial;
};

// An output iterator that combines what is written with *total, or replaces it if `fresh`.
template <class V, class More>
struct accumulating_output {
    struct joiner {
        WARPFOLD_HD void operator=(const V& x) const {
            *at.total = at.fresh ? x : static_cast<V>(at.more(*at.total, x));
        }

        const accumulating_output& at;
    };
    WARPFOLD_HD joiner operator*() const { return {*this}; }

    V* total;
    More more;
    bool fresh;
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// How reductions of chunked data continue from chunk to chunk, the same for every target.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

// `map` with the element's index in the whole data instead of the chunk.
template <class Map>
struct global_index_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t index) const -> typename map_result<Map, T>::type {
        return detail::mapped(map, x, first + index);
    }

    Map map;
    std::uint64_t first;
};
template <class Map>
struct user_callable<global_index_map<Map>> : user_callable<Map> {};
template <class Map, class T>
auto global_map(const Map& map, std::uint64_t first) {
    if constexpr (is_device_lambda_v<Map> || std::is_invocable_v<const Map&, const T&, std::uint64_t>) {
        return global_index_map<Map>{map, first};
    } else {
        return map;
    }
}

// How a reduction continues from chunk to chunk. The engine folds a chunk, after map_at(first), by `op` into a
// `folded`; result_at(in, first) converts that to a `value`; more(total, value) combines it with the earlier chunks.
// `chooses`: at least one element is required. `continues`: a chunk may be folded onto the earlier `folded`, and last()
// converts the total.
template <class A, class Map, class Op>
struct chunked_plain_fold {
    using folded = A;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool chooses = false;

    template <class T>
    auto map_at(std::uint64_t first) const {
        return global_map<Map, T>(map, first);
    }
    template <class In>
    identity_result result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const A& total) const { return initial == nullptr ? total : static_cast<A>(more(*initial, total)); }

    Map map;
    Op op, more;
    const A* initial; // nullptr: none
};

// The same for an operation without an identity, which has an initial value.
template <class A, class Map, class Op>
struct chunked_optional_fold {
    using folded = optional_value<A>;
    using value = A;
    static constexpr bool continues = true;
    static constexpr bool chooses = false;

    struct present { // a chunk is never empty
        WARPFOLD_HD constexpr A operator()(const optional_value<A>& x) const { return x.value; }
    };

    template <class T>
    auto map_at(std::uint64_t first) const {
        const auto inner = global_map<Map, T>(map, first);
        return optional_map<std::remove_cv_t<decltype(inner)>, A>{inner};
    }
    template <class In>
    present result_at(const In&, std::uint64_t) const {
        return {};
    }
    A last(const optional_value<A>& total) const {
        return total.has_value ? static_cast<A>(more(*initial, total.value)) : *initial;
    }

    Map map;
    optional_operation<Op> op;
    Op more;
    const A* initial;
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
struct chunked_extremes_fold : chunked_plain_fold<extremes<T>, extremes_map<T>, extremes_operation> {
    static constexpr bool chooses = true;
};

// arg_min and arg_max.
template <bool Smallest, class T>
struct chunked_arg_fold {
    using fold = arg_fold<Smallest, T>;
    using folded = typename fold::folded;
    using value = located<T>;
    static constexpr bool continues = false;
    static constexpr bool chooses = true;

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

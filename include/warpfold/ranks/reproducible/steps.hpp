// SPDX-License-Identifier: MIT
// What a target does at the leaves and nodes of a tree (tree.hpp), for indices of the rank's part:
//   node               the type of a node's value
//   leaf(k)            that of an element; leaf_of(x, k): that of element k, which is x
//   join(a, b)         that of a node, of its halves
//   emit(k, leaf, prefix, has_prefix)   writes the result of a scan
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/ranks/reproducible/tree.hpp"

namespace warpfold::detail {

template <class A, class In, class Map, class Op>
struct fold_step {
    using node = A;

    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD A leaf_of(const T& x, std::uint64_t k) const {
        return static_cast<A>(detail::mapped(map, x, k));
    }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD A leaf(std::uint64_t k) const { return leaf_of(in[k], k); }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD A join(const A& a, const A& b) const { return static_cast<A>(op(a, b)); }

    In in;
    Map map;
    Op op;
};
template <class A, class In, class Out, class Map, class Op, class How>
struct scan_step : fold_step<A, In, Map, Op> {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD void emit(std::uint64_t k, const A& leaf, const A& prefix, bool has_prefix) const {
        write(k, leaf, prefix, has_prefix);
    }
    // The initial value comes last: op(first, fold of the elements).
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD void write(std::uint64_t k, const A& x, const A& prefix, bool has_prefix) const {
        A value{};
        if constexpr (How::inclusive) {
            value = has_prefix ? this->join(prefix, x) : x;
            if constexpr (How::has_first) {
                value = this->join(how.first, value);
            }
        } else {
            value = has_prefix ? this->join(how.first, prefix) : how.first;
        }
        if constexpr (std::is_void_v<written_t<Out>>) {
            out[k] = detail::with_one_nan(value);
        } else {
            out[k] = static_cast<written_t<Out>>(detail::with_one_nan(value));
        }
    }

    Out out;
    How how;
};

// The options of a scan for a step, which gets the segments as flags.
template <class How>
struct step_options {
    static constexpr bool inclusive = How::inclusive, has_first = How::has_first;

    std::remove_cv_t<decltype(How::first)> first;
};

struct no_flags {
    WARPFOLD_HD constexpr bool operator[](std::uint64_t /*k*/) const { return false; }
};

// The fold of the elements that are in the same segment as the next one.
template <class A>
struct open_segment {
    A value;
    std::uint32_t there;  // 0: no such element
    std::uint32_t closed; // not 0: a segment begins or ends inside. Words: no padding beside values of 4 or 8 bytes
};

// A flag before an element begins a segment; one behind it, as a reversed scan has them, ends it.
template <bool Behind, class A, class In, class Out, class Map, class Op, class Flags, class How>
struct segmented_step {
    using node = open_segment<A>;

    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD node leaf_of(const T& x, std::uint64_t k) const {
        const bool flag = static_cast<bool>(flags[k]);
        return {scan.leaf_of(x, k), Behind && flag ? 0u : 1u, flag ? 1u : 0u};
    }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD node leaf(std::uint64_t k) const { return leaf_of(scan.in[k], k); }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD node join(const node& a, const node& b) const {
        if (b.closed != 0 || a.there == 0) {
            return {b.value, b.there, a.closed | b.closed};
        }
        return {b.there != 0 ? scan.join(a.value, b.value) : a.value, 1, a.closed};
    }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD void emit(std::uint64_t k, const node& leaf, const node& prefix, bool has_prefix) const {
        scan.write(k, leaf.value, prefix.value, has_prefix && prefix.there != 0 && (Behind || leaf.closed == 0));
    }

    scan_step<A, In, Out, Map, Op, How> scan;
    Flags flags;
};

} // namespace warpfold::detail

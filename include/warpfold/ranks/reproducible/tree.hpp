// SPDX-License-Identifier: MIT
// The order of reproducible folds: a binary tree over the indices of the whole array. A node of level l holds the elements
// [k 2^l, (k + 1) 2^l), and its value is op(left half, right half). The prefix of index i is the fold, from the left, of
// the largest nodes that make up [0, i). Neither depends on the split or the target. (Decision 45.)
//
// A rank cuts its part into nodes, its pieces. The nodes that pieces grow together to are gathered: at most two a level.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

struct tree_node {
    std::uint64_t first;
    unsigned level;
};

// The largest node of at most `most` levels that begins at `first` and ends at `end` or before; first < end.
WARPFOLD_HD constexpr tree_node node_at(std::uint64_t first, std::uint64_t end, unsigned most) {
    unsigned level = 0;
    while (level < most && (first >> level & 1) == 0 && (std::uint64_t{2} << level) <= end - first) {
        ++level;
    }
    return {first, level};
}

// Elements [first, end) as nodes of at most `level` levels, from the left: short ones, whole ones, short ones.
class tree_pieces {
public:
    WARPFOLD_HD tree_pieces(std::uint64_t first, std::uint64_t end, unsigned level)
        : first_(first), end_(end), level_(level) {
        whole_ = first;
        while (whole_ != end && detail::node_at(whole_, end, level).level != level) {
            whole_ += std::uint64_t{1} << detail::node_at(whole_, end, level).level;
            ++before_;
        }
        wholes_ = (end - whole_) >> level;
        count_ = before_ + wholes_;
        for (std::uint64_t at = whole_ + (wholes_ << level); at != end; ++count_) {
            at += std::uint64_t{1} << detail::node_at(at, end, level).level;
        }
    }
    [[nodiscard]] WARPFOLD_HD std::uint64_t count() const { return count_; }
    // At most, of n elements.
    static std::uint64_t most(std::uint64_t n, unsigned level) { return (n >> level) + 2 * std::uint64_t{level}; }
    // The piece that begins with element `at`.
    [[nodiscard]] WARPFOLD_HD std::uint64_t index_of(std::uint64_t at) const {
        const std::uint64_t after = whole_ + (wholes_ << level_);
        if (at >= whole_ && at < after) {
            return before_ + ((at - whole_) >> level_);
        }
        std::uint64_t k = at < whole_ ? 0 : before_ + wholes_;
        for (std::uint64_t from = at < whole_ ? first_ : after; from != at; ++k) {
            from += std::uint64_t{1} << detail::node_at(from, end_, level_).level;
        }
        return k;
    }
    [[nodiscard]] WARPFOLD_HD tree_node operator[](std::uint64_t k) const {
        std::uint64_t at = first_, left = k;
        if (k >= before_) {
            const std::uint64_t wholes = k - before_ < wholes_ ? k - before_ : wholes_;
            at = whole_ + (wholes << level_);
            left = k - before_ - wholes;
        }
        for (; left != 0; --left) {
            at += std::uint64_t{1} << detail::node_at(at, end_, level_).level;
        }
        return detail::node_at(at, end_, level_);
    }

private:
    std::uint64_t first_, end_, whole_ = 0;
    unsigned level_;
    std::uint64_t before_ = 0, wholes_ = 0, count_ = 0;
};

// Nodes that follow each other; two halves of a node become the node.
template <class V, unsigned Room = 128>
class tree_stack {
public:
    constexpr tree_stack() = default;
    // `before`: the prefix of the first node that will be pushed.
    WARPFOLD_HD tree_stack(const V& before, bool has_before) : before_(before), has_before_(has_before) {}

    // Whether anything precedes what is pushed next, and its fold.
    [[nodiscard]] WARPFOLD_HD bool has_prefix() const { return top_ != 0 || has_before_; }
    [[nodiscard]] WARPFOLD_HD const V& prefix() const { return top_ != 0 ? prefix_[top_ - 1] : before_; }

    WARPFOLD_CALLS_ANY
    template <class Step>
    WARPFOLD_HD void push(const tree_node& node, V value, const Step& step) {
        unsigned level = node.level;
        while (top_ != 0 && level_[top_ - 1] == level && (node.first >> level & 1) != 0) {
            value = step.join(value_[--top_], value);
            ++level;
        }
        prefix_[top_] = has_prefix() ? step.join(prefix(), value) : value;
        value_[top_] = value;
        level_[top_++] = level;
    }
    [[nodiscard]] WARPFOLD_HD unsigned size() const { return top_; }
    [[nodiscard]] WARPFOLD_HD const V& value(unsigned k) const { return value_[k]; }

private:
    V value_[Room]{}, prefix_[Room]{}; // prefix_[k]: of what follows node k
    unsigned level_[Room]{}, top_ = 0;
    V before_{};
    bool has_before_ = false;
};

// How many nodes the elements [first, end) are at least: those that the pieces grow together to.
inline std::size_t count_nodes(std::uint64_t first, std::uint64_t end) {
    std::size_t count = 0;
    for (; first != end; ++count) {
        first += std::uint64_t{1} << detail::node_at(first, end, 63).level;
    }
    return count;
}

// Levels of the nodes that a target folds in its fastest memory, within `bytes`; at most 2^10 elements.
template <class V>
constexpr unsigned block_levels(std::size_t bytes) {
    unsigned level = 10;
    while (level > 0 && (sizeof(V) << level) > bytes) {
        --level;
    }
    return level;
}

// Levels of pieces: some thousands of them, to keep threads busy and what passes through one thread short.
inline unsigned piece_levels(std::uint64_t n, unsigned block) {
    return std::max<unsigned>(block, static_cast<unsigned>(std::bit_width(n >> 12)));
}

// Processors differ in the bits of a NaN.
template <class A>
struct quiet_nan {
    static constexpr A value = std::numeric_limits<A>::quiet_NaN();
};
template <class A>
WARPFOLD_HD constexpr A with_one_nan(const A& x) {
    if constexpr (std::is_floating_point_v<A>) {
        return x == x ? x : quiet_nan<A>::value;
    } else {
        return x;
    }
}
template <class T>
WARPFOLD_HD constexpr extremes<T> with_one_nan(const extremes<T>& x) {
    return {detail::with_one_nan(x.smallest), detail::with_one_nan(x.largest)};
}

} // namespace warpfold::detail

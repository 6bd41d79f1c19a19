// SPDX-License-Identifier: MIT
// Floating-point sums of many parts. Parts are added in pairs, pairs in pairs and so on, so that rounding errors grow with
// the logarithm of the number of parts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "warpfold/operation.hpp"

namespace warpfold::detail {

// True if `Op` adds numbers of type A and rounds.
template <class Op, class A>
inline constexpr bool rounded_sum_v = std::is_same_v<Op, sum>&& std::is_floating_point_v<A>;

// Of sums that round: rows that are added in order.
inline constexpr std::uint64_t rows_of_block = 32;

// Rows of up to Most numbers, added in pairs; from 2^(Levels - 1) rows on, groups of so many are added in order.
template <class A, std::uint64_t Most, unsigned Levels>
class pairwise_rows {
public:
    explicit pairwise_rows(std::uint64_t width = Most) : width_(width) {}

    // Changes `row`.
    [[gnu::always_inline]] void add(A* row) {
        const auto level = static_cast<unsigned>(std::countr_one(held_));
        for (unsigned l = 0; l < level; ++l) {
            add_before(l, row);
        }
        std::copy_n(row, width_, sums_[std::min(level, Levels - 1)]);
        held_ = level == Levels ? std::uint64_t{1} << (Levels - 1) : held_ + 1;
    }
    void clear() { held_ = 0; }
    // Adds all rows to `row`, which is behind them.
    [[gnu::always_inline]] void add_to(A* row) const {
        for (std::uint64_t rest = held_; rest != 0; rest &= rest - 1) {
            add_before(static_cast<unsigned>(std::countr_zero(rest)), row);
        }
    }

private:
    [[gnu::always_inline]] void add_before(unsigned level, A* row) const {
        for (std::uint64_t k = 0; k < width_; ++k) {
            row[k] = sums_[level][k] + row[k];
        }
    }

    std::uint64_t width_, held_ = 0; // bits: levels that hold a sum
    A sums_[Levels][Most];
};

// Rows of up to Most numbers that are folded into one. Of sums that round, blocks of rows are added in order, blocks in pairs, and
// groups of 2^(Levels - 1) blocks in order.
template <class A, class Op, std::uint64_t Most, unsigned Levels = 4>
class joined_rows {
public:
    // `total`: `width` numbers, the result in the end.
    joined_rows(A* total, std::uint64_t width) : total_(total), width_(width), blocks_(width) {
        std::fill_n(total, width, Op::template identity<A>());
    }

    // fold(first, count, to) folds rows [first, first + count) of these into `to`.
    template <class Fold>
    [[gnu::always_inline]] void add(std::uint64_t rows, const Fold& fold) {
        if constexpr (rounded_sum_v<Op, A>) {
            for (std::uint64_t first = 0; first != rows;) {
                if (held_ == rows_of_block) {
                    blocks_.add(total_);
                    std::fill_n(total_, width_, A{});
                    held_ = 0;
                }
                const std::uint64_t count = std::min(rows - first, rows_of_block - held_);
                fold(first, count, total_);
                first += count;
                held_ += count;
            }
        } else {
            fold(0, rows, total_);
        }
    }
    [[gnu::always_inline]] void finish() {
        if constexpr (rounded_sum_v<Op, A>) {
            blocks_.add_to(total_);
        }
    }

private:
    struct nothing {
        explicit nothing(std::uint64_t /*width*/) {}
    };

    A* const total_;
    const std::uint64_t width_;
    std::uint64_t held_ = 0; // rows in `total`
    [[no_unique_address]] std::conditional_t<rounded_sum_v<Op, A>, pairwise_rows<A, Most, Levels>, nothing> blocks_;
};

// The fold of parts in their order; sums that round are added in pairs.
template <class A, class Op>
class joined_parts {
public:
    explicit joined_parts(const Op& op) : op_(op) {}

    void add(A part) {
        if constexpr (rounded_sum_v<Op, A>) {
            rows_.add(&part);
        } else {
            total_ = op_(total_, part);
        }
    }
    void clear() {
        total_ = Op::template identity<A>();
        if constexpr (rounded_sum_v<Op, A>) {
            rows_.clear();
        }
    }
    [[nodiscard]] A total() const {
        A total = total_;
        if constexpr (rounded_sum_v<Op, A>) {
            rows_.add_to(&total);
        }
        return total;
    }

private:
    struct nothing {};

    const Op& op_;
    A total_ = Op::template identity<A>();
    [[no_unique_address]] std::conditional_t<rounded_sum_v<Op, A>, pairwise_rows<A, 1, 48>, nothing> rows_;
};

} // namespace warpfold::detail

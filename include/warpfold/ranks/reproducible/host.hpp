// SPDX-License-Identifier: MIT
// Reproducible folds and scans of a rank's part on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "warpfold/detail/scan_options.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/ranks/reproducible/tree.hpp"

namespace warpfold::detail {

// What a target does with the pieces of a part that begins with element `first` of the whole array:
//   block                               levels of its blocks
//   fold(on, step, pieces, first)       the values of all pieces
//   scan(on, step, pieces, first, prefixes)   the results; only element 0 of the whole array has no prefix
//   set_flags(on, flags, segments, n)         flags[k] = whether one of the offsets is k
template <class On>
struct rank_tree;

template <class V>
struct tree_block {
    static constexpr unsigned levels = detail::block_levels<V>(std::size_t{1} << 14);
    static constexpr std::size_t most = std::size_t{1} << levels;

    // The value of the 2^level leaves from `at` on.
    template <class Step>
    V fold(const Step& step, std::uint64_t at, unsigned level) {
        return level == levels ? fold_leaves(step, at, most) : fold_leaves(step, at, std::size_t{1} << level);
    }
    // Writes their results, and returns the same.
    template <class Step>
    V scan(const Step& step, std::uint64_t at, unsigned level, const V& before, bool has_before) {
        const std::size_t n = std::size_t{1} << level;
        for (std::size_t k = 0; k < n; ++k) {
            node_[k] = step.leaf(at + k);
        }
        V* of = node_;
        for (std::size_t w = n; w > 1; w /= 2) {
            join_pairs(step, of, of + w, w / 2);
            of += w;
        }
        const V total = *of;
        const std::size_t start = has_before ? 0 : 1; // the first node of a level has no prefix then
        V *from = one_, *to = two_;
        from[0] = before;
        for (std::size_t w = 1; w < n; w *= 2) {
            of -= 2 * w;
            if (!has_before) {
                to[0] = before;
                to[1] = of[0];
            }
            for (std::size_t k = start; k < w; ++k) {
                to[2 * k] = from[k];
                to[2 * k + 1] = step.join(from[k], of[2 * k]);
            }
            std::swap(from, to);
        }
        if (!has_before) {
            step.emit(at, node_[0], before, false);
        }
        for (std::size_t k = start; k < n; ++k) {
            step.emit(at + k, node_[k], from[k], true);
        }
        return total;
    }

private:
    template <class Step>
    static void join_pairs(const Step& step, const V* from, V* to, std::size_t n) {
        for (std::size_t k = 0; k < n; ++k) {
            to[k] = step.join(from[2 * k], from[2 * k + 1]);
        }
    }
    template <class Step>
    V fold_leaves(const Step& step, std::uint64_t at, std::size_t n) {
        if (n == 1) {
            return step.leaf(at);
        }
        for (std::size_t k = 0; k < n / 2; ++k) {
            one_[k] = step.join(step.leaf(at + 2 * k), step.leaf(at + 2 * k + 1));
        }
        V *from = one_, *to = two_;
        for (std::size_t w = n / 2; w > 1; w /= 2) {
            join_pairs(step, from, to, w / 2);
            std::swap(from, to);
        }
        return *from;
    }

    V node_[2 * most], one_[most], two_[most];
};

template <>
struct rank_tree<host> {
    template <class V>
    static constexpr unsigned block = tree_block<V>::levels;

    template <class Step>
    static auto fold(const host& on, const Step& step, const tree_pieces& pieces, std::uint64_t first) {
        using V = typename Step::node;
        std::vector<V> values(pieces.count());
        each_piece<V>(on, pieces, [&](tree_block<V>& memory, std::uint64_t k, const tree_node& piece) {
            tree_stack<V, 64> nodes;
            each_block<V>(piece, [&](const tree_node& part) {
                nodes.push(part, memory.fold(step, part.first - first, part.level), step);
            });
            values[k] = nodes.value(0);
        });
        return values;
    }
    template <class Step>
    static void scan(const host& on, const Step& step, const tree_pieces& pieces, std::uint64_t first,
                     const std::vector<typename Step::node>& prefixes) {
        using V = typename Step::node;
        each_piece<V>(on, pieces, [&](tree_block<V>& memory, std::uint64_t k, const tree_node& piece) {
            tree_stack<V, 64> nodes(prefixes[k], piece.first != 0);
            each_block<V>(piece, [&](const tree_node& part) {
                nodes.push(part, memory.scan(step, part.first - first, part.level, nodes.prefix(), nodes.has_prefix()),
                           step);
            });
        });
    }
    template <class Begins>
    static void set_flags(const host& /*on*/, std::uint8_t* flags, const offsets<Begins>& of, std::uint64_t n) {
        std::fill_n(flags, n, std::uint8_t{0});
        for (std::uint64_t k = 0; k < of.count; ++k) {
            if (const auto begin = static_cast<std::uint64_t>(of.begins[k]); begin < n) {
                flags[begin] = 1;
            }
        }
    }

private:
    template <class V, class Work>
    static void each_piece(const host& on, const tree_pieces& pieces, const Work& work) {
        detail::parallel_claims(on.threads, pieces.count(), [&](auto&& claim) {
            std::vector<tree_block<V>> memory(1);
            for (std::uint64_t k = 0; claim(k);) {
                work(memory[0], k, pieces[k]);
            }
        });
    }
    template <class V, class Work>
    static void each_block(const tree_node& piece, const Work& work) {
        const unsigned level = std::min(piece.level, block<V>);
        for (std::uint64_t k = 0; k < std::uint64_t{1} << (piece.level - level); ++k) {
            work(tree_node{piece.first + (k << level), level});
        }
    }
};

} // namespace warpfold::detail

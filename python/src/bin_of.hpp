// SPDX-License-Identifier: MIT
// Which bin a sample is in, by NumPy's rules: on the host and on a GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "python/src/array.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::python {

// work(E{}) with the type that samples and edges are compared in.
template <class Work>
void with_edge_type(const array& edges, const Work& work) {
    switch (edges.type) {
    case element::int64: return work(std::int64_t{});
    case element::uint64: return work(std::uint64_t{});
    default: return work(double{});
    }
}

// Where searches begin for bins of unequal width. The range is divided into cells of equal width. The samples of a cell are in
// some of span() bins from one that is stored; there are as many for all cells, so that all searches take the same steps.
template <class E>
class cells_of_bins {
public:
    cells_of_bins(const E* edges, std::uint64_t bins)
        : low_(static_cast<double>(edges[0])),
          cells_(std::bit_ceil(std::clamp<std::uint64_t>(4 * bins, least_cells, most_cells))),
          first_(cells_ + 1) {
        const double per_width = static_cast<double>(cells_) / (static_cast<double>(edges[bins]) - low_);
        per_width_ = std::isfinite(per_width) ? per_width : 0;
        std::uint64_t edge = 1;
        for (std::uint64_t cell = 0; cell <= cells_; ++cell) {
            const std::uint64_t before = edge;
            while (edge < bins && cell_of(edges[edge]) == cell) {
                ++edge;
            }
            first_[cell] = static_cast<std::uint32_t>(before - 1);
            span_ = std::max(span_, edge - before + 1);
        }
        for (std::uint32_t& bin : first_) {
            bin = static_cast<std::uint32_t>(std::min<std::uint64_t>(bin, bins - span_));
        }
    }
    // Of a sample between the edges.
    [[nodiscard]] std::uint64_t first(E x) const { return first_[cell_of(x)]; }
    [[nodiscard]] std::uint64_t span() const { return span_; }

private:
    static constexpr std::uint64_t least_cells = 64, most_cells = std::uint64_t{1} << 16; // of 4 bytes

    // It does not decrease with x. NaN: the range is infinite, and x infinitely far from its beginning.
    [[nodiscard]] std::uint64_t cell_of(E x) const {
        const double at = (static_cast<double>(x) - low_) * per_width_, last = static_cast<double>(cells_);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(at < last ? at : last));
    }

    double low_, per_width_ = 0;
    std::uint64_t cells_, span_ = 1;
    std::vector<std::uint32_t> first_;
};

// The bin of a sample between edges, of which there is one more than bins. The last edge belongs to the last bin. NaN
// has no bin. Edges are kept as Stored, where they have the same values.
template <class E, class Stored = E>
class between {
public:
    // Of edges in host memory.
    between(const Stored* edges, std::uint64_t bins)
        : edges_(edges), bins_(bins), first_(edges[0]), last_(edges[bins]) {
        const double width = static_cast<double>(last_) - static_cast<double>(first_);
        per_width_ = width > 0 && std::isfinite(width) ? static_cast<double>(bins) / width : 0;
    }

    // The same for a GPU, with the edges at another place.
    template <class There>
    [[nodiscard]] between<E, There> at(const There* edges) const {
        const double more = static_cast<double>(bins_) * 0x1p-50; // than a compiler's fused operations change
        return {edges, bins_, first_, last_, per_width_, misfit() + more};
    }
    // The same on the host, with a table that outlives it.
    [[nodiscard]] between with(const cells_of_bins<E>& cells) const {
        between found = *this;
        found.cells_ = &cells;
        return found;
    }
    // How far the place of an edge is from its number, at most.
    [[nodiscard]] double misfit() const {
        double off = 0;
        for (std::uint64_t k = 0; k <= bins_; ++k) {
            off = std::max(off, std::abs(place(edges_[k]) - static_cast<double>(k)));
        }
        return off;
    }
    [[nodiscard]] WARPFOLD_HD std::uint64_t bins() const { return bins_; }

    template <class S>
    WARPFOLD_HD std::int64_t operator()(S sample) const {
        const E x = static_cast<E>(sample);
        if (!(x >= first_ && x <= last_)) {
            return no_bin;
        }
#ifndef __CUDA_ARCH__
        if (cells_ != nullptr) {
            return static_cast<std::int64_t>(last_not_above(x, cells_->first(x), cells_->span()));
        }
#endif
        const double at = place(x);
        const std::uint64_t guess = at < static_cast<double>(bins_) ? static_cast<std::uint64_t>(at) : bins_ - 1;
#ifdef __CUDA_ARCH__ // where edges are far away, and a branch costs little
        const double into = at - static_cast<double>(guess);
        if (into > off_ && into < 1 - off_) {
            return static_cast<std::int64_t>(guess);
        }
#endif
        if (x >= edges_[guess] && x < edges_[guess + 1]) {
            return static_cast<std::int64_t>(guess);
        }
        return static_cast<std::int64_t>(last_not_above(x, 0, bins_));
    }

private:
    template <class, class>
    friend class between;

    between(const Stored* edges, std::uint64_t bins, E first, E last, double per_width, double off)
        : edges_(edges), bins_(bins), first_(first), last_(last), per_width_(per_width), off_(off) {}

    // The last of `count` bins from `low` on whose lower edge is not above x; that of `low` is not.
    WARPFOLD_HD std::uint64_t last_not_above(E x, std::uint64_t low, std::uint64_t count) const {
        for (; count > 1; count -= count / 2) { // no branches, which samples in no order mispredict
            low += x >= edges_[low + count / 2] ? count / 2 : 0;
        }
        return low;
    }
    // In bins, if all had the same width. It does not decrease with x.
    WARPFOLD_HD double place(E x) const { return (static_cast<double>(x) - static_cast<double>(first_)) * per_width_; }

    const Stored* edges_;
    std::uint64_t bins_;
    E first_, last_;
    double per_width_;
    double off_ = 0; // misfit() and more: places farther from a whole number need no look at edges
    const cells_of_bins<E>* cells_ = nullptr;
};

// Whether an edge is before the place of x: it is less, or, unless `less`, less or equal. All edges are before NaN.
template <class E>
WARPFOLD_HD bool is_before(E edge, E x, bool less) {
    return less ? !(edge >= x) : !(edge > x);
}

// The number of `count` sorted edges before the place of x. No edge is NaN.
template <class E>
WARPFOLD_HD std::int64_t rank_between(const E* edges, std::uint64_t count, bool less, E x) {
    if (count == 0) {
        return 0;
    }
    std::uint64_t low = 0; // edges before `low` are before the place, those from low + count on are not
    for (; count > 1; count -= count / 2) { // without branches, which samples in no order mispredict
        low += is_before(edges[low + count / 2 - 1], x, less) ? count / 2 : 0;
    }
    return static_cast<std::int64_t>(low + (is_before(edges[low], x, less) ? 1 : 0));
}

// The place of a point in a grid with one more coordinate, in `bin` of `bins`; -1 for none.
WARPFOLD_HD inline std::int64_t place_in_grid(std::int64_t place, std::int64_t bin, std::int64_t bins) {
    return place < 0 || bin < 0 ? -1 : place * bins + bin;
}

struct by_value {
    template <class S>
    WARPFOLD_HD S operator()(S x) const {
        return x;
    }
};

} // namespace warpfold::python

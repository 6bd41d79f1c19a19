// SPDX-License-Identifier: MIT
// A table in shared memory that gives the edges near a sample. A monotone function maps samples and edges to cells. All
// edges of lower cells are below the sample, all edges of higher cells above it, so only the edges of its own cell are
// compared. The bins are those of bisection; the number of edges per cell affects the time only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/bins/even_bins.hpp"

namespace warpfold::detail {

// The most edges of a table.
inline constexpr unsigned most_table_edges = 1u << 20;

// Edges of type T, samples of type S.
template <class S, class T>
class edge_table {
public:
    // `entries` has `cells` words; edges[0 .. bins] are in shared memory, before a barrier. All threads of the block
    // call it. The table is complete when it returns.
    __device__ edge_table(unsigned* entries, unsigned cells, const T* edges, std::uint32_t bins)
        : entries_(entries), edges_(edges), count_(bins + 1), last_(cells - 1) {
        place();
        // The first edge of a cell: edges of lower cells come before it.
        for (unsigned cell = threadIdx.x; cell < cells; cell += blockDim.x) {
            unsigned from = 0, to = count_;
            while (from < to) {
                const unsigned middle = (from + to) / 2;
                if (cell_of(guide(edges_[middle])) < cell) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            entries_[cell] = from;
        }
        __syncthreads();
        unsigned crowded = 0;
        for (unsigned first = 0; first < cells; first += blockDim.x) {
            const unsigned cell = first + threadIdx.x;
            unsigned begin = 0, end = 0;
            if (cell < cells) {
                begin = entries_[cell];
                end = cell < last_ ? entries_[cell + 1] : count_;
            }
            const unsigned here = end - begin;
            crowded += static_cast<unsigned>(__syncthreads_count(here > 1));
            if (cell < cells) {
                entries_[cell] = begin << count_bits | (here > 1 ? crowd : 0) | (here < many ? here : many);
            }
        }
        __syncthreads();
        sparse_ = crowded <= cells / 64;
    }
    // True if hardly any cell has more than one edge.
    [[nodiscard]] __device__ bool sparse() const { return sparse_; }

    // below_or_at() if hardly any cell has more than one edge: one comparison, with the first edge not in a lower cell.
    template <unsigned Count>
    __device__ void below_or_at_sparse(const S (&x)[Count], unsigned (&at)[Count]) const {
        unsigned all = 0;
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            at[j] = entries_[cell_of(guide(x[j]))];
            all |= at[j];
        }
        if ((all & crowd) != 0) {
            below_or_at(x, at);
            return;
        }
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) { // after the last edge the result is no bin
            at[j] >>= count_bits;
            at[j] += at_least(x[j], edges_[min(at[j], count_ - 1)]) ? 1 : 0;
        }
    }

    // The number of edges not above each sample; 0 for NaN.
    template <unsigned Count>
    __device__ void below_or_at(const S (&x)[Count], unsigned (&at)[Count]) const {
        unsigned end[Count];
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            const unsigned entry = entries_[cell_of(guide(x[j]))];
            at[j] = entry >> count_bits;
            end[j] = (entry & many) == many ? count_ : at[j] + (entry & many);
        }
        const auto any_left = [&] {
            bool left = false;
#pragma unroll
            for (unsigned j = 0; j < Count; ++j) {
                left = left || at[j] != end[j];
            }
            return left;
        };
        while (any_left()) {
#pragma unroll
            for (unsigned j = 0; j < Count; ++j) { // once the range is empty, nothing changes
                const unsigned middle = (at[j] + end[j]) / 2;
                const bool above = middle < count_ && at_least(x[j], edges_[min(middle, count_ - 1)]);
                at[j] = above ? middle + 1 : at[j];
                end[j] = above ? end[j] : middle;
            }
        }
    }

private:
    static constexpr unsigned count_bits = 12, crowd = 1u << (count_bits - 1), many = crowd - 1;

    // A sample or an edge as a float, monotone in the type in which both are compared.
    template <class X>
    __device__ static float guide(const X& x) {
        if constexpr (std::is_integral_v<S> && std::is_integral_v<T>) {
            return static_cast<float>(x);
        } else {
            return static_cast<float>(static_cast<std::common_type_t<S, T>>(x));
        }
    }

    // Cells of equal width between the lowest and the highest finite edge, or cells of equally many floats if fewer
    // edges share a cell then.
    __device__ void place() {
        const float infinity = __int_as_float(0x7f800000);
        const auto first_not_below = [&](float x,
                                         bool or_at) { // index of the first edge >= x, or > x
            unsigned from = 0, to = count_;
            while (from < to) {
                const unsigned middle = (from + to) / 2;
                const auto edge = guide(edges_[middle]);
                if (edge < x || (or_at && edge == x)) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            return from;
        };
        const unsigned low = first_not_below(-infinity, true), beyond = first_not_below(infinity, false);
        lower_ = low < count_ ? guide(edges_[low]) : 0.0f;
        const float upper = beyond > low ? guide(edges_[beyond - 1]) : lower_;
        lower_ = lower_ - lower_ == 0 ? lower_ : 0.0f;
        const float width = __fsub_rn(upper, lower_);
        per_width_ =
            width < infinity ? __fdiv_rn(1.0f, width) : __fdiv_rn(0.5f, __fsub_rn(upper * 0.5f, lower_ * 0.5f));
        per_width_ = per_width_ < infinity ? per_width_ : __int_as_float(0x7f7fffff); // width 0: NaN or infinity
        lower_bits_ = ordered(lower_);
        const unsigned bits = ordered(upper) - lower_bits_;
        per_bits_ =
            bits <= last_
                ? 0xffffffffu
                : static_cast<unsigned>((static_cast<std::uint64_t>(last_ + 1) << 32) / (std::uint64_t{bits} + 1));
        unsigned met[2] = {0, 0};
        for (unsigned kind = 0; kind < 2; ++kind) {
            by_bits_ = kind == 1;
            for (unsigned first = 1; first < count_; first += blockDim.x) {
                const unsigned k = first + threadIdx.x;
                const bool together = k < count_ && cell_of(guide(edges_[k < count_ ? k : 0])) ==
                                                        cell_of(guide(edges_[k < count_ ? k - 1 : 0]));
                met[kind] += static_cast<unsigned>(__syncthreads_count(together));
            }
        }
        by_bits_ = met[1] * 2 < met[0];
    }

    // Monotone in x; the same for both zeros.
    __device__ static unsigned ordered(float x) {
        const int bits = __float_as_int(__fadd_rn(x, 0.0f));
        return static_cast<unsigned>(bits ^ ((bits >> 31) & 0x7fffffff)) ^ 0x80000000u;
    }
    // Monotone in x. NaN is in the lowest cell, and no edge is below or at it.
    __device__ unsigned cell_of(float x) const {
        if (by_bits_) {
            const unsigned place = x == x ? ordered(x) : 0;
            return min(__umulhi(max(place, lower_bits_) - lower_bits_, per_bits_), last_);
        }
        const float part = __saturatef(__fmul_rn(__fsub_rn(x, lower_), per_width_));                // 0 for NaN
        return __float_as_uint(__fmaf_rn(part, static_cast<float>(last_), 8388608.0f)) & 0x7fffffu; // rounded
    }

    unsigned* entries_; // per cell: index of its first edge, number of its edges
    const T* edges_;
    unsigned count_, last_;
    float lower_, per_width_;
    unsigned lower_bits_, per_bits_;
    bool by_bits_;
    bool sparse_;
};

} // namespace warpfold::detail

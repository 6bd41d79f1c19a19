// SPDX-License-Identifier: MIT
// Which of sorted edges lie near a sample, told by a table in shared memory. The range of the edges is cut into cells,
// by a function of a sample that never falls where the sample rises; so all edges of a lower cell are below it, all of
// a higher one above, and only those of its own cell are left to be compared with. Whatever the edges are, what comes
// out is the same as by bisection over all of them; how many fall into one cell decides about the time alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/even_bins.hpp"

namespace warpfold::detail {

// Edges that a table can be made for.
inline constexpr unsigned most_table_edges = 1u << 20;

// Of edges of type T, for samples of type S.
template <class S, class T>
class edge_table {
public:
    // `entries` has room for `cells` words, and edges[0 .. bins] are in shared memory, as written before a barrier. All
    // threads of the block call it; the table is there when it returns.
    __device__ edge_table(unsigned* entries, unsigned cells, const T* edges, std::uint32_t bins)
        : entries_(entries), edges_(edges), count_(bins + 1), last_(cells - 1) {
        place();
        // A cell's edges begin where those of a higher place than the cell below begin.
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
    // Whether hardly any cell has more than one edge.
    [[nodiscard]] __device__ bool sparse() const { return sparse_; }

    // The same as below_or_at, where hardly any cell has more than one edge: the first one, which may be one of a
    // higher cell, is all that there is to be compared with.
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
        for (unsigned j = 0; j < Count; ++j) { // behind the last edge there is none, and what comes of it no bin either
            at[j] >>= count_bits;
            at[j] += at_least(x[j], edges_[min(at[j], count_ - 1)]) ? 1 : 0;
        }
    }

    // How many edges are no larger than each of some samples; 0 for NaN.
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
            for (unsigned j = 0; j < Count;
                 ++j) { // where there is nothing left, the next edge is above, and nothing changes
                const unsigned middle = (at[j] + end[j]) / 2;
                const bool above = middle < count_ && at_least(x[j], edges_[min(middle, count_ - 1)]);
                at[j] = above ? middle + 1 : at[j];
                end[j] = above ? end[j] : middle;
            }
        }
    }

private:
    static constexpr unsigned count_bits = 12, crowd = 1u << (count_bits - 1), many = crowd - 1;

    // A sample or an edge as a float, which never falls where it rises in the type that the two are compared in.
    template <class X>
    __device__ static float guide(const X& x) {
        if constexpr (std::is_integral_v<S> && std::is_integral_v<T>) {
            return static_cast<float>(x);
        } else {
            return static_cast<float>(static_cast<std::common_type_t<S, T>>(x));
        }
    }

    // Cells of the same width between the lowest and the highest finite edge, or of the same number of floats, where
    // that brings fewer edges into a cell with others.
    __device__ void place() {
        const float infinity = __int_as_float(0x7f800000);
        const auto first_not_below = [&](float x,
                                         bool or_at) { // the first edge that is not below x, or not at it either
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
        per_width_ = per_width_ < infinity ? per_width_ : __int_as_float(0x7f7fffff); // no width: NaN or infinity
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

    // Larger ones of larger floats, and the same of both zeros.
    __device__ static unsigned ordered(float x) {
        const int bits = __float_as_int(__fadd_rn(x, 0.0f));
        return static_cast<unsigned>(bits ^ ((bits >> 31) & 0x7fffffff)) ^ 0x80000000u;
    }
    // No operation here falls where its operand rises. NaN is in the lowest cell, and no edge is below it or at it.
    __device__ unsigned cell_of(float x) const {
        if (by_bits_) {
            const unsigned place = x == x ? ordered(x) : 0;
            return min(__umulhi(max(place, lower_bits_) - lower_bits_, per_bits_), last_);
        }
        const float part = __saturatef(__fmul_rn(__fsub_rn(x, lower_), per_width_));                // 0 of NaN
        return __float_as_uint(__fmaf_rn(part, static_cast<float>(last_), 8388608.0f)) & 0x7fffffu; // rounded
    }

    unsigned* entries_; // of a cell: its first edge's index, and how many there are
    const T* edges_;
    unsigned count_, last_;
    float lower_, per_width_;
    unsigned lower_bits_, per_bits_;
    bool by_bits_;
    bool sparse_;
};

} // namespace warpfold::detail

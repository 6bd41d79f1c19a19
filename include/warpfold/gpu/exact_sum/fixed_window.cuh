// SPDX-License-Identifier: MIT
// One thread's window at its first place, for numbers of ordinary magnitude. The minimum and maximum magnitude of a
// warp's numbers decide, before anything is added, whether they fit the window. So no addition has to be undone, no
// remainder is checked, and levels that the numbers do not reach are skipped.
#pragma once

#include <cstdint>

#include "warpfold/gpu/exact_sum/block_accumulator.cuh"
#include "warpfold/gpu/exact_sum/window.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

template <class T, unsigned Factors>
class fixed_window {
public:
    using kind = window_parameters<T, Factors>;
    using integers = level_sums<kind::levels>;

    __device__ fixed_window() {
        window_.highest = kind::highest;
        window_.empty();
    }

    // Adds Count terms. Returns false, and adds nothing, if the window is full or a number of the warp does not fit.
    // The whole warp calls it.
    template <unsigned Count>
    __device__ bool add(const T (&x)[Factors][Count]) {
        double term[Count];
        magnitudes range;
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            term[j] = term_of(x[0][j], x[Factors - 1][j]);
            if constexpr (direct) {
                range.include(__float_as_uint(static_cast<float>(x[0][j])) & 0x7fffffffu);
            } else {
                range.include(upper(term[j]));
            }
        }
        if constexpr (!direct) {
            if (range.least == 0) { // a zero, or a number next to zero
                range.least = ~0u;
#pragma unroll
                for (unsigned j = 0; j < Count; ++j) {
                    const bool vanished = Factors == 2 && x[0][j] != 0 && x[Factors - 1][j] != 0;
                    range.least = min(range.least, term[j] == 0 && !vanished ? ~0u : upper(term[j]));
                }
            }
        }
        const bool top_level_or_full = range.top >= limit(1) || terms_ > exact_window_terms - Count * kind::terms;
        bool large = false, deep = range.least < needed(kind::levels - 2);
        if (__any_sync(warp::all_lanes, top_level_or_full || deep)) {
            if (__any_sync(warp::all_lanes, range.top >= limit(0) || range.least < needed(kind::levels - 1) ||
                                                terms_ > exact_window_terms - Count * kind::terms)) {
                return false;
            }
            large = __any_sync(warp::all_lanes, range.top >= limit(1));
            deep = __any_sync(warp::all_lanes, deep);
        }
        terms_ += Count * kind::terms;
        if constexpr (exact_pairs) {
            double error[Count];
#pragma unroll
            for (unsigned j = 0; j < Count; ++j) {
                error[j] = __fma_rn(x[0][j], x[Factors - 1][j], -term[j]);
            }
            if (large) {
                step<0>(term);
                step<1>(error);
            }
            step<1>(term);
            step<2>(term);
            step<3>(term); // complete unless the lowest level is needed
            step<2>(error);
            step<3>(error);
            step<4>(error);
            if (deep) {
                step<4>(term);
                last<kind::levels - 1>(term);
                last<kind::levels - 1>(error);
            }
        } else {
            if (large) {
                step<0>(term);
            }
            if constexpr (kind::levels == 4) {
                step<1>(term);
            }
            if (deep) {
                step<kind::levels - 2>(term);
                last<kind::levels - 1>(term);
            } else {
                last<kind::levels - 2>(term);
            }
        }
        return true;
    }

    // Moves the sums of the warp's windows to the block's limbs.
    __device__ void flush(block_accumulator<T, Factors>* block) {
        flush_window<T, Factors>(window_, block);
        window_.empty();
        terms_ = 0;
    }

    // True if there is no room for `count` more terms.
    __device__ bool full(unsigned count) const { return terms_ > exact_window_terms - count * kind::terms; }

    // The levels as integers.
    __device__ integers levels_as_integers() const {
        integers all;
#pragma unroll
        for (unsigned j = 0; j < kind::levels; ++j) {
            all.of[j] = window_.integer(j);
        }
        return all;
    }

private:
    static constexpr bool direct = sizeof(T) == 4 && Factors == 1;      // the magnitude of a float is its bits
    static constexpr bool exact_pairs = sizeof(T) == 8 && Factors == 2; // a term is a double and its error
    static_assert(kind::levels == (exact_pairs ? 6 : (direct ? 3 : 4)));

    // The smallest and the largest magnitude of some numbers: floats as their bits, doubles as their upper words. 1 is
    // subtracted from the smallest float, so zeros do not count.
    struct magnitudes {
        unsigned top = 0, least = ~0u;

        __device__ void include(unsigned bits) {
            top = max(top, bits);
            least = min(least, direct ? bits - 1 : bits);
        }
    };
    __device__ static unsigned upper(double x) { return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu; }

    // The lowest bit of level j.
    __host__ __device__ static constexpr int lowest_bit(unsigned j) {
        return kind::highest - exact_spacing * static_cast<int>(j);
    }
    // Level j takes numbers below this.
    __host__ __device__ static constexpr unsigned limit(unsigned j) {
        const auto reach = static_cast<unsigned>(lowest_bit(j) + exact_spacing - 1 + (direct ? 127 : 1023));
        return reach << (direct ? 23 : 20);
    }
    // Numbers not below this have no bits below those of level j, given the bits of a term.
    __host__ __device__ static constexpr unsigned needed(unsigned j) {
        constexpr int bits = direct ? 24 : (Factors == 1 ? 53 : (sizeof(T) == 4 ? 48 : 107));
        const auto least = static_cast<unsigned>(lowest_bit(j) + bits - 1 + (direct ? 127 : 1023));
        return (least << (direct ? 23 : 20)) - (direct ? 1 : 0);
    }

    __device__ static double term_of(T x, T y) {
        if constexpr (Factors == 1) {
            return as_double(x);
        } else {
            return __dmul_rn(as_double(x), as_double(y));
        }
    }
    // Level J takes its part of all numbers and leaves the remainders in x.
    template <unsigned J, unsigned Count>
    __device__ void step(double (&x)[Count]) {
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            const double with = __dadd_rn(window_.sum[J], x[j]);
            x[j] = __dsub_rn(x[j], __dsub_rn(with, window_.sum[J]));
            window_.sum[J] = with;
        }
    }
    // The same where nothing remains.
    template <unsigned J, unsigned Count>
    __device__ void last(const double (&x)[Count]) {
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            window_.sum[J] = __dadd_rn(window_.sum[J], x[j]);
        }
    }

    exact_window<kind::levels> window_;
    unsigned terms_ = 0;
};

} // namespace warpfold::detail

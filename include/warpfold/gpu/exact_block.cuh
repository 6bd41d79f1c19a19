// SPDX-License-Identifier: MIT
// A block's part of an exact sum: each thread adds up in its window, and what no window takes goes to a long
// accumulator in shared memory.
#pragma once

#include <cstdint>

#include "warpfold/gpu/exact_window.cuh"
#include "warpfold/operation.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

template <unsigned Count>
struct long_integers {
    long long of[Count];
};
struct add_integers {
    template <class A>
    __device__ static A identity() {
        return {};
    }
    template <class A>
    __device__ A operator()(const A& a, const A& b) const {
        A both;
#pragma unroll
        for (unsigned j = 0; j < sizeof(A) / sizeof(long long); ++j) {
            both.of[j] = a.of[j] + b.of[j];
        }
        return both;
    }
};

// In shared memory.
template <class T, unsigned Factors>
struct exact_block {
    static constexpr unsigned limbs = exact_layout<T, Factors>::limbs;
    // Lanes add to one of several accumulators, where there are threads enough, so that they meet less often; of floats
    // hardly anything comes here.
    static constexpr unsigned most_copies = sizeof(T) == 8 ? 4 : 1;

    unsigned long long limb[most_copies * limbs];
    unsigned met;     // see detail/exact.hpp
    unsigned touched; // whether anything was put here

    __device__ void clear() {
        for (unsigned k = threadIdx.x; k < copies() * limbs; k += blockDim.x) {
            limb[k] = 0;
        }
        if (threadIdx.x == 0) {
            met = 0;
            touched = 0;
        }
    }
    struct shared_limbs {
        __device__ void operator()(unsigned k, std::int64_t what) const {
            if (what != 0) {
                atomicAdd(&limb[k], static_cast<unsigned long long>(what));
            }
        }

        unsigned long long* limb;
    };
    __device__ static unsigned copies() { return blockDim.x >= 256 ? most_copies : 1; }
    __device__ shared_limbs adder() { return {limb + threadIdx.x % copies() * limbs}; }
    // All in one; the whole block does it together, and meets before and after.
    __device__ void merge() {
        for (unsigned k = threadIdx.x; k < limbs; k += blockDim.x) {
            for (unsigned copy = 1; copy < copies(); ++copy) {
                limb[k] += limb[copy * limbs + k];
            }
        }
    }
    template <class... Xs>
    __device__ void add_outlier(Xs... xs) {
        unsigned what = 0;
        add_term(xs..., adder(), what);
        if (what != 0) {
            atomicOr(&met, what);
        }
        atomicOr(&touched, 1u);
    }
    // The k-th limb, and what the one below has beyond 32 bits in place of what it has beyond them itself.
    __device__ long long evened(unsigned k) const {
        const auto own = static_cast<long long>(limb[k]);
        const long long below = k == 0 ? 0 : static_cast<long long>(limb[k - 1]) >> 32;
        return (k == limbs - 1 ? own : own & 0xffffffff) + below;
    }
};

// The sums of a warp's windows, which all stand at the same place, are added to the block's accumulator.
template <class T, unsigned Factors, unsigned Levels>
__device__ void pour_out(const exact_window<Levels>& window, exact_block<T, Factors>& into) {
    long_integers<Levels> all;
#pragma unroll
    for (unsigned j = 0; j < Levels; ++j) {
        all.of[j] = window.integer(j);
    }
    all = warp::reduce(all, add_integers{});
    if (threadIdx.x % warp::lanes == 0) {
#pragma unroll
        for (unsigned j = 0; j < Levels; ++j) {
            if (all.of[j] != 0) {
                add_integer(all.of[j], static_cast<unsigned>(window.lowest_bit(j) - exact_layout<T, Factors>::lowest),
                            into.adder());
            }
        }
        atomicOr(&into.touched, 1u);
    }
    __syncwarp();
}

// One thread's window. The threads of a warp have theirs at the same place and call everything here together.
template <class T, unsigned Factors>
class exact_thread {
public:
    using kind = exact_kind<T, Factors>;
    using integers = long_integers<kind::levels>;

    __device__ explicit exact_thread(exact_block<T, Factors>* block) : block_(block) { place(kind::highest); }

    // Adds groups * Width terms, with Factors * Groups * Width numbers in `x`, and one more where there is `extra`;
    // absent ones are zero. again(f, j) reads the j-th number of factor f once more. False where nothing has been added
    // because windows for any number should: what a window does not take goes to the block's accumulator only where
    // there are none.
    template <unsigned Groups, unsigned Width, class Again>
    __device__ bool add(const T (&x)[Factors][Groups * Width + 1], unsigned groups, bool extra, const Again& again) {
        constexpr unsigned count = Groups * Width + 1;
        for (;;) {
            double before[kind::levels];
            keep(before);
            magnitude most{};
            bool missing = false;
#pragma unroll
            for (unsigned g = 0; g < Groups; ++g) {
                if (g < groups) {
#pragma unroll
                    for (unsigned j = g * Width; j < (g + 1) * Width; ++j) {
                        missing |= add_one(most, x[0][j], x[Factors - 1][j]);
                    }
                }
            }
            if (extra) {
                missing |= add_one(most, x[0][count - 1], x[Factors - 1][count - 1]);
            }
            missing |= !(most < limit_);
            if (!__any_sync(warp::all_lanes, missing)) {
                break;
            }
            restore(before);
            if constexpr (kind::wide_levels != 0) {
                if (moves_ < 4 && move(count, again)) {
                    ++moves_;
                    continue;
                }
                return false;
            } else {
                (void)move(count, again);
                add_one_by_one(count, again);
                break;
            }
        }
        terms_ += count * kind::terms;
        if (terms_ > exact_window_terms - 2 * count * kind::terms) {
            settle();
        }
        return true;
    }

    // Empties the warp's windows into the block's accumulator.
    __device__ void settle() {
        pour_out<T, Factors>(window_, *block_);
        place(window_.highest);
    }

    // What the window holds, as integers of its first place; and the rest is in the block's accumulator.
    __device__ integers finish() {
        if (window_.highest != kind::highest) {
            settle();
            place(kind::highest);
        }
        return held();
    }

private:
    using term = std::conditional_t<Factors == 1, T, double>;
    using magnitude = decltype(magnitude_of(term{}));

    __device__ void place(int highest) {
        window_.highest = highest;
        window_.empty();
        limit_ = magnitude_limit(term{}, window_.reach());
        terms_ = 0;
    }
    __device__ void keep(double (&to)[kind::levels]) const {
#pragma unroll
        for (unsigned j = 0; j < kind::levels; ++j) {
            to[j] = window_.sum[j];
        }
    }
    __device__ void restore(const double (&from)[kind::levels]) {
#pragma unroll
        for (unsigned j = 0; j < kind::levels; ++j) {
            window_.sum[j] = from[j];
        }
    }
    __device__ integers held() const {
        integers all;
#pragma unroll
        for (unsigned j = 0; j < kind::levels; ++j) {
            all.of[j] = window_.integer(j);
        }
        return all;
    }

    // Adds the term x, or x * y, to the window. True if a part of it has no place there; whether it is too large is
    // told by `most` alone.
    __device__ bool add_one(magnitude& most, T x, T y) {
        if constexpr (Factors == 1) {
            most = larger_magnitude(most, magnitude_of(x));
            return window_.add(static_cast<double>(x)) != 0;
        } else if constexpr (sizeof(T) == 4) {
            const double product = __dmul_rn(x, y);
            most = larger_magnitude(most, magnitude_of(product));
            return window_.add(product) != 0;
        } else {
            const double product = __dmul_rn(x, y);
            const double error = __fma_rn(x, y, -product);
            most = larger_magnitude(most, magnitude_of(product));
            const bool vanished = product == 0 && x != 0 && y != 0;
            const double rest = window_.add(product);
            // The error is less than 2^-53 of the product: level 1 takes it.
            const double rest_of_error = window_.template add<1>(error);
            return vanished || rest != 0 || rest_of_error != 0;
        }
    }

    // Moves the window to the largest of the warp's numbers, unless it is there.
    template <class Again>
    __device__ bool move(unsigned count, const Again& again) {
        constexpr int none = -10000;
        int top = none; // all terms are below 2^top
        for (unsigned j = 0; j < count; ++j) {
            int of_term = 0;
            for (unsigned f = 0; f < Factors; ++f) {
                const auto bits = __builtin_bit_cast(typename ieee<T>::bits, again(f, j));
                const auto field = static_cast<int>(bits >> ieee<T>::fraction & ieee<T>::special);
                const bool counts = field != ieee<T>::special && static_cast<typename ieee<T>::bits>(bits << 1) != 0;
                of_term += counts ? max(field, 1) + ieee<T>::lowest + ieee<T>::fraction : none;
            }
            top = max(top, of_term);
        }
#pragma unroll
        for (unsigned distance = 16; distance != 0; distance /= 2) {
            top = max(top, __shfl_xor_sync(0xffffffffu, top, distance));
        }
        if (top <= none || (top <= window_.reach() && top >= window_.reach() - exact_spacing)) {
            return false;
        }
        constexpr int least = kind::least_bit + exact_window<kind::levels>::depth;
        const int highest = max(least, min(exact_most_highest, top + 5 - exact_spacing));
        if (highest == window_.highest) {
            return false;
        }
        settle();
        place(highest);
        return true;
    }

    // What the window does not take goes to the block's accumulator.
    template <class Again>
    __device__ void add_one_by_one(unsigned count, const Again& again) {
#pragma unroll 1
        for (unsigned j = 0; j < count; ++j) {
            double before[kind::levels];
            keep(before);
            magnitude most{};
            const T x = again(0, j), y = again(Factors - 1, j);
            const bool missing = add_one(most, x, y);
            if (missing || !(most < limit_)) {
                restore(before);
                if constexpr (Factors == 1) {
                    block_->add_outlier(x);
                } else {
                    block_->add_outlier(x, y);
                }
            }
        }
        __syncwarp();
    }

    exact_block<T, Factors>* block_;
    exact_window<kind::levels> window_;
    decltype(magnitude_limit(term{}, 0)) limit_;
    unsigned terms_ = 0;
    unsigned moves_ = 0;
};

// One thread's window that takes any number: of float, or of products of floats.
template <class Factor, unsigned Factors>
class exact_wide_thread {
public:
    using kind = exact_kind<Factor, Factors>;

    __device__ explicit exact_wide_thread(exact_block<Factor, Factors>* block) : block_(block) {
        window_.highest = kind::wide_highest;
        window_.empty();
    }

    // As exact_thread's.
    template <unsigned Groups, unsigned Width, class Again>
    __device__ void add(const Factor (&x)[Factors][Groups * Width + 1], unsigned groups, bool extra,
                        const Again& again) {
        constexpr unsigned count = Groups * Width + 1;
        Factor zero = 0; // times infinity or NaN: NaN
#pragma unroll
        for (unsigned j = 0; j < count; ++j) {
            zero = __fmaf_rn(x[0][j], Factor(0), zero);
            if constexpr (Factors == 2) {
                zero = __fmaf_rn(x[1][j], Factor(0), zero);
            }
        }
        if (__any_sync(warp::all_lanes, zero != 0)) {
#pragma unroll 1
            for (unsigned j = 0; j < count; ++j) {
                if constexpr (Factors == 1) {
                    block_->add_outlier(again(0, j));
                } else {
                    block_->add_outlier(again(0, j), again(1, j));
                }
            }
            return;
        }
#pragma unroll
        for (unsigned g = 0; g < Groups; ++g) {
            if (g < groups) {
#pragma unroll
                for (unsigned j = g * Width; j < (g + 1) * Width; ++j) {
                    add_one(x[0][j], x[Factors - 1][j]);
                }
            }
        }
        if (extra) {
            add_one(x[0][Groups * Width], x[Factors - 1][Groups * Width]);
        }
        terms_ += count;
        if (terms_ > exact_window_terms - count) {
            finish();
        }
    }

    __device__ void finish() {
        pour_out<Factor, Factors>(window_, *block_);
        window_.empty();
        terms_ = 0;
    }

private:
    __device__ void add_one(Factor x, Factor y) {
        (void)window_.add(Factors == 1 ? static_cast<double>(x)
                                       : __dmul_rn(static_cast<double>(x), static_cast<double>(y)));
    }

    exact_block<Factor, Factors>* block_;
    exact_window<kind::wide_levels> window_;
    unsigned terms_ = 0;
};

} // namespace warpfold::detail

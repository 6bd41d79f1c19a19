// SPDX-License-Identifier: MIT
// A block's part of an exact sum. Each thread adds in its window; numbers that fit no window are added digit by digit
// in shared memory. Code that few inputs need is in functions that are not inlined: short sums take as long as fetching
// their instructions.
#pragma once

#include <cstdint>

#include "warpfold/gpu/exact_sum/window.cuh"
#include "warpfold/warp/reduce.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// The sum over the lanes of a warp, in lane 0. Levels that are 0 in all lanes, as most are, take one instruction.
template <unsigned Count>
__device__ void sum_lanes(level_sums<Count>& all) {
    if constexpr (has_at_once) {
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            if (__any_sync(warp::all_lanes, all.of[j] != 0)) {
                all.of[j] = reduce_at_once<sum>(all.of[j]);
            }
        }
    } else {
#pragma unroll 1
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
#pragma unroll
            for (unsigned j = 0; j < Count; ++j) {
                all.of[j] += __shfl_down_sync(warp::all_lanes, all.of[j], distance);
            }
        }
    }
}

// The same for the levels of windows, whose magnitude is at most 2^51: two instructions each where the device has
// redux.
template <unsigned Count>
__device__ void sum_windows(level_sums<Count>& all) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(WARPFOLD_NO_REDUX)
#pragma unroll
    for (unsigned j = 0; j < Count; ++j) {
        if (!__any_sync(warp::all_lanes, all.of[j] != 0)) {
            continue;
        }
        constexpr unsigned bits = 27;
        constexpr long long origin = 1ll << 51;
        const auto value = static_cast<unsigned long long>(all.of[j] + origin);
        const unsigned low = __reduce_add_sync(warp::all_lanes, static_cast<unsigned>(value) & ((1u << bits) - 1));
        const unsigned high = __reduce_add_sync(warp::all_lanes, static_cast<unsigned>(value >> bits));
        all.of[j] = static_cast<long long>((static_cast<unsigned long long>(high) << bits) + low) - 32 * origin;
    }
#else
    sum_lanes(all);
#endif
}

// The sum over a block takes two calls. The first publishes the sums of the warps, of which lane 0 of each warp has its
// own, and contains a barrier for shared memory. Returns true if `said` is true in any thread.
template <unsigned Count>
struct sum_storage {
    level_sums<Count> of_warp[32];
};
template <unsigned Count>
__device__ bool share_warp_sums(const level_sums<Count>& of_warp, sum_storage<Count>& storage, bool said) {
    if (threadIdx.x % warp::lanes == 0) {
        storage.of_warp[threadIdx.x / warp::lanes] = of_warp;
    }
    __syncwarp();
    return __syncthreads_or(said) != 0;
}
// The second returns the sum over the block, in thread 0.
template <unsigned Count>
__device__ level_sums<Count> sum_of_block(const sum_storage<Count>& storage) {
    const unsigned warps = blockDim.x / warp::lanes;
    level_sums<Count> all{};
    if (warps == 1) {
        all = storage.of_warp[0];
    } else if (threadIdx.x < warp::lanes) {
        if (threadIdx.x < warps) {
            all = storage.of_warp[threadIdx.x];
        }
        sum_lanes(all);
    }
    return all;
}

// In shared memory: limbs as in detail/exact/exact_integer.hpp, and 16-bit digits in words of 32 bits. Each lane has its own
// digits, so lanes do not conflict. 2^11 terms per thread fit in a block of 512.
template <class T, unsigned Factors>
struct block_accumulator {
    static constexpr unsigned limbs = exact_layout<T, Factors>::limbs;
    static constexpr unsigned digits = 2 * limbs - 2;
    static constexpr unsigned most_terms = 1u << 11;

    alignas(16) unsigned digit[digits * 32];
    unsigned long long limb[limbs];
    unsigned met;     // special values met, see detail/exact/exact_integer.hpp
    unsigned touched; // 1 if anything was added to the limbs
    unsigned counted; // 1 if anything was added to the digits

    __device__ void clear() {
        for (unsigned k = threadIdx.x; k < digits * 8; k += blockDim.x) {
            reinterpret_cast<uint4*>(digit)[k] = uint4{};
        }
        for (unsigned k = threadIdx.x; k < limbs; k += blockDim.x) {
            limb[k] = 0;
        }
        if (threadIdx.x == 0) {
            met = 0;
            touched = 0;
            counted = 0;
        }
    }
    // Adds to a limb as two words: 64-bit atomics in shared memory are compare-and-swap loops.
    struct shared_limbs {
        __device__ void operator()(unsigned k, std::int64_t what) const {
            auto* const word = reinterpret_cast<unsigned*>(limb + k);
            const auto low = static_cast<unsigned>(what);
            auto high = static_cast<unsigned>(what >> 32);
            if (low != 0) {
                high += atomicAdd(word, low) + low < low ? 1 : 0;
            }
            if (high != 0) {
                atomicAdd(word + 1, high);
            }
        }

        unsigned long long* limb;
    };
    __device__ shared_limbs adder() { return {limb}; }

    // Limb k with the carry of limb k - 1 added and its own carry removed.
    __device__ long long carried(unsigned k) const {
        const auto own = static_cast<long long>(limb[k]);
        const long long below = k == 0 ? 0 : static_cast<long long>(limb[k - 1]) >> 32;
        return (k == limbs - 1 ? own : own & 0xffffffff) + below;
    }
};

// Adds the windows of a warp, which are at one place, to the block's limbs.
// static: in relocatable code a kernel with a limit of registers can call no external function that takes more.
template <class T, unsigned Factors, unsigned Levels>
static __device__ __noinline__ void flush_window(exact_window<Levels> window, block_accumulator<T, Factors>* into) {
    level_sums<Levels> all;
#pragma unroll
    for (unsigned j = 0; j < Levels; ++j) {
        all.of[j] = window.integer(j);
    }
    sum_lanes(all);
    if (threadIdx.x % warp::lanes == 0) {
#pragma unroll 1
        for (unsigned j = 0; j < Levels; ++j) {
            long long own = all.of[0];
#pragma unroll
            for (unsigned k = 1; k < Levels; ++k) {
                own = k == j ? all.of[k] : own;
            }
            if (own != 0) {
                add_integer(own, static_cast<unsigned>(window.lowest_bit(j) - exact_layout<T, Factors>::lowest),
                            into->adder());
            }
        }
        atomicOr(&into->touched, 1u);
    }
    __syncwarp();
}

// Adds the digits of a warp's lanes to the block's limbs and clears them. Other warps may add digits meanwhile.
template <class T, unsigned Factors>
static __device__ __noinline__ void flush_digits(block_accumulator<T, Factors>* from) {
#pragma unroll 1
    for (unsigned k = 0; k < block_accumulator<T, Factors>::digits; ++k) {
        level_sums<1> sum{static_cast<int>(atomicExch(&from->digit[k * 32 + threadIdx.x % 32], 0u))};
        sum_lanes(sum);
        if (threadIdx.x % 32 == 0 && sum.of[0] != 0) {
            add_integer(sum.of[0], 16 * k, from->adder());
        }
    }
    if (threadIdx.x % 32 == 0) {
        atomicOr(&from->touched, 1u);
    }
    __syncwarp();
}

// One thread's window. The threads of a warp have theirs at one place and call all functions together.
template <class T, unsigned Factors>
class moving_window {
public:
    using kind = window_parameters<T, Factors>;

    __device__ moving_window() { place(kind::highest); }

    // Adds Count terms. Returns false, and adds nothing, if the window is full or cannot hold all of them.
    template <unsigned Count>
    __device__ bool add(const T (&x)[Factors][Count]) {
        double before[kind::levels];
#pragma unroll
        for (unsigned j = 0; j < kind::levels; ++j) {
            before[j] = window_.sum[j];
        }
        magnitude most{};
        bool missing = terms_ > exact_window_terms - Count * kind::terms;
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            missing |= add_one(most, x[0][j], x[Factors - 1][j]);
        }
        missing |= !(most < limit_);
        if (__any_sync(warp::all_lanes, missing)) {
#pragma unroll
            for (unsigned j = 0; j < kind::levels; ++j) {
                window_.sum[j] = before[j];
            }
            return false;
        }
        terms_ += Count * kind::terms;
        return true;
    }

    // True if there is no room for `count` more terms before flush().
    __device__ bool full(unsigned count) const { return terms_ > exact_window_terms - count * kind::terms; }

    // Moves the sums of the warp's windows to the block's limbs.
    __device__ void flush(block_accumulator<T, Factors>* block) {
        flush_window<T, Factors>(window_, block);
        place(window_.highest);
    }

    // Moves the window, which is empty, to the largest of the warp's next numbers. Returns false if it is there already, or if the
    // exponents are too far apart for any place. number(f, j) is number j of factor f.
    template <class Number>
    __device__ bool move(unsigned count, const Number& number) {
        constexpr int none = -10000;
        int top = none, least_top = -none; // all terms are below 2^top, none is below 2^(least_top - 2)
#pragma unroll 8
        for (unsigned j = 0; j < count; ++j) {
            int of_term = 0;
            for (unsigned f = 0; f < Factors; ++f) {
                const auto bits = __builtin_bit_cast(typename ieee<T>::bits, number(f, j));
                const auto field = static_cast<int>(bits >> ieee<T>::fraction & ieee<T>::special);
                const bool counts = field != ieee<T>::special && static_cast<typename ieee<T>::bits>(bits << 1) != 0;
                of_term += counts ? max(field, 1) + ieee<T>::lowest + ieee<T>::fraction : none;
            }
            top = max(top, of_term);
            least_top = of_term > none / 2 ? min(least_top, of_term) : least_top;
        }
#pragma unroll 1
        for (unsigned distance = 16; distance != 0; distance /= 2) {
            top = max(top, __shfl_xor_sync(warp::all_lanes, top, distance));
            least_top = min(least_top, __shfl_xor_sync(warp::all_lanes, least_top, distance));
        }
        if (top <= none / 2 || (top <= window_.reach() && top >= window_.reach() - exact_spacing) ||
            top - least_top > exact_window<kind::levels>::depth + exact_spacing) {
            return false;
        }
        constexpr int least = kind::least_bit + exact_window<kind::levels>::depth;
        const int highest = max(least, min(exact_most_highest, top + 5 - exact_spacing));
        if (highest == window_.highest) {
            return false;
        }
        place(highest);
        return true;
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

    // Adds the term x, or x * y. Returns true if its low part does not fit; whether it is too large follows from
    // `most`.
    __device__ bool add_one(magnitude& most, T x, T y) {
        if constexpr (Factors == 1) {
            most = larger_magnitude(most, magnitude_of(x));
            return window_.add(as_double(x)) != 0;
        } else if constexpr (sizeof(T) == 4) {
            const double product = __dmul_rn(as_double(x), as_double(y));
            most = larger_magnitude(most, magnitude_of(product));
            return window_.add(product) != 0;
        } else {
            const double product = __dmul_rn(x, y);
            const double error = __fma_rn(x, y, -product);
            most = larger_magnitude(most, magnitude_of(product));
            const bool vanished = product == 0 && x != 0 && y != 0;
            const double rest = window_.add(product);
            // The error is below 2^-53 of the product, so level 1 takes it.
            const double rest_of_error = window_.template add<1>(error);
            return vanished || rest != 0 || rest_of_error != 0;
        }
    }

    exact_window<kind::levels> window_;
    decltype(magnitude_limit(term{}, 0)) limit_;
    unsigned terms_ = 0;
};

// A thread that adds digits, of any numbers.
template <class T, unsigned Factors>
class digit_counter {
public:
    __device__ explicit digit_counter(block_accumulator<T, Factors>* block)
        : block_(block), column_(static_cast<unsigned>(__cvta_generic_to_shared(block->digit)) + threadIdx.x % 32 * 4) {
        if (threadIdx.x % 32 == 0) {
            atomicOr(&block_->counted, 1u);
        }
    }

    // As in moving_window; always succeeds.
    template <unsigned Count>
    __device__ bool add(const T (&x)[Factors][Count]) {
        terms_ += Count;
        if (terms_ > block_accumulator<T, Factors>::most_terms) {
            flush_digits(block_);
            terms_ = Count;
        }
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            add_one(x[0][j], x[Factors - 1][j]);
        }
        return true;
    }

private:
    __device__ void add_one(T x, T y) {
        const number_parts<T> p = parts_of(x);
        if constexpr (Factors == 1) {
            if (p.special) {
                note_special(p.nan, p.negative);
                return;
            }
            const unsigned shift = p.place % 16;
            if constexpr (sizeof(T) == 4) {
                count<3>(p.mantissa << shift, 0, p.place / 16, p.negative);
            } else {
                count<5>(p.mantissa << shift, p.mantissa >> 1 >> (63 - shift), p.place / 16, p.negative);
            }
        } else {
            const number_parts<T> q = parts_of(y);
            const bool negative = p.negative != q.negative;
            if (p.special || q.special) {
                note_special(p.nan || q.nan || p.mantissa == 0 || q.mantissa == 0, negative);
                return;
            }
            const unsigned place = p.place + q.place, shift = place % 16;
            const std::uint64_t low = p.mantissa * q.mantissa;
            if constexpr (sizeof(T) == 4) {
                count<4>(low << shift, 0, place / 16, negative);
            } else {
                const std::uint64_t high = __umul64hi(p.mantissa, q.mantissa);
                count<8>(low << shift, high << shift | low >> 1 >> (63 - shift), place / 16, negative);
            }
        }
    }
    // Adds `Digits` digits of a number of two words, from digit `first` on.
    template <unsigned Digits>
    __device__ void count(std::uint64_t low, std::uint64_t high, unsigned first, bool negative) {
        const unsigned at = column_ + first * 128;
#pragma unroll
        for (unsigned k = 0; k < Digits; ++k) {
            const auto digit = static_cast<unsigned>((k < 4 ? low : high) >> k % 4 * 16) & 0xffffu;
            asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at + k * 128), "r"(negative ? 0u - digit : digit)
                         : "memory");
        }
    }
    __device__ void note_special(bool nan, bool negative) {
        atomicOr(&block_->met, nan ? met_nan : (negative ? met_minus_infinity : met_infinity));
    }

    block_accumulator<T, Factors>* block_;
    unsigned column_; // shared memory address of the lane's digits
    unsigned terms_ = 0;
};

} // namespace warpfold::detail

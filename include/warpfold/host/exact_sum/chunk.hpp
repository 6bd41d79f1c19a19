// SPDX-License-Identifier: MIT
// Exact sums of chunks on the host, at memory speed. A sum of doubles is exact while all terms are multiples of one
// power of two and no partial sum reaches 2^53 times that power. So a number is split into multiples of a few powers,
// its levels, and each level has sums of its own. The largest and the smallest number of a chunk decide the number of
// levels: one, if they are at most 2^19 apart.
//
// S. Rump, T. Ogita, S. Oishi: Accurate floating-point summation I, SIAM J. Sci. Comput. 31(1), 2008. J. Demmel, H. D.
// Nguyen: Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015.
//
// This needs default IEEE 754 arithmetic: rounding to nearest, subnormals kept, no reassociation. Otherwise
// (-ffast-math and its parts, _MM_SET_FLUSH_ZERO_MODE, fesetround) integers do all the work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::detail {

inline constexpr unsigned exact_chunk = 2048; // elements
inline constexpr unsigned exact_lanes = 16;   // sums per level
inline constexpr unsigned exact_most_levels = 7;
inline constexpr int exact_level_bits = 44; // from level to level: 51 bits less 7 for the carries of 128 additions
static_assert(exact_chunk / exact_lanes == 1 << (51 - exact_level_bits));

using four_doubles = double __attribute__((vector_size(32)));
using eight_words = std::int32_t __attribute__((vector_size(32)));
using four_longs = std::int64_t __attribute__((vector_size(32)));

// Bounds of the exponent fields of some non-zero numbers.
struct exponent_fields {
    unsigned least;
    unsigned most; // below `least` if all are zero
};

// Prefetches the chunk after the next one while this one, in the cache, is summed: the next one's last lines would still be on
// their way. What stands 16 KiB behind it goes into the L2 cache meanwhile. Each of the two passes over a chunk prefetches half, so
// memory is always busy.
template <class... T>
class next_chunk {
public:
    [[gnu::always_inline]] explicit next_chunk(unsigned n, const T*... x) : n_(n), behind_{(x + 2 * n)...} {}

    // For the `exact_lanes` elements from k on, in the first or the second pass.
    template <unsigned Pass>
    [[gnu::always_inline]] void fetch(unsigned k) const {
        constexpr unsigned each = exact_lanes / 2;
        for (const auto* x : behind_) {
            if (each * sizeof(*x) < 64 && k % (2 * exact_lanes) != 0) { // two turns share a line
                continue;
            }
            for (unsigned byte = 0; byte < each * sizeof(*x); byte += 64) {
                const char* const line = reinterpret_cast<const char*>(x + (Pass * n_ + k) / 2) + byte;
                __builtin_prefetch(line);
                __builtin_prefetch(line + 16384, 0, 2);
            }
        }
    }

private:
    unsigned n_;
    std::common_type_t<const T*...> behind_[sizeof...(T)];
};
struct nothing_next {
    template <unsigned Pass>
    [[gnu::always_inline]] void fetch(unsigned) const {}
};

// The largest and the smallest magnitude of n numbers, a multiple of `exact_lanes`, truncated to their upper 32 bits.
template <class T, class Next>
[[gnu::always_inline]] inline void upper_words(const T* x, unsigned n, std::int32_t& above, std::int32_t& below,
                                               const Next& next) {
    constexpr bool low_first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    constexpr std::int32_t magnitude = std::numeric_limits<std::int32_t>::max();
    eight_words most = {}, least = most + magnitude;
    for (unsigned k = 0; k < n; k += exact_lanes) {
        next.template fetch<0>(k);
        for (unsigned v = 0; v < exact_lanes; v += 32 / sizeof(T)) {
            eight_words w;
            std::memcpy(&w, x + k + v, sizeof(w));
            w &= magnitude;
            most = w > most ? w : most;
            least = w < least ? w : least;
        }
    }
    above = 0;
    below = magnitude;
    for (unsigned j = sizeof(T) == 8 && low_first ? 1 : 0; j < 8; j += sizeof(T) / 4) {
        above = std::max<std::int32_t>(above, most[j]);
        below = std::min<std::int32_t>(below, least[j]);
    }
}

// n numbers, a multiple of `exact_lanes`.
template <class T, class Next = nothing_next>
[[gnu::always_inline]] inline exponent_fields exponents_of(const T* x, unsigned n, const Next& next_one = {}) {
    using words = std::conditional_t<sizeof(T) == 4, eight_words, four_longs>;
    using word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    std::int32_t upper_above, upper_below;
    upper_words(x, n, upper_above, upper_below, next_one);
    if (upper_below != 0) { // none is zero
        constexpr int fraction = ieee<T>::fraction - (static_cast<int>(sizeof(T)) - 4) * 8;
        return {static_cast<unsigned>(upper_below >> fraction), static_cast<unsigned>(upper_above >> fraction)};
    }
    constexpr word magnitude = std::numeric_limits<word>::max();
    constexpr unsigned each = 32 / sizeof(T);
    words most = {}, least = words{} + magnitude;
    for (unsigned k = 0; k < n; k += each) {
        words w;
        std::memcpy(&w, x + k, sizeof(w));
        w &= magnitude;
        most = w > most ? w : most;
        w = (w - 1) & magnitude; // of zero: the largest value
        least = w < least ? w : least;
    }
    word above = 0, below = magnitude;
    for (unsigned j = 0; j < each; ++j) {
        above = std::max<word>(above, most[j]);
        below = std::min<word>(below, least[j]);
    }
    if (above == 0) {
        return {1, 0};
    }
    return {static_cast<unsigned>((below + 1) >> ieee<T>::fraction), static_cast<unsigned>(above >> ieee<T>::fraction)};
}

// By reference: without AVX there is no calling convention for such vectors.
[[gnu::always_inline]] inline void load_four(four_doubles& to, const double* x) { std::memcpy(&to, x, sizeof(to)); }
[[gnu::always_inline]] inline void load_four(four_doubles& to, const float* x) {
    to = four_doubles{x[0], x[1], x[2], x[3]};
}

// Numbers as terms of sum_levels().
template <class T>
struct number_terms {
    static constexpr bool has_errors = false;

    [[gnu::always_inline]] void load(four_doubles& term, four_doubles& /*error*/, unsigned k) const {
        load_four(term, x + k);
    }

    const T* x;
};

// Moves the multiples of the level's lowest bit from `rest` to the level's sum.
[[gnu::always_inline]] inline void extract(four_doubles& sum, four_doubles& rest) {
    const four_doubles with = sum + rest;
    rest -= with - sum;
    sum = with;
}

// Sums of n terms in `Levels` levels; the lowest bit of level j is 2^lowest_bit[j].
template <unsigned Levels, class Terms, class Next>
[[gnu::always_inline]] inline void sum_levels(const Terms& terms, unsigned n, const int* lowest_bit, std::int64_t* sums,
                                              const Next& behind) {
    constexpr unsigned packs = exact_lanes / 4;
    four_doubles sum[Levels][packs];
    std::uint64_t origin[Levels];
    for (unsigned j = 0; j < Levels; ++j) {
        // 1.5 * 2^(52 + lowest bit): its last bit is the level's lowest bit.
        origin[j] = static_cast<std::uint64_t>(1023 + 52 + lowest_bit[j]) << 52 | std::uint64_t{1} << 51;
        double start;
        std::memcpy(&start, &origin[j], sizeof(start));
        for (four_doubles& one : sum[j]) {
            one = four_doubles{} + start;
        }
    }
    for (unsigned k = 0; k < n; k += exact_lanes) {
        behind.template fetch<1>(k);
        for (unsigned p = 0; p < packs; ++p) {
            // The error of a term is below the lowest bit of the first level.
            four_doubles rest, error;
            terms.load(rest, error, k + 4 * p);
            for (unsigned j = 0; j + 1 < Levels; ++j) {
                extract(sum[j][p], rest);
                if (Terms::has_errors && j != 0) {
                    extract(sum[j][p], error);
                }
            }
            sum[Levels - 1][p] += rest;
            if constexpr (Terms::has_errors) {
                sum[Levels - 1][p] += error;
            }
        }
    }
    for (unsigned j = 0; j < Levels; ++j) {
        sums[j] = 0;
        for (const four_doubles& one : sum[j]) {
            std::uint64_t lanes[4];
            std::memcpy(lanes, &one, sizeof(lanes));
            for (const std::uint64_t lane : lanes) {
                sums[j] += static_cast<std::int64_t>(lane - origin[j]);
            }
        }
    }
}

template <class Terms, class Next>
[[gnu::always_inline]] inline void sum_levels(unsigned levels, const Terms& terms, unsigned n, const int* lowest_bit,
                                              std::int64_t* sums, const Next& behind) {
    switch (levels) {
    case 1: return sum_levels<1>(terms, n, lowest_bit, sums, behind);
    case 2: return sum_levels<2>(terms, n, lowest_bit, sums, behind);
    case 3: return sum_levels<3>(terms, n, lowest_bit, sums, behind);
    case 4: return sum_levels<4>(terms, n, lowest_bit, sums, behind);
    case 5: return sum_levels<5>(terms, n, lowest_bit, sums, behind);
    case 6: return sum_levels<6>(terms, n, lowest_bit, sums, behind);
    default: return sum_levels<exact_most_levels>(terms, n, lowest_bit, sums, behind);
    }
}

// All numbers are below 2^top and multiples of 2^last.
struct bit_range {
    int top;
    int last;
};
template <class T>
bit_range range_of(const exponent_fields& fields) {
    return {static_cast<int>(fields.most) + 1 + ieee<T>::lowest + ieee<T>::fraction,
            static_cast<int>(std::max(fields.least, 1u)) - 1 + ieee<T>::lowest};
}

// Adds n terms, at most a chunk and a multiple of `exact_lanes`, all multiples of the accumulator's lowest bit. Returns
// false, and adds nothing, if they are too far apart or too large.
template <unsigned Most, class Terms, class Accumulator, class Next>
[[gnu::always_inline]] inline bool add_terms_between(Accumulator& to, const bit_range& range, const Terms& terms,
                                                     unsigned n, const Next& behind) {
    constexpr int bottom = std::max(Accumulator::layout::lowest, ieee<double>::lowest);
    if (range.top > 1010) {
        return false;
    }
    int lowest_bit[exact_most_levels];
    unsigned levels = 0;
    int next = range.top - exact_level_bits;
    for (;; next -= exact_level_bits) {
        if (levels == Most) {
            return false;
        }
        lowest_bit[levels++] = std::max(next, bottom);
        if (next <= std::max(range.last, bottom)) {
            break;
        }
    }
    std::int64_t sums[exact_most_levels];
    sum_levels(levels, terms, n, lowest_bit, sums, behind);
    for (unsigned j = 0; j < levels; ++j) {
        to.add(sums[j], static_cast<unsigned>(lowest_bit[j] - Accumulator::layout::lowest));
    }
    return true;
}

// The same of numbers. Returns false also if they are not all finite.
template <unsigned Most = exact_most_levels, class T, class Accumulator, class Next>
[[gnu::always_inline]] inline bool add_chunk(Accumulator& to, const T* x, unsigned n, const Next& behind) {
    const exponent_fields fields = exponents_of(x, n, behind);
    if (fields.most < fields.least) {
        return true;
    }
    return fields.most != ieee<T>::special &&
           add_terms_between<Most>(to, range_of<T>(fields), number_terms<T>{x}, n, behind);
}

// Sums of floats by sign and exponent, as integers: the sum of the fractions in bits 0 to 39, their number above. Holds
// as many as a thread processes at a time.
class float_bins {
public:
    // n: a multiple of 4.
    void add(const float* x, unsigned n) {
        used_ = true;
        for (unsigned k = 0; k < n; k += 4) {
            unrolled<4>([&](std::uint64_t j) {
                std::uint32_t bits;
                std::memcpy(&bits, x + k + j, sizeof(bits));
                sum_[bits >> 23] += (std::uint64_t{1} << 40) + (bits & 0x7fffff);
            });
        }
    }
    // Infinities and NaN were not added.
    template <class Accumulator>
    void add_to(Accumulator& to) const {
        for (unsigned field = 0; used_ && field < 255; ++field) {
            const auto whole = [&](std::uint64_t sum) {
                const std::uint64_t implied = field == 0 ? 0 : sum >> 40 << 23;
                return static_cast<std::int64_t>((sum & ((std::uint64_t{1} << 40) - 1)) + implied);
            };
            const auto place = static_cast<unsigned>(static_cast<int>(std::max(field, 1u)) - 1 + ieee<float>::lowest -
                                                     Accumulator::layout::lowest);
            to.add(whole(sum_[field]) - whole(sum_[256 + field]), place);
        }
    }

private:
    std::uint64_t sum_[512] = {};
    bool used_ = false;
};
struct no_bins {
    template <class Accumulator>
    void add_to(Accumulator&) const {}
};

template <class T, class Accumulator, class Bins>
[[gnu::always_inline]] inline void add_numbers_here(Accumulator& to, Bins& bins, unsigned n, const T* x) {
    if constexpr (std::is_same_v<Bins, float_bins>) {
        if (!add_chunk<3>(to, x, n, next_chunk(n, x))) {
            if (exponents_of(x, n).most < ieee<float>::special) {
                bins.add(x, n);
                return;
            }
        } else {
            return;
        }
    } else if (add_chunk(to, x, n, next_chunk(n, x))) {
        return;
    }
    for (unsigned k = 0; k < n; ++k) {
        to.term(x[k]);
    }
}

// True if this thread rounds to nearest and keeps subnormal inputs and results.
inline bool has_default_arithmetic() {
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
    return false;
#else
    using limits = std::numeric_limits<double>;
    const volatile double one = 1, step = limits::epsilon(), least = limits::min(), least_of_all = limits::denorm_min();
    const double above = one + step * 0.75, near = one + step * 0.25, near_minus = -one - step * 0.25;
    return above == one + step && near == one && near_minus == -one && least_of_all > 0 && least * 0.5 > 0;
#endif
}

// Adds n numbers, at most a chunk and a multiple of `exact_lanes`.
template <class T, class Accumulator, class Bins>
void add_numbers(Accumulator& to, Bins& bins, unsigned n, const T* x) {
    if (has_default_arithmetic()) {
        with_widest_vectors([&] { add_numbers_here(to, bins, n, x); });
        return;
    }
    for (unsigned k = 0; k < n; ++k) {
        to.term(x[k]);
    }
}

} // namespace warpfold::detail

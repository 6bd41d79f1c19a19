// SPDX-License-Identifier: MIT
// Scans of several runs of numbers side by side: the 16-byte parts of a wide vector belong to two runs (AVX2) or to four
// (AVX-512). Each part goes through the steps of run_sums, in the same order.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "warpfold/host/core/vectors.hpp"

#if defined(WARPFOLD_AVX2) && !defined(__CUDACC__)
#include <immintrin.h>

namespace warpfold::detail {

// What becomes of two vectors: their sums, or the smaller or larger numbers by the rules of minimum and maximum.
struct added {};
template <bool Smallest>
struct chosen {};

// The function of `chosen` for the vectors of PART. A macro: compilers take vectors of other functions apart before they
// take these in. `equal` is for zeros of two signs; other equal numbers have the same bits.
#define WARPFOLD_CHOOSES(PART)                                                                                         \
    template <bool Smallest>                                                                                           \
    PART static void join(chosen<Smallest>, vector& x, const vector& y) {                                              \
        const auto beyond = Smallest ? y < x : x < y;                                                                  \
        if constexpr (std::is_floating_point_v<Lane>) {                                                                \
            using bits = std::remove_const_t<decltype(beyond)>;                                                        \
            const auto a = reinterpret_cast<bits>(x), b = reinterpret_cast<bits>(y);                                   \
            const auto equal = reinterpret_cast<vector>(Smallest ? a | b : a & b);                                     \
            x = (beyond | (y != y)) ? y : (x == y ? equal : x);                                                        \
        } else {                                                                                                       \
            x = beyond ? y : x;                                                                                        \
        }                                                                                                              \
    }

// The calls take vectors by reference: functions for the baseline pass them on.
template <class Lane>
struct two_runs {
    static constexpr std::size_t runs = 2;
    typedef Lane vector __attribute__((vector_size(32)));

    WARPFOLD_AVX2_PART static void join(added, vector& x, const vector& y) { x += y; }
    WARPFOLD_CHOOSES(WARPFOLD_AVX2_PART)

    WARPFOLD_AVX2_PART static void fill(vector& x, Lane value) { x = value - vector{}; } // not +, for -0
    // part[k] holds the k-th 16 bytes of both runs.
    WARPFOLD_AVX2_PART static void load(const Lane* from, std::size_t length, vector (&part)[runs]) {
        const auto *const a = reinterpret_cast<const __m256i*>(from), *const b = reinterpret_cast<const __m256i*>(
                                                                          from + length);
        transpose(_mm256_loadu_si256(a), _mm256_loadu_si256(b), part);
    }
    WARPFOLD_AVX2_PART static void store(Lane* to, std::size_t length, const vector (&part)[runs]) {
        vector whole[runs];
        transpose(reinterpret_cast<__m256i>(part[0]), reinterpret_cast<__m256i>(part[1]), whole);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(whole[0]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + length), reinterpret_cast<__m256i>(whole[1]));
    }
    // In each part the sums of neighbours of x, and then of y.
    WARPFOLD_AVX2_PART static void add_neighbours(vector& to, const vector& x, const vector& y) {
        if constexpr (sizeof(Lane) == 8) {
            const auto a = reinterpret_cast<__m256d>(x), b = reinterpret_cast<__m256d>(y);
            to =
                reinterpret_cast<vector>(_mm256_unpacklo_pd(a, b)) + reinterpret_cast<vector>(_mm256_unpackhi_pd(a, b));
        } else {
            const auto a = reinterpret_cast<__m256>(x), b = reinterpret_cast<__m256>(y);
            to = reinterpret_cast<vector>(_mm256_shuffle_ps(a, b, 0x88)) +
                 reinterpret_cast<vector>(_mm256_shuffle_ps(a, b, 0xdd));
        }
    }
    // Element k - By of a part of x at place k, and that of `none` in the first places.
    template <std::size_t By>
    WARPFOLD_AVX2_PART static void behind(vector& to, const vector& x, const vector& none) {
        to = reinterpret_cast<vector>(_mm256_alignr_epi8(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(none),
                                                         static_cast<int>(16 - By * sizeof(Lane))));
    }
    // Of parts of four floats, [a, b, c, d] as [none, a, none, c] or, of Halves, as [none, none, b, b].
    template <bool Halves>
    WARPFOLD_AVX2_PART static void spread(vector& to, const vector& x, const vector& none) {
        const auto from = reinterpret_cast<__m256>(x), other = reinterpret_cast<__m256>(none);
        to = reinterpret_cast<vector>(Halves ? _mm256_blend_ps(other, _mm256_permute_ps(from, 0x55), 0xcc)
                                             : _mm256_blend_ps(other, _mm256_moveldup_ps(from), 0xaa));
    }
    // The last element of each part in all its places.
    WARPFOLD_AVX2_PART static void last(vector& to, const vector& x) {
        const auto bits = reinterpret_cast<__m256i>(x);
        if constexpr (sizeof(Lane) == 8) {
            to = reinterpret_cast<vector>(_mm256_shuffle_epi32(bits, 0xee));
        } else if constexpr (sizeof(Lane) == 4) {
            to = reinterpret_cast<vector>(_mm256_shuffle_epi32(bits, 0xff));
        } else {
            const auto place = sizeof(Lane) == 2 ? _mm256_set1_epi16(0x0f0e) : _mm256_set1_epi8(0x0f);
            to = reinterpret_cast<vector>(_mm256_shuffle_epi8(bits, place));
        }
    }

private:
    WARPFOLD_AVX2_PART static void transpose(const __m256i& a, const __m256i& b, vector (&to)[runs]) {
        to[0] = reinterpret_cast<vector>(_mm256_permute2x128_si256(a, b, 0x20));
        to[1] = reinterpret_cast<vector>(_mm256_permute2x128_si256(a, b, 0x31));
    }
};

template <class Lane>
struct four_runs {
    static constexpr std::size_t runs = 4;
    typedef Lane vector __attribute__((vector_size(64)));

    WARPFOLD_AVX512_PART static void join(added, vector& x, const vector& y) { x += y; }
    WARPFOLD_CHOOSES(WARPFOLD_AVX512_PART)

    WARPFOLD_AVX512_PART static void fill(vector& x, Lane value) { x = value - vector{}; }
    WARPFOLD_AVX512_PART static void load(const Lane* from, std::size_t length, vector (&part)[runs]) {
        transpose(_mm512_loadu_si512(from), _mm512_loadu_si512(from + length), _mm512_loadu_si512(from + 2 * length),
                  _mm512_loadu_si512(from + 3 * length), part);
    }
    WARPFOLD_AVX512_PART static void store(Lane* to, std::size_t length, const vector (&part)[runs]) {
        vector whole[runs];
        transpose(reinterpret_cast<__m512i>(part[0]), reinterpret_cast<__m512i>(part[1]),
                  reinterpret_cast<__m512i>(part[2]), reinterpret_cast<__m512i>(part[3]), whole);
        for (std::size_t r = 0; r < runs; ++r) {
            _mm512_storeu_si512(to + r * length, reinterpret_cast<__m512i>(whole[r]));
        }
    }
    WARPFOLD_AVX512_PART static void add_neighbours(vector& to, const vector& x, const vector& y) {
        if constexpr (sizeof(Lane) == 8) {
            const auto a = reinterpret_cast<__m512d>(x), b = reinterpret_cast<__m512d>(y);
            to = reinterpret_cast<vector>(_mm512_maskz_unpacklo_pd(0xff, a, b)) +
                 reinterpret_cast<vector>(_mm512_maskz_unpackhi_pd(0xff, a, b));
        } else {
            const auto a = reinterpret_cast<__m512>(x), b = reinterpret_cast<__m512>(y);
            to = reinterpret_cast<vector>(_mm512_maskz_shuffle_ps(0xffff, a, b, 0x88)) +
                 reinterpret_cast<vector>(_mm512_maskz_shuffle_ps(0xffff, a, b, 0xdd));
        }
    }
    template <std::size_t By>
    WARPFOLD_AVX512_PART static void behind(vector& to, const vector& x, const vector& none) {
        to = reinterpret_cast<vector>(_mm512_alignr_epi8(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(none),
                                                         static_cast<int>(16 - By * sizeof(Lane))));
    }
    template <bool Halves>
    WARPFOLD_AVX512_PART static void spread(vector& to, const vector& x, const vector& none) {
        const auto from = reinterpret_cast<__m512>(x), other = reinterpret_cast<__m512>(none);
        to = reinterpret_cast<vector>(Halves ? _mm512_mask_permute_ps(other, 0xcccc, from, 0x55)
                                             : _mm512_mask_moveldup_ps(other, 0xaaaa, from));
    }
    WARPFOLD_AVX512_PART static void last(vector& to, const vector& x) {
        const auto bits = reinterpret_cast<__m512i>(x);
        if constexpr (sizeof(Lane) == 8) {
            to = reinterpret_cast<vector>(_mm512_maskz_shuffle_epi32(0xffff, bits, static_cast<_MM_PERM_ENUM>(0xee)));
        } else if constexpr (sizeof(Lane) == 4) {
            to = reinterpret_cast<vector>(_mm512_maskz_shuffle_epi32(0xffff, bits, static_cast<_MM_PERM_ENUM>(0xff)));
        } else {
            const auto place = sizeof(Lane) == 2 ? _mm512_set1_epi16(0x0f0e) : _mm512_set1_epi8(0x0f);
            to = reinterpret_cast<vector>(_mm512_shuffle_epi8(bits, place));
        }
    }

private:
    WARPFOLD_AVX512_PART static void transpose(const __m512i& a, const __m512i& b, const __m512i& c, const __m512i& d,
                                               vector (&to)[runs]) {
        constexpr __mmask16 every = 0xffff; // without a mask g++ 12 warns
        const auto ab_even = _mm512_maskz_shuffle_i32x4(every, a, b, 0x88),
                   ab_odd = _mm512_maskz_shuffle_i32x4(every, a, b, 0xdd);
        const auto cd_even = _mm512_maskz_shuffle_i32x4(every, c, d, 0x88),
                   cd_odd = _mm512_maskz_shuffle_i32x4(every, c, d, 0xdd);
        to[0] = reinterpret_cast<vector>(_mm512_maskz_shuffle_i32x4(every, ab_even, cd_even, 0x88));
        to[1] = reinterpret_cast<vector>(_mm512_maskz_shuffle_i32x4(every, ab_odd, cd_odd, 0x88));
        to[2] = reinterpret_cast<vector>(_mm512_maskz_shuffle_i32x4(every, ab_even, cd_even, 0xdd));
        to[3] = reinterpret_cast<vector>(_mm512_maskz_shuffle_i32x4(every, ab_odd, cd_odd, 0xdd));
    }
};

#undef WARPFOLD_CHOOSES

// The numbers of 16 bytes are scanned in doubling steps. Floats add [-, a, -, c], and then [-, -, a + b, a + b]: with these
// steps results of positive numbers never decrease (rounded_sums.hpp).
template <class Side, class Join, class Lane>
[[gnu::always_inline]] inline void scan_parts(typename Side::vector& block, const typename Side::vector& none) {
    constexpr std::size_t width = 16 / sizeof(Lane);
    typename Side::vector other;
    if constexpr (std::is_same_v<Lane, float>) {
        Side::template spread<false>(other, block, none);
        Side::join(Join{}, block, other);
        Side::template spread<true>(other, block, none);
        Side::join(Join{}, block, other);
        return;
    }
    Side::template behind<1>(other, block, none);
    Side::join(Join{}, block, other);
    if constexpr (width >= 4) {
        Side::template behind<2>(other, block, none);
        Side::join(Join{}, block, other);
    }
    if constexpr (width >= 8) {
        Side::template behind<4>(other, block, none);
        Side::join(Join{}, block, other);
    }
    if constexpr (width >= 16) {
        Side::template behind<8>(other, block, none);
        Side::join(Join{}, block, other);
    }
}

// Scans `Runs` consecutive runs of Length numbers, each with prefix prefixes[r]. Elements from `next` on are prefetched. Results
// of sums that round are before + (prefix + local sum); others have no `before`.
// Its caller is compiled for the vectors of `Side`, and takes this and its calls in.
template <class Side, class Join, bool Inclusive, std::size_t Runs, std::size_t Length, class Lane>
inline void scan_side_by_side(const Lane* from, const Lane* prefixes, Lane before, Lane* to, const char* next,
                              Lane identity) {
    constexpr bool rounds = std::is_same_v<Join, added> && std::is_floating_point_v<Lane>;
    constexpr std::size_t width = 16 / sizeof(Lane), side = Side::runs;
    using vector = typename Side::vector;
    vector none, first[Runs / side], sums[Runs / side], ahead;
    Side::fill(none, identity);
    Side::fill(ahead, before);
    for (std::size_t g = 0; g < Runs / side; ++g) {
        for (std::size_t r = 0; r < side; ++r) {
            typedef Lane sixteen __attribute__((vector_size(16)));
            const sixteen prefix = prefixes[g * side + r] - sixteen{}; // not +, for -0
            std::memcpy(reinterpret_cast<char*>(&first[g]) + r * 16, &prefix, 16);
        }
        sums[g] = rounds ? none : first[g];
    }
    for (std::size_t j = 0; j < Length; j += side * width) {
        for (std::size_t line = 0; next != nullptr && line < Runs * side / 4; ++line) {
            __builtin_prefetch(next + j * Runs * sizeof(Lane) + line * 64);
        }
        for (std::size_t g = 0; g < Runs / side; ++g) {
            const std::size_t at = g * side * Length + j;
            vector part[side], other;
            Side::load(from + at, Length, part);
            for (vector& block : part) {
                scan_parts<Side, Join, Lane>(block, none);
                vector through = sums[g];
                Side::last(other, block);
                Side::join(Join{}, sums[g], other);
                if constexpr (!Inclusive) {
                    Side::template behind<1>(other, block, none);
                    block = other;
                }
                Side::join(Join{}, through, block);
                if constexpr (rounds) {
                    Side::join(Join{}, through, first[g]);
                    Side::join(Join{}, through, ahead);
                }
                block = through;
            }
            Side::store(to + at, Length, part);
        }
    }
}

template <class Join, bool Inclusive, std::size_t Runs, std::size_t Length, class Lane>
__attribute__((target("avx2"), flatten)) void scan_two_runs(const Lane* from, const Lane* prefixes, Lane before,
                                                            Lane* to, const char* next, Lane identity) {
    scan_side_by_side<two_runs<Lane>, Join, Inclusive, Runs, Length>(from, prefixes, before, to, next, identity);
}
template <class Join, bool Inclusive, std::size_t Runs, std::size_t Length, class Lane>
__attribute__((target("avx512f,avx512bw"), flatten)) void
scan_four_runs(const Lane* from, const Lane* prefixes, Lane before, Lane* to, const char* next, Lane identity) {
    scan_side_by_side<four_runs<Lane>, Join, Inclusive, Runs, Length>(from, prefixes, before, to, next, identity);
}

// Scans as of scan_side_by_side(), in the widest vectors of the machine, which has AVX2.
template <class Join, bool Inclusive, std::size_t Runs, std::size_t Length, class Lane>
void scan_wide(const Lane* from, const Lane* prefixes, Lane before, Lane* to, const Lane* next, Lane identity) {
    const auto scan = has_avx512() ? scan_four_runs<Join, Inclusive, Runs, Length, Lane>
                                   : scan_two_runs<Join, Inclusive, Runs, Length, Lane>;
    scan(from, prefixes, before, to, reinterpret_cast<const char*>(next), identity);
}

// totals[r] = the last local sum of run r, as scan_side_by_side() has it, of `Runs` consecutive runs of Length floating-point
// numbers: as many runs as 16 bytes have numbers go side by side.
template <class Side, std::size_t Runs, std::size_t Length, class Lane>
inline void sum_side_by_side(const Lane* from, Lane* totals, Lane identity) {
    constexpr std::size_t width = 16 / sizeof(Lane);
    typedef Lane sixteen __attribute__((vector_size(16)));
    sixteen sums[Runs / width];
    for (sixteen& s : sums) {
        s = identity - sixteen{};
    }
    for (std::size_t j = 0; j < Length; j += Side::runs * width) {
        for (std::size_t g = 0; g < Runs / width; ++g) {
            typename Side::vector row[width], pairs[2];
            for (std::size_t k = 0; k < width; ++k) {
                std::memcpy(&row[k], from + (g * width + k) * Length + j, sizeof row[k]);
            }
            Side::add_neighbours(pairs[0], row[0], row[1]);
            if constexpr (width == 4) {
                Side::add_neighbours(pairs[1], row[2], row[3]);
                Side::add_neighbours(pairs[0], pairs[0], pairs[1]);
            }
            for (std::size_t part = 0; part < Side::runs; ++part) {
                sixteen more;
                std::memcpy(&more, reinterpret_cast<const char*>(&pairs[0]) + part * 16, 16);
                sums[g] += more;
            }
        }
    }
    std::memcpy(totals, sums, sizeof sums);
}

template <std::size_t Runs, std::size_t Length, class Lane>
__attribute__((target("avx2"), flatten)) void sum_two_parts(const Lane* from, Lane* totals, Lane identity) {
    sum_side_by_side<two_runs<Lane>, Runs, Length>(from, totals, identity);
}
template <std::size_t Runs, std::size_t Length, class Lane>
__attribute__((target("avx512f,avx512bw"), flatten)) void sum_four_parts(const Lane* from, Lane* totals,
                                                                         Lane identity) {
    sum_side_by_side<four_runs<Lane>, Runs, Length>(from, totals, identity);
}

// totals[r] = the result of run r of `Runs` consecutive runs of Length numbers, in any order.
template <class Join, std::size_t Runs, std::size_t Length, class Lane, class Op>
__attribute__((target("avx2"), flatten)) void fold_wide(const Lane* from, Lane* totals, const Op& op) {
    constexpr std::size_t width = 32 / sizeof(Lane);
    using wide = typename two_runs<Lane>::vector;
    for (std::size_t r = 0; r < Runs; ++r, from += Length) {
        wide all, more;
        std::memcpy(&all, from, 32);
        for (std::size_t j = width; j < Length; j += width) {
            std::memcpy(&more, from + j, 32);
            two_runs<Lane>::join(Join{}, all, more);
        }
        Lane lane[width];
        std::memcpy(lane, &all, 32);
        for (std::size_t half = width / 2; half != 0; half /= 2) {
            for (std::size_t l = 0; l < half; ++l) {
                lane[l] = op(lane[l], lane[l + half]);
            }
        }
        totals[r] = lane[0];
    }
}

} // namespace warpfold::detail
#endif

// SPDX-License-Identifier: MIT
// Counts byte values without a table per byte, with AVX-512. 512 bytes become eight vectors, one per bit. They give 16
// vectors for the values of the upper nibble and 16 for the lower one; a byte has a value where both vectors have a 1,
// which population counts add. The time does not depend on the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "warpfold/host/core/vectors.hpp"

#if defined(WARPFOLD_AVX2) && defined(__x86_64__) && !defined(__CUDACC__)
#define WARPFOLD_BYTE_PLANES __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq,gfni")))
#include <immintrin.h>
#if defined(__clang__)
#define WARPFOLD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WARPFOLD_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

namespace warpfold::detail {

#if defined(WARPFOLD_BYTE_PLANES)

class byte_planes {
public:
    static constexpr std::uint64_t least = 8192; // bytes counted at a time

    static bool can() {
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni");
    }

    // Counts the bytes of whole batches and returns their number.
    WARPFOLD_BYTE_PLANES std::uint64_t count(const unsigned char* bytes, std::uint64_t n) {
        if (n < least) {
            return 0;
        }
        lanes_.resize(values * lanes);
        ones_.resize(2 * nibbles * blocks * lanes + lanes);
        std::uint64_t done = 0;
        for (; done + least <= n; done += least) {
            for (unsigned block = 0; block < blocks; ++block) {
                split(bytes + done + block * block_bytes, block);
            }
            auto next = reinterpret_cast<std::uintptr_t>(bytes) + done + least; // prefetched
            for (unsigned upper = 0; upper < nibbles; upper += 4) {
                for (unsigned lower = 0; lower < nibbles; lower += 4) {
                    for (unsigned line = 0; line < least / 64 / 16; ++line, next += 64) {
                        __builtin_prefetch(reinterpret_cast<const void*>(next));
                    }
                    meet(upper, lower);
                }
            }
        }
        return done;
    }

    // Adds the counts to table[value] and resets them.
    void empty(std::uint32_t* table) {
        for (std::size_t k = 0; k < lanes_.size(); ++k) {
            table[k / lanes] += static_cast<std::uint32_t>(lanes_[k]);
        }
        lanes_.assign(lanes_.size(), 0);
    }

private:
    static constexpr unsigned values = 256, nibbles = 16, lanes = 8, block_bytes = 512, blocks = least / block_bytes;

    // The vectors of one nibble value: a cache line per block.
    [[nodiscard]] std::uint64_t* ones(unsigned nibble) {
        const auto start = (reinterpret_cast<std::uintptr_t>(ones_.data()) + 63) / 64 * 64;
        return reinterpret_cast<std::uint64_t*>(start) + std::size_t{nibble} * blocks * lanes;
    }

    // Pairs of numbers of x and y in turn.
    WARPFOLD_BYTE_PLANES static __m512i even(const __m512i& x, const __m512i& y) {
        return _mm512_maskz_shuffle_i64x2(0xff, x, y, 0x88);
    }
    WARPFOLD_BYTE_PLANES static __m512i uneven(const __m512i& x, const __m512i& y) {
        return _mm512_maskz_shuffle_i64x2(0xff, x, y, 0xdd);
    }
    // The vectors of both nibbles of a block.
    WARPFOLD_BYTE_PLANES void split(const unsigned char* bytes, unsigned block) {
        __m512i part[8], planes[8];
        // Transposes 8 by 8 bits, so that bits of one position are adjacent, and then the eight vectors. (Masked
        // intrinsics: GCC 12 warns about uninitialised reads in the others.)
        const __m512i each_bit = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201u));
        const __m512i place =
            _mm512_set_epi64(0x3f372f271f170f07, 0x3e362e261e160e06, 0x3d352d251d150d05, 0x3c342c241c140c04,
                             0x3b332b231b130b03, 0x3a322a221a120a02, 0x3931292119110901, 0x3830282018100800);
        WARPFOLD_UNROLL
        for (unsigned k = 0; k < 8; ++k) {
            const __m512i turned = _mm512_gf2p8affine_epi64_epi8(each_bit, _mm512_loadu_si512(bytes + k * 64), 0);
            part[k] = _mm512_maskz_permutexvar_epi8(~__mmask64{0}, place, turned);
        }
        WARPFOLD_UNROLL
        for (unsigned odd = 0; odd < 2; ++odd) {
            const auto two = [&](unsigned k) WARPFOLD_BYTE_PLANES {
                return odd == 0 ? _mm512_maskz_unpacklo_epi64(0xff, part[k], part[k + 1])
                                : _mm512_maskz_unpackhi_epi64(0xff, part[k], part[k + 1]);
            };
            const __m512i a = two(0), b = two(2), c = two(4), d = two(6);
            planes[odd] = even(even(a, b), even(c, d));
            planes[odd + 2] = even(uneven(a, b), uneven(c, d));
            planes[odd + 4] = uneven(even(a, b), even(c, d));
            planes[odd + 6] = uneven(uneven(a, b), uneven(c, d));
        }
        WARPFOLD_UNROLL
        for (unsigned half = 0; half < 2; ++half) { // the lower bits, then the upper ones
            const __m512i a = planes[4 * half], b = planes[4 * half + 1], c = planes[4 * half + 2],
                          d = planes[4 * half + 3];
            const __m512i low[4] = {~a & ~b, a & ~b, ~a & b, a & b};
            const __m512i high[4] = {~c & ~d, c & ~d, ~c & d, c & d};
            std::uint64_t* const to = ones(half * nibbles) + std::size_t{block} * lanes;
            WARPFOLD_UNROLL
            for (unsigned value = 0; value < nibbles; ++value) {
                _mm512_store_si512(to + std::size_t{value} * blocks * lanes, low[value % 4] & high[value / 4]);
            }
        }
    }

    // Counts the values of four upper and four lower nibbles in all blocks.
    WARPFOLD_BYTE_PLANES void meet(unsigned upper, unsigned lower) {
        __m512i sums[4][4];
        WARPFOLD_UNROLL
        for (unsigned u = 0; u < 4; ++u) {
            WARPFOLD_UNROLL
            for (unsigned l = 0; l < 4; ++l) {
                sums[u][l] = _mm512_loadu_si512(lanes_.data() + ((upper + u) * nibbles + lower + l) * lanes);
            }
        }
        const std::uint64_t* const uppers = ones(nibbles + upper);
        const std::uint64_t* const lowers = ones(lower);
        for (unsigned at = 0; at < blocks * lanes; at += lanes) {
            __m512i low[4];
            WARPFOLD_UNROLL
            for (unsigned l = 0; l < 4; ++l) {
                low[l] = _mm512_load_si512(lowers + l * blocks * lanes + at);
                WARPFOLD_LOAD_ONCE(low[l]);
            }
            WARPFOLD_UNROLL
            for (unsigned u = 0; u < 4; ++u) {
                __m512i one = _mm512_load_si512(uppers + u * blocks * lanes + at);
                WARPFOLD_LOAD_ONCE(one);
                WARPFOLD_UNROLL
                for (unsigned l = 0; l < 4; ++l) {
                    sums[u][l] += _mm512_popcnt_epi64(one & low[l]);
                }
            }
        }
        WARPFOLD_UNROLL
        for (unsigned u = 0; u < 4; ++u) {
            WARPFOLD_UNROLL
            for (unsigned l = 0; l < 4; ++l) {
                _mm512_storeu_si512(lanes_.data() + ((upper + u) * nibbles + lower + l) * lanes, sums[u][l]);
            }
        }
    }

    std::vector<std::uint64_t> lanes_; // eight sums per value
    std::vector<std::uint64_t> ones_;  // the vectors of each nibble value
};

#else

class byte_planes {
public:
    static constexpr std::uint64_t least = 1;

    static bool can() { return false; }
    std::uint64_t count(const unsigned char*, std::uint64_t) { return 0; }
    void empty(std::uint32_t*) {}
};

#endif

} // namespace warpfold::detail

#undef WARPFOLD_UNROLL

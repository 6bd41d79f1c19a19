// SPDX-License-Identifier: MIT
// Sums along runs of numbers, in vectors of 16 bytes: a vector is scanned in doubling steps, one of floats by pairs and halves, and
// the prefix before it is added. The order of additions is the same with vectors of 16 bytes, with wider ones, where several runs go side by
// side (side_by_side.hpp), and with single numbers.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/scan/side_by_side.hpp"
#include "warpfold/operation.hpp"

// g++ 12 and clang have the vector extensions that this needs. nvcc does the same in the same order with single
// numbers, so a scan has the same bits in a .cu file and in a .cpp file.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
#define WARPFOLD_HOST_VECTORS 1
#if defined(WARPFOLD_AVX2)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
#endif
#endif

namespace warpfold::detail {

template <class A>
struct lane_of {
    using type = std::make_unsigned_t<A>; // wraps
};
template <>
struct lane_of<float> {
    using type = float;
};
template <>
struct lane_of<double> {
    using type = double;
};

// The identity of addition: -0 for floating-point numbers, since -0 + +0 is +0.
template <class Lane>
inline constexpr Lane nothing_to_add = std::is_floating_point_v<Lane> ? static_cast<Lane>(-0.0) : Lane{};

#if defined(WARPFOLD_HOST_VECTORS)

template <class A>
struct run_sums {
    static constexpr std::size_t width = 16 / sizeof(A);
    using lane = typename lane_of<A>::type;
    typedef lane vector __attribute__((vector_size(16)));

    // work(0), work(1), ... with constants.
    template <std::size_t Count, class Work>
    static void each(const Work& work) {
        [&]<std::size_t... K>(std::index_sequence<K...>) { (work(std::integral_constant<std::size_t, K>{}), ...); }
        (std::make_index_sequence<Count>{});
    }

    static vector load(const A* from) {
        vector loaded;
        std::memcpy(&loaded, from, 16);
        return loaded;
    }
    static void store(A* to, const vector& value) { std::memcpy(to, &value, 16); }

    // Elements of x and y in turn, from the first or the second halves.
    template <bool Second>
    static vector interleaved(const vector& x, const vector& y) {
        return interleaved<Second>(x, y, std::make_index_sequence<width>{});
    }

    // totals[r] = the sum of run r of `Runs` consecutive runs of Length elements. Integers: in as many lanes as 32 bytes hold,
    // then by halves. Floating-point numbers: in the order of scan().
    template <std::size_t Runs, std::size_t Length>
    static void sum(const A* from, A* totals) {
        if constexpr (std::is_floating_point_v<A>) {
#if defined(WARPFOLD_AVX2)
            if (has_avx2()) {
                (has_avx512() ? sum_four_parts<Runs, Length, A> : sum_two_parts<Runs, Length, A>)(from, totals,
                                                                                                  nothing_to_add<A>);
                return;
            }
#endif
            for (std::size_t r = 0; r < Runs; ++r) {
                vector sums = all_of(nothing_to_add<A>);
                for (std::size_t j = 0; j < Length; j += width) {
                    sums += joined_everywhere(load(from + r * Length + j), std::make_index_sequence<width>{});
                }
                totals[r] = sums[0];
            }
            return;
        }
#if defined(WARPFOLD_AVX2)
        if (has_avx2()) {
            sum_wide<Runs, Length>(from, totals);
            return;
        }
#endif
        each<Runs>([&](auto r) {
            const A* const run = from + r * Length;
            vector low = load(run), high = load(run + width);
            for (std::size_t j = 2 * width; j < Length; j += 2 * width) {
                low += load(run + j);
                high += load(run + j + width);
            }
            totals[r] = joined(low + high);
        });
    }

    // Scans of the same runs, each with prefix prefixes[r]. Elements from `next` on are prefetched. Results of floating-point
    // numbers are before + (prefix + local sum); integers have no `before`.
    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static void scan(const A* from, const A* prefixes, A before, A* to, const A* next) {
#if defined(WARPFOLD_AVX2)
        if (has_avx2()) {
            scan_wide<added, Inclusive, Runs, Length>(
                reinterpret_cast<const lane*>(from), reinterpret_cast<const lane*>(prefixes), static_cast<lane>(before),
                reinterpret_cast<lane*>(to), reinterpret_cast<const lane*>(next), nothing_to_add<lane>);
            return;
        }
#endif
        vector first[Runs], sums[Runs];
        each<Runs>([&](auto r) {
            first[r] = all_of(static_cast<lane>(prefixes[r]));
            sums[r] = rounds ? all_of(nothing_to_add<lane>) : first[r];
        });
        for (std::size_t j = 0; j < Length; j += width) {
            if (next != nullptr) {
                each<Runs / 4>([&](auto line) {
                    __builtin_prefetch(reinterpret_cast<const char*>(next) + j * Runs * sizeof(A) + line * 64);
                });
            }
            each<Runs>([&](auto r) {
                vector block = load(from + r * Length + j);
                if constexpr (std::is_same_v<A, float>) {
                    const vector none = all_of(nothing_to_add<lane>);
                    block += __builtin_shufflevector(none, block, 0, 4, 2, 6);
                    block += __builtin_shufflevector(none, block, 0, 1, 5, 5);
                } else {
                    block += behind<1>(block);
                    if constexpr (width >= 4) {
                        block += behind<2>(block);
                    }
                }
                if constexpr (width >= 8) {
                    block += behind<4>(block);
                }
                if constexpr (width >= 16) {
                    block += behind<8>(block);
                }
                vector results = sums[r] + (Inclusive ? block : behind<1>(block));
                if constexpr (rounds) {
                    results = before + (first[r] + results);
                }
                store(to + r * Length + j, results);
                sums[r] += last(block, std::make_index_sequence<width>{});
            });
        }
    }

private:
    static constexpr bool rounds = std::is_floating_point_v<A>;

    template <bool Second, std::size_t... K>
    static vector interleaved(const vector& x, const vector& y, std::index_sequence<K...>) {
        return __builtin_shufflevector(x, y, ((Second ? width / 2 : 0) + K / 2 + (K % 2 != 0 ? width : 0))...);
    }
    static vector all_of(lane x) { return x - vector{}; } // not +, for -0
    // The sum of the numbers in all lanes: by pairs, and then by halves.
    template <std::size_t... K>
    static vector joined_everywhere(vector x, std::index_sequence<K...>) {
        x += __builtin_shufflevector(x, x, (K ^ 1)...);
        return width == 4 ? x + __builtin_shufflevector(x, x, (K ^ 2) % width...) : x;
    }
    // The sum of the lanes, by halves.
    __attribute__((always_inline)) static A joined(vector sums) {
#if defined(__SSE2__)
        if constexpr (width >= 16) {
            const auto bits = _mm_sad_epu8(reinterpret_cast<__m128i>(sums), _mm_setzero_si128());
            return static_cast<A>(_mm_cvtsi128_si32(bits) + _mm_extract_epi16(bits, 4));
        }
        if constexpr (width >= 8) {
            sums = half_added<4>(sums);
        }
        if constexpr (width >= 4) {
            sums = half_added<2>(sums);
        }
        return static_cast<A>(half_added<1>(sums)[0]);
#else
        lane lanes[width];
        std::memcpy(lanes, &sums, 16);
        for (std::size_t half = width / 2; half != 0; half /= 2) {
            for (std::size_t l = 0; l < half; ++l) {
                lanes[l] = static_cast<lane>(lanes[l] + lanes[l + half]);
            }
        }
        return static_cast<A>(lanes[0]);
#endif
    }
#if defined(__SSE2__)
    template <std::size_t By>
    __attribute__((always_inline)) static vector half_added(vector sums) {
        const auto bits = _mm_srli_si128(reinterpret_cast<__m128i>(sums), static_cast<int>(By * sizeof(A)));
        return sums + reinterpret_cast<vector>(bits);
    }
#endif
    // Element k - By at place k, and the identity in the first places.
    template <std::size_t By, std::size_t... K>
    static vector behind(const vector& x, std::index_sequence<K...>) {
#if defined(__SSE2__)
        const auto bits = _mm_slli_si128(reinterpret_cast<__m128i>(x), static_cast<int>(By * sizeof(A)));
        if constexpr (std::is_floating_point_v<A>) {
            const vector none = {(K < By ? nothing_to_add<lane> : lane{})...};
            return reinterpret_cast<vector>(_mm_or_si128(bits, reinterpret_cast<__m128i>(none)));
        } else {
            return reinterpret_cast<vector>(bits);
        }
#else
        return __builtin_shufflevector(all_of(nothing_to_add<lane>), x, (K < By ? K : width + K - By)...);
#endif
    }
    template <std::size_t By>
    static vector behind(const vector& x) {
        return behind<By>(x, std::make_index_sequence<width>{});
    }
    template <std::size_t... K>
    static vector last(const vector& x, std::index_sequence<K...>) {
        if constexpr (width >= 8) {
            return all_of(x[width - 1]);
        } else {
            return __builtin_shufflevector(x, x, (K * 0 + width - 1)...);
        }
    }

#if defined(WARPFOLD_AVX2)
    typedef lane pair __attribute__((vector_size(32)));

    template <std::size_t Runs, std::size_t Length>
    __attribute__((target("avx2"))) static void sum_wide(const A* from, A* totals) {
        for (std::size_t r = 0; r < Runs; ++r, from += Length) {
            pair wide;
            std::memcpy(&wide, from, 32);
            for (std::size_t j = 2 * width; j < Length; j += 2 * width) {
                pair more;
                std::memcpy(&more, from + j, 32);
                wide += more;
            }
            const auto bits = reinterpret_cast<__m256i>(wide);
            totals[r] = joined(reinterpret_cast<vector>(_mm256_castsi256_si128(bits)) +
                               reinterpret_cast<vector>(_mm256_extracti128_si256(bits, 1)));
        }
    }
#endif
};

#else

template <class A>
struct run_sums {
    static constexpr std::size_t width = 16 / sizeof(A);
    using lane = typename lane_of<A>::type;

    template <std::size_t Runs, std::size_t Length>
    static void sum(const A* from, A* totals) {
        for (std::size_t r = 0; r < Runs; ++r, from += Length) {
            lane sum = nothing_to_add<lane>;
            for (std::size_t j = 0; j < Length; j += width) {
                lane block[width];
                scan_block(from + j, block);
                sum = static_cast<lane>(sum + block[width - 1]);
            }
            totals[r] = static_cast<A>(sum);
        }
    }

    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static void scan(const A* from, const A* prefixes, A before, A* to, const A*) {
        constexpr bool rounds = std::is_floating_point_v<A>;
        for (std::size_t r = 0; r < Runs; ++r, from += Length, to += Length) {
            lane sum = rounds ? nothing_to_add<lane> : static_cast<lane>(prefixes[r]);
            for (std::size_t j = 0; j < Length; j += width) {
                lane block[width];
                scan_block(from + j, block);
                for (std::size_t l = 0; l < width; ++l) {
                    const lane more = Inclusive ? block[l] : (l == 0 ? nothing_to_add<lane> : block[l - 1]);
                    const auto local = static_cast<lane>(sum + more);
                    to[j + l] = static_cast<A>(rounds ? before + (prefixes[r] + local) : local);
                }
                sum = static_cast<lane>(sum + block[width - 1]);
            }
        }
    }

private:
    static void scan_block(const A* from, lane* block) {
        for (std::size_t l = 0; l < width; ++l) {
            block[l] = static_cast<lane>(from[l]);
        }
        for (std::size_t by = 1; by < width; by *= 2) {
            for (std::size_t l = 0; l < width; ++l) {
                if (l / by % 2 != 0) {
                    block[l] = static_cast<lane>(block[l] + block[l / by * by - 1]);
                }
            }
        }
    }
};

#endif

// Extremes along runs. The calls return false where the machine has no vectors for them.
template <class A, class Op>
struct run_extremes {
#if defined(WARPFOLD_HOST_VECTORS) && defined(WARPFOLD_AVX2)
    using lane = typename std::conditional_t<
        std::is_floating_point_v<A>, std::type_identity<A>,
        std::conditional_t<std::is_signed_v<A>, std::make_signed<A>, std::make_unsigned<A>>>::type;
    using join = chosen<std::is_same_v<Op, minimum>>;

    template <std::size_t Runs, std::size_t Length>
    static bool fold(const A* from, A* totals) {
        if (has_avx2()) {
            fold_wide<join, Runs, Length>(reinterpret_cast<const lane*>(from), reinterpret_cast<lane*>(totals), Op{});
        }
        return has_avx2();
    }
    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static bool scan(const A* from, const A* prefixes, A* to, const A* next) {
        if (has_avx2()) {
            scan_wide<join, Inclusive, Runs, Length>(
                reinterpret_cast<const lane*>(from), reinterpret_cast<const lane*>(prefixes), lane{},
                reinterpret_cast<lane*>(to), reinterpret_cast<const lane*>(next), Op::template identity<lane>());
        }
        return has_avx2();
    }
#else
    template <std::size_t Runs, std::size_t Length>
    static bool fold(const A*, A*) {
        return false;
    }
    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static bool scan(const A*, const A*, A*, const A*) {
        return false;
    }
#endif
};

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// Sums along runs of numbers in vectors of 16 bytes: a vector has one element of each of several runs, which are turned
// into it and out of it by interleaving. Each run is added up in order, so that the result does not depend on the
// processor's vectors.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

// g++ 12 and clang have what this needs. nvcc has not: there the same is done in the same order with single numbers, so
// that a scan has the same bits in a .cu file and in a .cpp file.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
#define WARPFOLD_HOST_VECTORS 1
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

#if defined(WARPFOLD_HOST_VECTORS)

template <class A>
struct run_sums {
    static constexpr std::size_t width = 16 / sizeof(A);
    using lane = typename lane_of<A>::type;
    typedef lane vector __attribute__((vector_size(16)));

    // work(0), work(1), ... with constants.
    template <std::size_t Count, class Work>
    static void each(const Work& work) {
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            (work(std::integral_constant<std::size_t, K>{}), ...);
        }(std::make_index_sequence<Count>{});
    }

    static vector load(const A* from) {
        vector loaded;
        std::memcpy(&loaded, from, 16);
        return loaded;
    }
    static void store(A* to, const vector& value) { std::memcpy(to, &value, 16); }

    // Elements of x and y in turns: from the first halves, or from the second ones.
    template <bool Second>
    static vector interleaved(const vector& x, const vector& y) {
        return interleaved<Second>(x, y, std::make_index_sequence<width>{});
    }

    // rows[i][j] becomes rows[j][i].
    static void transpose(vector (&rows)[width]) { transpose(rows, std::make_index_sequence<width / 2>{}); }

    // totals[r] = the sum of the r-th of Runs runs of Length elements that stand one behind the other.
    template <std::size_t Runs, std::size_t Length>
    static void sum(const A* from, A* totals) {
        each<Runs>([&](auto r) {
            const A* const run = from + r * Length;
            vector sums = load(run);
            for (std::size_t j = width; j < Length; j += width) {
                sums += load(run + j);
            }
            lane held[width];
            std::memcpy(held, &sums, 16);
            for (std::size_t j = 1; j < width; ++j) {
                held[0] = static_cast<lane>(held[0] + held[j]);
            }
            totals[r] = static_cast<A>(held[0]);
        });
    }

    // Scans of the same runs, each with before[r] in front. Meanwhile as many elements are fetched from `next` on into
    // the cache.
    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static void scan(const A* from, const A* before, A* to, const A* next) {
        constexpr std::size_t groups = Runs / width;
        vector sums[groups];
        each<groups>([&](auto g) { sums[g] = load(before + g * width); });
        for (std::size_t j = 0; j < Length; j += width) {
            each<Runs / 4>([&](auto line) {
                __builtin_prefetch(reinterpret_cast<const char*>(next) + j * sizeof(A) * Runs + line * 64);
            });
            each<groups>([&](auto g) {
                const std::size_t place = g * width * Length + j;
                vector rows[width];
                each<width>([&](auto r) { rows[r] = load(from + place + r * Length); });
                transpose(rows);
                each<width>([&](auto r) {
                    const vector through = sums[g] + rows[r];
                    rows[r] = Inclusive ? through : sums[g];
                    sums[g] = through;
                });
                transpose(rows);
                each<width>([&](auto r) { store(to + place + r * Length, rows[r]); });
            });
        }
    }

private:
    template <bool Second, std::size_t... K>
    static vector interleaved(const vector& x, const vector& y, std::index_sequence<K...>) {
        return __builtin_shufflevector(x, y, ((Second ? width / 2 : 0) + K / 2 + (K % 2 != 0 ? width : 0))...);
    }
    template <std::size_t... Pair>
    static void transpose(vector (&rows)[width], std::index_sequence<Pair...>) {
        for (std::size_t stage = 1; stage < width; stage *= 2) {
            const vector shuffled[width / 2][2] = {
                {interleaved<false>(rows[Pair], rows[Pair + width / 2]),
                 interleaved<true>(rows[Pair], rows[Pair + width / 2])}...};
            ((rows[2 * Pair] = shuffled[Pair][0], rows[2 * Pair + 1] = shuffled[Pair][1]), ...);
        }
    }
};

#else

template <class A>
struct run_sums {
    static constexpr std::size_t width = 16 / sizeof(A);
    using lane = typename lane_of<A>::type;

    template <std::size_t Runs, std::size_t Length>
    static void sum(const A* from, A* totals) {
        for (std::size_t r = 0; r < Runs; ++r, from += Length) {
            lane sums[width];
            for (std::size_t l = 0; l < width; ++l) {
                sums[l] = static_cast<lane>(from[l]);
            }
            for (std::size_t j = width; j < Length; j += width) {
                for (std::size_t l = 0; l < width; ++l) {
                    sums[l] = static_cast<lane>(sums[l] + static_cast<lane>(from[j + l]));
                }
            }
            for (std::size_t l = 1; l < width; ++l) {
                sums[0] = static_cast<lane>(sums[0] + sums[l]);
            }
            totals[r] = static_cast<A>(sums[0]);
        }
    }

    template <bool Inclusive, std::size_t Runs, std::size_t Length>
    static void scan(const A* from, const A* before, A* to, const A*) {
        lane sums[Runs];
        for (std::size_t r = 0; r < Runs; ++r) {
            sums[r] = static_cast<lane>(before[r]);
        }
        for (std::size_t j = 0; j < Length; ++j) {
            for (std::size_t r = 0; r < Runs; ++r) {
                const auto through = static_cast<lane>(sums[r] + static_cast<lane>(from[r * Length + j]));
                to[r * Length + j] = static_cast<A>(Inclusive ? through : sums[r]);
                sums[r] = through;
            }
        }
    }
};

#endif

} // namespace warpfold::detail

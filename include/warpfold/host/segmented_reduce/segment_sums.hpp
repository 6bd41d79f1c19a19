// SPDX-License-Identifier: MIT
// Short segments on the host, a few side by side, so that additions do not depend on each other. The value of a segment
// depends on its own elements only, not on its neighbours in the vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/reduce/reduce.hpp"
#include "warpfold/host/scan/vectors.hpp"

namespace warpfold::detail {

// total[j] = op over [begin[j], begin[j + 1]). The longest has `most`, the shortest `least` elements; none has more
// than `longest`. Fewer than `behind` elements after `most` elements of the last segment are read. Here each is folded
// in order.
template <class A, class In, class Map, class Op>
struct segment_sums {
    static constexpr std::uint64_t width = 4;
    static constexpr std::uint64_t longest = 2 * host_lanes - 1;
    static constexpr std::uint64_t behind = 0;
    static constexpr std::uint64_t tiny = 0; // fold_tiny() takes segments of up to so many elements; 0: there is none

    static A fold_one(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
        return fold_in_order<A>(in, begin, end, map, op);
    }
    static void fold(const In& in, const std::uint64_t* begin, std::uint64_t least, std::uint64_t most, const Map& map,
                     const Op& op, A* total) {
        if (least != most) {
            unrolled<width>([&](std::uint64_t r) { total[r] = fold_one(in, begin[r], begin[r + 1], map, op); });
            return;
        }
        A sum[width] = {Op::template identity<A>(), Op::template identity<A>(), Op::template identity<A>(),
                        Op::template identity<A>()};
        for (std::uint64_t j = 0; j < most; ++j) {
            unrolled<width>([&](std::uint64_t r) {
                const std::uint64_t k = begin[r] + j;
                sum[r] = op(sum[r], static_cast<A>(detail::mapped(map, in[k], k)));
            });
        }
        std::copy_n(sum, width, total);
    }
};

template <class A, class In>
inline constexpr bool sums_of_numbers = std::is_pointer_v<In>&& std::is_arithmetic_v<A> && sizeof(A) <= 8 &&
                                        sizeof(element_t<In>) >= 4 &&
                                        (std::is_same_v<element_t<In>, A> || (std::is_integral_v<element_t<In>> &&
                                                                              std::is_integral_v<A> && sizeof(A) == 8));

// Sums of numbers: element k of a segment is added to lane k modulo the elements of 16 bytes, and the lanes are added
// by halves. Lanes of shorter segments add zeros, which changes nothing, since a sum that begins with +0 is never -0.
template <class A, class In>
requires sums_of_numbers<A, In>
struct segment_sums<A, In, identity_map, sum> {
    using T = element_t<In>;
    using lane = typename lane_of<A>::type;
    static constexpr std::uint64_t width = 4;
    static constexpr std::uint64_t longest = 255;
    static constexpr std::uint64_t lanes = 16 / sizeof(T);
    static constexpr std::uint64_t behind = lanes;
#if defined(WARPFOLD_HOST_VECTORS)
    static constexpr std::uint64_t tiny = 4;
#else
    static constexpr std::uint64_t tiny = 0;
#endif

    static A fold_one(const In& in, std::uint64_t begin, std::uint64_t end, const identity_map&, const sum&) {
        lane sums[lanes] = {};
        const auto add = [&](std::uint64_t l, T x) { sums[l] = static_cast<lane>(sums[l] + static_cast<lane>(x)); };
        std::uint64_t k = begin;
        for (; k + lanes <= end; k += lanes) {
            unrolled<lanes>([&](std::uint64_t l) { add(l, in[k + l]); });
        }
        for (std::uint64_t l = 0; k < end; ++k, ++l) {
            add(l, in[k]);
        }
        for (std::uint64_t half = lanes / 2; half != 0; half /= 2) {
            for (std::uint64_t l = 0; l < half; ++l) {
                sums[l] = static_cast<lane>(sums[l] + sums[l + half]);
            }
        }
        return static_cast<A>(sums[0]);
    }

#if defined(WARPFOLD_HOST_VECTORS)
    static void fold(const In& in, const std::uint64_t* begin, std::uint64_t least, std::uint64_t most,
                     const identity_map&, const sum&, A* total) {
        vector sums[width] = {};
        std::uint64_t j = 0;
        for (; j + lanes <= least; j += lanes) {
            fetch(in, begin[0] + width * j);
            unrolled<width>([&](std::uint64_t r) { add(sums[r], elements(in + begin[r] + j)); });
        }
        if (j < most) {
            const integer* there[width];
            unrolled<width>([&](std::uint64_t r) { there[r] = ends.data() + longest - (begin[r + 1] - begin[r]); });
            for (; j < most; j += lanes) {
                fetch(in, begin[0] + width * j);
                unrolled<width>(
                    [&](std::uint64_t r) { add(sums[r], elements(in + begin[r] + j) & load<integers>(there[r] + j)); });
            }
        }
        join(sums, begin, total);
    }

    // The same for segments of at most `tiny` elements.
    static void fold_tiny(const In& in, const std::uint64_t* begin, A* total) {
        vector sums[width] = {};
        fetch(in, begin[0]);
        unrolled<width>([&](std::uint64_t r) {
            const integer* const there = ends.data() + longest - (begin[r + 1] - begin[r]);
            for (std::uint64_t j = 0; j < tiny; j += lanes) {
                add(sums[r], elements(in + begin[r] + j) & load<integers>(there + j));
            }
        });
        join(sums, begin, total);
    }

private:
    using vectors = run_sums<A>;
    using vector = typename vectors::vector;
    using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef integer integers __attribute__((vector_size(16)));

    // 32-bit integers are added in 64 bits; signed ones with an offset of 2^31.
    static constexpr bool shifted = sizeof(T) < sizeof(A) && std::is_signed_v<T>;

    // From [longest - n] on: n elements with all bits set, then zeros.
    static constexpr std::array<integer, 2 * longest + lanes> ends = [] {
        std::array<integer, 2 * longest + lanes> made{};
        std::fill_n(made.begin(), longest, integer{-1});
        return made;
    }();

    template <class Vector>
    static Vector load(const void* from) {
        Vector loaded;
        std::memcpy(&loaded, from, 16);
        return loaded;
    }
    static integers elements(const T* from) {
        if constexpr (shifted) {
            return load<integers>(from) ^ std::numeric_limits<integer>::min();
        } else {
            return load<integers>(from);
        }
    }
    static void add(vector& sums, const integers& more) {
        if constexpr (sizeof(T) == sizeof(A)) {
            sums += load<vector>(&more);
        } else {
            const auto two = load<vector>(&more);
            sums += (two & 0xffffffffu) + (two >> 32);
        }
    }

    // Prefetches: hardware prefetchers do not follow four streams.
    static void fetch(const T* in, std::uint64_t k) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(in) + k * sizeof(T) + 16384),
                           0, 2);
    }

    static void join(const vector (&sums)[width], const std::uint64_t* begin, A* total) {
        const auto halves = [](const vector& a, const vector& b) {
            return vectors::template interleaved<false>(a, b) + vectors::template interleaved<true>(a, b);
        };
        const vector x = halves(sums[0], sums[1]), y = halves(sums[2], sums[3]);
        if constexpr (vectors::width == 4) {
            const vector all = __builtin_shufflevector(x, y, 0, 1, 4, 5) + __builtin_shufflevector(x, y, 2, 3, 6, 7);
            std::memcpy(total, &all, 16);
        } else {
            std::memcpy(total, &x, 16);
            std::memcpy(total + 2, &y, 16);
        }
        if constexpr (shifted) {
            unrolled<width>([&](std::uint64_t r) {
                total[r] = static_cast<A>(static_cast<lane>(total[r]) - ((begin[r + 1] - begin[r]) << 31));
            });
        }
    }
#else
    static void fold(const In& in, const std::uint64_t* begin, std::uint64_t, std::uint64_t, const identity_map& map,
                     const sum& op, A* total) {
        unrolled<width>([&](std::uint64_t r) { total[r] = fold_one(in, begin[r], begin[r + 1], map, op); });
    }
#endif
};

} // namespace warpfold::detail

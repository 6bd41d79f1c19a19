// SPDX-License-Identifier: MIT
// Exact sums at the speed of plain ones: a sum in two doubles and a bound of its error. Where all numbers within the bound round to
// the same one, it is the rounded true sum. Otherwise, as for ties, sums that cancel, and special values, integers do the work.
//
//  floats, and products of them   are exact in double. Their sum rounds; the bound comes from the sum of their magnitudes.
//  doubles, and products of them  are split at one bit for a block of numbers: multiples of it are added without error as in chunk.hpp,
//                                 what is left over is added in double. Fused multiply-adds split a product as they form it.
//                                 The bit is found in the first block, and again where a sum left the range that it allows.
//
// M. Daumas, C. Finot: Division of floating point expansions with an application to the computation of a determinant, J. UCS 5(6),
// 1999: rounding tests. This needs default arithmetic (has_default_arithmetic()) and fused multiply-adds.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>

#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/exact_sum/chunk.hpp"

#if defined(WARPFOLD_AVX2)
#include <immintrin.h>
#endif

namespace warpfold::detail {

// a + b in a, its error in b. V: double or a vector of it.
template <class V>
[[gnu::always_inline]] inline void two_sum(V& a, V& b) {
    const V sum = a + b, of_b = sum - a;
    b = (a - (sum - of_b)) + (b - of_b);
    a = sum;
}

// A sum is at most `error` from high + low, but for the rounding of `error` itself.
struct bounded_sum {
    void add(double x, double error_of_x) {
        two_sum(high, x);
        error += error_of_x + 0x1p-52 * (std::abs(low) + std::abs(x));
        low += x;
    }
    void add(const bounded_sum& other) {
        add(other.high, 0);
        add(other.low, other.error);
    }
    // More than the error, and than what the rounding of a few operations on the sum adds where `relative` is their part of it.
    [[nodiscard]] double slack(double relative) const {
        return error * (1 + 0x1p-20) + 0x1p-51 * std::abs(low) + relative * std::abs(high);
    }

    double high = 0, low = 0, error = 0;
};

// lower and upper, which round to the same number of R; none if they do not, or it is zero, not finite, or small.
template <class R>
std::optional<R> same_rounded(double lower, double upper) {
    const R one = static_cast<R>(lower), other = static_cast<R>(upper);
    const bool is_safe = std::isfinite(one) && std::abs(one) > 4 * std::numeric_limits<R>::min();
    return one == other && is_safe ? std::optional(one) : std::nullopt;
}

// What becomes of a bounded sum: none if the bound does not decide it.
template <std::floating_point R>
std::optional<R> bounded_result(const bounded_sum& x, const finish_sum<R>& /*unused*/) {
    const double slack = x.slack(std::is_same_v<R, double> ? 0 : 0x1p-50);
    return same_rounded<R>(x.high + (x.low - slack), x.high + (x.low + slack));
}
inline std::optional<float> bounded_result(const bounded_sum& x, const finish_mean<float>& mean) {
    const double slack = x.slack(0x1p-48), n = static_cast<double>(mean.n);
    return same_rounded<float>((x.high + (x.low - slack)) / n, (x.high + (x.low + slack)) / n);
}
inline std::optional<float> bounded_result(const bounded_sum& x, const finish_norm<float>& /*unused*/) {
    const double slack = x.slack(0x1p-48);
    return same_rounded<float>(std::sqrt(x.high + (x.low - slack)), std::sqrt(x.high + (x.low + slack)));
}
// The root of s + rest is r if these are less than r times a unit of r from its square.
inline std::optional<double> bounded_result(const bounded_sum& x, const finish_norm<double>& /*unused*/) {
    double s = x.high, rest = x.low;
    two_sum(s, rest);
    if (!(s > 0x1p-900 && s < 0x1p900)) {
        return std::nullopt;
    }
    double r = std::sqrt(s); // or a neighbour
    for (int tries = 0; tries < 2; ++tries) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double unit = std::nextafter(r, infinity) - r, difference = std::fma(-r, r, s), off = difference + rest;
        const double slack = x.slack(0) + 0x1p-50 * (std::abs(difference) + std::abs(rest));
        int exponent;
        const bool is_power = std::frexp(r, &exponent) == 0.5; // below it units are half as large
        if (std::abs(off) + slack < r * unit * (1 - 0x1p-10)) {
            return is_power ? std::nullopt : std::optional(r);
        }
        r = std::nextafter(r, off > 0 ? infinity : 0);
    }
    return std::nullopt;
}

#if defined(WARPFOLD_AVX2)

// Adds the vectors to the first one, in pairs.
template <unsigned Count>
WARPFOLD_FMA_PART double total_of(__m256d (&all)[Count]) {
    for (unsigned half = Count / 2; half != 0; half /= 2) {
        for (unsigned p = 0; p < half; ++p) {
            all[p] = _mm256_add_pd(all[p], all[p + half]);
        }
    }
    double lanes[4];
    std::memcpy(lanes, all, sizeof(lanes));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Terms of several arrays: elements of one, or products of two.
template <class T, std::size_t Arrays>
class bounded_terms {
public:
    // Adds n terms. False if the sum is not bounded.
    WARPFOLD_FMA_PART bool add(bounded_sum& to, std::uint64_t n, const T* x, const T* y) {
        const std::uint64_t whole = n / lanes * lanes;
        for (std::uint64_t k = 0; k < whole; k += block) {
            if (!add_block(to, x + k, y + k, std::min(block, whole - k))) {
                return false;
            }
        }
        if (whole == n) {
            return true;
        }
        T last[Arrays][lanes] = {};
        std::copy(x + whole, x + n, last[0]);
        std::copy(y + whole, y + n, last[Arrays - 1]);
        return add_block(to, last[0], last[Arrays - 1], lanes);
    }

private:
    static constexpr std::uint64_t block = 2048; // terms whose errors are bounded together
    static constexpr unsigned lanes = sizeof(T) == 4 ? 32 : 16, packs = lanes / 4;

    // n: a multiple of `lanes`.
    WARPFOLD_FMA_PART static bool add_block(bounded_sum& to, const float* x, const float* y, std::uint64_t n) {
        __m256d sum[packs];
        __m256 magnitude[packs / 2]; // in float: its errors are much less than what the bound has to spare
        for (unsigned p = 0; p < packs; ++p) {
            sum[p] = _mm256_setzero_pd();
            magnitude[p / 2] = _mm256_setzero_ps();
        }
        const __m256 sign = _mm256_set1_ps(-0.0F);
        for (std::uint64_t k = 0; k < n; k += lanes) {
            prefetch_behind<lanes>(x, k);
            if constexpr (Arrays == 2) {
                prefetch_behind<lanes>(y, k);
            }
            for (unsigned p = 0; p < packs; ++p) {
                const __m256d f = _mm256_cvtps_pd(_mm_loadu_ps(x + k + 4 * p));
                if constexpr (Arrays == 1) {
                    sum[p] = _mm256_add_pd(sum[p], f);
                } else {
                    sum[p] = _mm256_fmadd_pd(f, _mm256_cvtps_pd(_mm_loadu_ps(y + k + 4 * p)), sum[p]);
                }
            }
            for (unsigned p = 0; p < packs / 2; ++p) {
                __m256 f = _mm256_loadu_ps(x + k + 8 * p);
                if constexpr (Arrays == 2) {
                    f = _mm256_mul_ps(f, _mm256_loadu_ps(y + k + 8 * p));
                }
                magnitude[p] = _mm256_add_ps(magnitude[p], _mm256_andnot_ps(sign, f));
            }
        }
        __m256d magnitudes[packs];
        for (unsigned p = 0; p < packs / 2; ++p) {
            magnitudes[2 * p] = _mm256_cvtps_pd(_mm256_castps256_ps128(magnitude[p]));
            magnitudes[2 * p + 1] = _mm256_cvtps_pd(_mm256_extractf128_ps(magnitude[p], 1));
        }
        const double most = total_of(magnitudes);
        // At most 64 + 5 additions; and products of floats that underflowed.
        to.add(total_of(sum), 0x1p-46 * most + (Arrays == 2 ? static_cast<double>(n) * 0x1p-149 : 0));
        return std::bit_cast<std::uint64_t>(most) <
               std::bit_cast<std::uint64_t>(0x1p127); // no NaN, also with -ffinite-math-only
    }

    // The same, split at 2^bit.
    WARPFOLD_FMA_PART static bool add_split(bounded_sum& to, const double* x, const double* y, std::uint64_t n,
                                            int bit) {
        const std::uint64_t origin = static_cast<std::uint64_t>(1023 + 52 + bit) << 52 | std::uint64_t{1} << 51;
        const __m256i origins = _mm256_set1_epi64x(static_cast<std::int64_t>(origin));
        const __m256d start = _mm256_castsi256_pd(origins), one = _mm256_set1_pd(1);
        __m256d sum[packs], rest[packs], all[2] = {start, start}, any[2] = {start, start};
        for (unsigned p = 0; p < packs; ++p) {
            sum[p] = start;
            rest[p] = _mm256_setzero_pd();
        }
        for (std::uint64_t k = 0; k < n; k += lanes) {
            prefetch_behind<lanes>(x, k);
            if constexpr (Arrays == 2) {
                prefetch_behind<lanes>(y, k);
            }
            for (unsigned p = 0; p < packs; ++p) {
                const __m256d f = _mm256_loadu_pd(x + k + 4 * p);
                const __m256d g = Arrays == 2 ? _mm256_loadu_pd(y + k + 4 * p) : one;
                const __m256d with = _mm256_fmadd_pd(f, g, sum[p]);
                const __m256d part =
                    _mm256_sub_pd(with, sum[p]); // exact while all sums have the exponent of the origin
                rest[p] = _mm256_add_pd(rest[p], _mm256_fmsub_pd(f, g, part));
                all[p % 2] = _mm256_and_pd(all[p % 2], with);
                any[p % 2] = _mm256_or_pd(any[p % 2], with);
                sum[p] = with;
            }
        }
        const __m256i changed = _mm256_castpd_si256(_mm256_or_pd(_mm256_xor_pd(_mm256_and_pd(all[0], all[1]), start),
                                                                 _mm256_xor_pd(_mm256_or_pd(any[0], any[1]), start)));
        if (_mm256_testz_si256(changed, _mm256_set1_epi64x(static_cast<std::int64_t>(0xfff0000000000000))) == 0) {
            return false;
        }
        __m256i units = _mm256_setzero_si256(); // of all lanes: below 2^55
        for (const __m256d& lane : sum) {
            units = _mm256_add_epi64(units, _mm256_sub_epi64(_mm256_castpd_si256(lane), origins));
        }
        std::int64_t four[4];
        std::memcpy(four, &units, sizeof(four));
        const std::int64_t number = (four[0] + four[1]) + (four[2] + four[3]);
        const auto power_of_2 = [](int exponent) {
            return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
        };
        const double unit = power_of_2(bit), most = static_cast<double>(number);
        to.add(most * unit, 0);
        to.add(static_cast<double>(number - static_cast<std::int64_t>(most)) * unit, 0);
        // Every rest is at most 2^(bit - 1): 128 in a lane, 16 lanes, and as many roundings.
        to.add(total_of(rest), power_of_2(bit - 34));
        return true;
    }

    // The bit for terms as large as those of a block, and four times as large. None where they are not finite, or too large or small.
    static std::optional<int> bit_for(const double* x, const double* y, std::uint64_t n) {
        constexpr int none = std::numeric_limits<int>::min();
        const auto top = [&](const double* of) {
            const exponent_fields fields = exponents_of(of, static_cast<unsigned>(n));
            return fields.most < fields.least             ? -400
                   : fields.most == ieee<double>::special ? none
                                                          : range_of<double>(fields).top;
        };
        const int of_x = top(x), of_y = Arrays == 2 ? top(y) : 0;
        const int bit = of_x + of_y + 2 + 7 - 51; // 128 additions
        return of_x != none && of_y != none && bit > -900 && bit < 900 ? std::optional(bit) : std::nullopt;
    }

    WARPFOLD_FMA_PART bool add_block(bounded_sum& to, const double* x, const double* y, std::uint64_t n) {
        if (bit_ && add_split(to, x, y, n, *bit_)) {
            return true;
        }
        bit_ = bit_for(x, y, n);
        return bit_ && add_split(to, x, y, n, *bit_);
    }

    std::optional<int> bit_;
};

// A sum of n terms by one thread. None if it is not bounded.
template <class T, std::size_t Arrays>
std::optional<bounded_sum> bounded_part(std::uint64_t n, const T* x, const T* y) {
    bounded_sum sum;
    const bool is_bounded = has_default_arithmetic() && with_fused_vectors([&](auto has_fma) {
                                if constexpr (decltype(has_fma)::value) {
                                    bounded_terms<T, Arrays> terms;
                                    return terms.add(sum, n, x, y);
                                } else {
                                    return false;
                                }
                            });
    return is_bounded ? std::optional(sum) : std::nullopt;
}

#endif

template <class T, class... Ins>
inline constexpr bool has_bounds_v =
#if defined(WARPFOLD_AVX2)
    (std::is_same_v<T, float> ||
     std::is_same_v<T, double>)&&((std::is_same_v<Ins, const T*> || std::is_same_v<Ins, T*>)&&...);
#else
    false;
#endif

template <class Finish>
concept is_bounded_finish = requires(const bounded_sum& x, const Finish& finish) {
    bounded_result(x, finish);
};

// What becomes of the sum of n terms of `ins`. None if the bound does not decide it.
template <class T, class Finish, class... Ins>
std::optional<typename Finish::result> bounded_on_host(const host& on, std::uint64_t n, const Finish& finish,
                                                       const Ins&... ins) {
    if constexpr (has_bounds_v<T, Ins...> && is_bounded_finish<Finish>) {
        constexpr std::uint64_t piece_size = std::uint64_t{1} << 16; // elements
        const T* const arrays[] = {ins...};
        const T *const x = arrays[0], *const y = arrays[sizeof...(Ins) - 1];
        bounded_sum total;
        std::atomic<bool> is_bounded = true;
        std::mutex guard;
        const auto add = [&](std::uint64_t piece) {
            const std::uint64_t begin = piece * piece_size;
            if (!is_bounded.load(std::memory_order_relaxed)) {
                return;
            }
            const auto part = bounded_part<T, sizeof...(Ins)>(std::min(n - begin, piece_size), x + begin, y + begin);
            if (!part) {
                is_bounded = false;
                return;
            }
            const std::lock_guard lock(guard);
            total.add(*part);
        };
        parallel_for(on.threads, (n + piece_size - 1) / piece_size, add, pieces_together);
        return is_bounded && n != 0 ? bounded_result(total, finish) : std::nullopt;
    } else {
        return std::nullopt;
    }
}

} // namespace warpfold::detail

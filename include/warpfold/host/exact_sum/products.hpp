// SPDX-License-Identifier: MIT
// Exact sums of products on the host, a chunk at a time (chunk.hpp). A product of floats is a double. A product of doubles
// is the rounded product and its error, which are doubles too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/exact_sum/chunk.hpp"

#if defined(WARPFOLD_AVX2)
#include <immintrin.h>
#endif

namespace warpfold::detail {

// x rounded to 26 bits, and the remainder.
[[gnu::always_inline]] inline void split(const four_doubles& x, four_doubles& upper, four_doubles& lower) {
    four_longs bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bits = (bits + (std::int64_t{1} << 26)) & ~((std::int64_t{1} << 27) - 1);
    std::memcpy(&upper, &bits, sizeof(bits));
    lower = x - upper;
}

// The rounded products and their errors. The products are hidden from the compiler, which could fuse them with sums.
#if defined(WARPFOLD_AVX2)
WARPFOLD_FMA_PART void multiply_fused(const double* x, const double* y, four_doubles& product, four_doubles& error) {
    const __m256d f = _mm256_loadu_pd(x), g = _mm256_loadu_pd(y);
    __m256d p = _mm256_mul_pd(f, g);
    asm("" : "+x"(p));
    product = p;
    error = _mm256_fmsub_pd(f, g, p);
}
#endif
[[gnu::always_inline]] inline void multiply(const double* x, const double* y, four_doubles& product,
                                            four_doubles& error) {
    four_doubles f, g, f1, f0, g1, g0;
    load_four(f, x);
    load_four(g, y);
    split(f, f1, f0);
    split(g, g1, g0);
    product = f * g;
    asm("" : "+m"(product));
    error = f0 * g0 - (((product - f1 * g1) - f0 * g1) - f1 * g0); // Dekker's product
}

// Products as terms of sum_levels().
template <class T, bool HasFma>
struct product_terms {
    static constexpr bool has_errors = sizeof(T) == 8;

    [[gnu::always_inline]] void load(four_doubles& term, four_doubles& error, unsigned k) const {
        if constexpr (!has_errors) {
            four_doubles f, g;
            load_four(f, x + k);
            load_four(g, y + k);
            term = f * g; // 24 bits times 24 bits: exact
#if defined(WARPFOLD_AVX2)
        } else if constexpr (HasFma) {
            multiply_fused(x + k, y + k, term, error);
#endif
        } else {
            multiply(x + k, y + k, term, error);
        }
    }

    const T* x;
    const T* y;
};

// Adds the products of n pairs, at most a chunk and a multiple of `exact_lanes`. Returns false, and adds nothing, if they
// may be too far apart, too large or too small, or not all finite.
template <bool HasFma, class T, class Accumulator>
[[gnu::always_inline]] inline bool add_product_chunk(Accumulator& to, unsigned n, const T* x, const T* y) {
    const exponent_fields a = exponents_of(x, n, next_chunk(n, x)), b = exponents_of(y, n, next_chunk(n, y));
    if (std::max(a.most, b.most) == ieee<T>::special) {
        return false;
    }
    if (a.most < a.least || b.most < b.least) {
        return true;
    }
    if constexpr (sizeof(T) == 8) { // products and errors are finite and not subnormal
        if (a.least == 0 || b.least == 0 || std::max(a.most, b.most) == ieee<double>::special - 1 ||
            a.most + b.most >= 2 * 1023 + 1000 || a.least + b.least <= 2 * 1023 - 900) {
            return false;
        }
    }
    const bit_range of_a = range_of<T>(a), of_b = range_of<T>(b);
    return add_terms_between<exact_most_levels>(to, {of_a.top + of_b.top, of_a.last + of_b.last},
                                                product_terms<T, HasFma>{x, y}, n, next_chunk(n, x, y));
}

// The same for any numbers.
template <class T, class Accumulator>
void add_products(Accumulator& to, unsigned n, const T* x, const T* y) {
    const auto add = [&](auto has_fma) { return detail::add_product_chunk<decltype(has_fma)::value>(to, n, x, y); };
    if (has_default_arithmetic() && with_fused_vectors(add)) {
        return;
    }
    for (unsigned k = 0; k < n; ++k) {
        to.term(x[k], y[k]);
    }
}

} // namespace warpfold::detail

// SPDX-License-Identifier: MIT
// Vectors and column-major matrices as a call hands them over, for loops over their elements.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <type_traits>

#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"

// Expands M(..., I, W) for a call and for its form with sizes of 64 bits, whose name ends in _64.
#define SOFTGPU_BOTH(M, ...) M(__VA_ARGS__, int, ) M(__VA_ARGS__, std::int64_t, _64)
// Expands M(X, T, I, W) for the types of BLAS.
#define SOFTGPU_FOR_TYPES(M)                                                                                           \
    SOFTGPU_BOTH(M, S, float)                                                                                          \
    SOFTGPU_BOTH(M, D, double) SOFTGPU_BOTH(M, C, cuComplex) SOFTGPU_BOTH(M, Z, cuDoubleComplex)

namespace softgpu::runtime::cublas {

// cuBLAS's numbers as those that we compute with.
inline float* number(float* p) { return p; }
inline const float* number(const float* p) { return p; }
inline double* number(double* p) { return p; }
inline const double* number(const double* p) { return p; }
inline auto* number(cuComplex* p) { return reinterpret_cast<std::complex<float>*>(p); }
inline const auto* number(const cuComplex* p) { return reinterpret_cast<const std::complex<float>*>(p); }
inline auto* number(cuDoubleComplex* p) { return reinterpret_cast<std::complex<double>*>(p); }
inline const auto* number(const cuDoubleComplex* p) { return reinterpret_cast<const std::complex<double>*>(p); }

// The same for an array of addresses.
template <class T>
auto numbers(T* const* array) {
    return reinterpret_cast<decltype(number(static_cast<T*>(nullptr))) const*>(array);
}

template <class T>
struct vector_view {
    T* at;
    std::int64_t n;
    std::int64_t increment;

    T& operator[](std::int64_t i) const { return at[vector_place(i, n, increment)]; }
    [[nodiscard]] operand as_operand(const char* name, bool writes = !std::is_const_v<T>) const {
        const auto count = static_cast<std::size_t>(n);
        if (increment == 1) {
            return {name, at, count * sizeof(T), count * sizeof(T), n == 0 ? 0u : 1u, writes};
        }
        return {name, at, sizeof(T), static_cast<std::size_t>(std::abs(increment)) * sizeof(T), count, writes};
    }
};

template <class T>
struct matrix_view {
    T* at;
    std::int64_t rows, columns;
    std::int64_t ld;

    T& operator()(std::int64_t row, std::int64_t column) const { return at[place(row, column, ld)]; }
    [[nodiscard]] bool is_valid() const { return rows >= 0 && columns >= 0 && ld >= std::max<std::int64_t>(1, rows); }
    [[nodiscard]] operand as_operand(const char* name, bool writes = !std::is_const_v<T>) const {
        const auto height = static_cast<std::size_t>(rows);
        return {name,
                at,
                height * sizeof(T),
                static_cast<std::size_t>(ld) * sizeof(T),
                rows == 0 ? 0 : static_cast<std::size_t>(columns),
                writes};
    }
};

} // namespace softgpu::runtime::cublas

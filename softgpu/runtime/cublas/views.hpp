// SPDX-License-Identifier: MIT
// Vectors and column-major matrices as a call hands them over, for loops over their elements.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <type_traits>

#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"

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

template <class T>
struct vector_view {
    T* at;
    int n;
    int increment;

    T& operator[](int i) const { return at[vector_place(i, n, increment)]; }
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
    int rows, columns;
    int ld;

    T& operator()(int row, int column) const { return at[place(row, column, ld)]; }
    [[nodiscard]] bool is_valid() const { return rows >= 0 && columns >= 0 && ld >= std::max(1, rows); }
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

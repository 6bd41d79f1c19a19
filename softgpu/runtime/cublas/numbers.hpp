// SPDX-License-Identifier: MIT
// Numbers of cuBLAS, and elements of column-major matrices.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/cublas/cublas_v2.h"

namespace softgpu::runtime::cublas {

// The type that sums are accumulated in: the next wider one.
template <class T>
struct wide_of;
template <>
struct wide_of<float> {
    using type = double;
};
template <>
struct wide_of<double> {
    using type = long double;
};
template <class T>
struct wide_of<std::complex<T>> {
    using type = std::complex<typename wide_of<T>::type>;
};
template <class T>
using wide = typename wide_of<T>::type;

template <class T>
struct real_of {
    using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
    using type = T;
};
template <class T>
using real = typename real_of<T>::type;

template <class T>
T conjugated(T x) {
    return x;
}
template <class T>
std::complex<T> conjugated(std::complex<T> x) {
    return std::conj(x);
}

// Where element (row, column) of a matrix, or element i of a vector, is.
inline std::ptrdiff_t place(std::ptrdiff_t row, std::ptrdiff_t column, std::ptrdiff_t ld) { return row + column * ld; }
// A negative increment begins at the last element.
inline std::ptrdiff_t vector_place(std::ptrdiff_t i, std::ptrdiff_t n, std::ptrdiff_t increment) {
    return increment >= 0 ? i * increment : (i - (n - 1)) * increment;
}

// Element (row, column) of op(A).
template <class T>
T element(const T* a, std::ptrdiff_t ld, cublasOperation_t op, std::ptrdiff_t row, std::ptrdiff_t column) {
    if (op == CUBLAS_OP_N) {
        return a[place(row, column, ld)];
    }
    const T x = a[place(column, row, ld)];
    return op == CUBLAS_OP_C ? conjugated(x) : x;
}

} // namespace softgpu::runtime::cublas

// SPDX-License-Identifier: MIT
// Matrices that a layout describes.
#pragma once

#include <complex>

#include "softgpu/runtime/cublas/data_types.hpp"
#include "softgpu/runtime/cublas/lt/descriptions.hpp"
#include "softgpu/runtime/cublas/operation.hpp"

namespace softgpu::runtime::cublas {

inline cudaDataType type_of(const layout& l) { return static_cast<cudaDataType>(l.type); }

// Where an element is, in elements.
inline std::int64_t place_in(const layout& l, std::int64_t row, std::int64_t column) {
    return l.order == CUBLASLT_ORDER_COL ? row + column * l.ld : row * l.ld + column;
}
inline const void* matrix_of(const layout& l, const void* at, std::int64_t number) {
    return static_cast<const char*>(at) + number * l.stride * static_cast<std::int64_t>(bytes_of(type_of(l)));
}

inline bool is_valid(const layout& l) {
    const std::uint64_t height = l.order == CUBLASLT_ORDER_ROW ? l.columns : l.rows;
    return l.count >= 0 && l.rows < (1ull << 31) && l.columns < (1ull << 31) &&
           l.ld >= static_cast<std::int64_t>(std::max<std::uint64_t>(1, height));
}

// All matrices of the batch: a matrix that all use, at stride 0, once.
inline void use_matrix(operation& op, const char* name, const layout& l, const void* at, bool writes) {
    const std::size_t one = bytes_of(type_of(l));
    const bool by_columns = l.order == CUBLASLT_ORDER_COL;
    const std::uint64_t width = by_columns ? l.rows : l.columns, rows = by_columns ? l.columns : l.rows;
    for (std::int64_t number = 0; number < (l.stride == 0 ? std::min(l.count, 1) : l.count); ++number) {
        op.uses({name, matrix_of(l, at, number), width * one, static_cast<std::size_t>(l.ld) * one,
                 width == 0 ? 0 : rows, writes});
    }
}

// Element `number` of an array of scalars.
inline std::complex<double> scalar_at(cudaDataType type, const void* at, std::int64_t number) {
    return value_of(type, static_cast<const char*>(at) + number * static_cast<std::int64_t>(bytes_of(type)));
}

} // namespace softgpu::runtime::cublas

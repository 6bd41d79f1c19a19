// SPDX-License-Identifier: MIT
// Column-major matrices of which only some diagonals, or one triangle, are stored.
#pragma once

#include <algorithm>

#include "softgpu/runtime/cublas/views.hpp"

namespace softgpu::runtime::cublas {

enum class storage : std::uint8_t { full, band, packed };
// What is at (row, column) where only (column, row) is stored.
enum class mirror : std::uint8_t { none, symmetric, hermitian };

// T: also const numbers. An element that is neither stored nor mirrored is 0.
template <class T>
struct stored_matrix {
    using number_type = std::remove_const_t<T>;

    T* at;
    std::int64_t rows, columns, ld;
    std::int64_t below, above; // diagonals that are stored on each side of the main one
    storage how = storage::full;
    mirror mirrored = mirror::none;
    bool unit = false; // the main diagonal is 1 and not read

    [[nodiscard]] bool stores(std::int64_t row, std::int64_t column) const {
        return row - column <= below && column - row <= above;
    }
    T& stored(std::int64_t row, std::int64_t column) const {
        switch (how) {
        case storage::full: break;
        case storage::band: return at[place(above + row - column, column, ld)];
        case storage::packed:
            return at[above == 0 ? row + (2 * rows - column - 1) * column / 2 : row + column * (column + 1) / 2];
        }
        return at[place(row, column, ld)];
    }
    number_type operator()(std::int64_t row, std::int64_t column) const {
        if (row == column) {
            return unit                            ? number_type{1}
                   : mirrored == mirror::hermitian ? number_type{std::real(stored(row, column))}
                                                   : stored(row, column);
        }
        if (stores(row, column)) {
            return stored(row, column);
        }
        if (mirrored == mirror::none || !stores(column, row)) {
            return {};
        }
        return mirrored == mirror::hermitian ? conjugated(stored(column, row)) : stored(column, row);
    }
    // Of op(matrix).
    number_type element(cublasOperation_t op, std::int64_t row, std::int64_t column) const {
        if (op == CUBLAS_OP_N) {
            return (*this)(row, column);
        }
        const number_type x = (*this)(column, row);
        return op == CUBLAS_OP_C ? conjugated(x) : x;
    }
    // The rows of a column with elements that may differ from 0.
    [[nodiscard]] std::int64_t first_row(std::int64_t column) const {
        return std::max<std::int64_t>(0, column - (mirrored == mirror::none ? above : std::max(above, below)));
    }
    [[nodiscard]] std::int64_t end_row(std::int64_t column) const {
        return std::min(rows, column + (mirrored == mirror::none ? below : std::max(above, below)) + 1);
    }

    [[nodiscard]] bool is_valid() const {
        const std::int64_t height = how == storage::band ? below + above + 1 : rows;
        return rows >= 0 && columns >= 0 && below >= 0 && above >= 0 &&
               (how == storage::packed || ld >= std::max<std::int64_t>(1, height));
    }
    [[nodiscard]] operand as_operand(const char* name, bool writes = !std::is_const_v<T>) const {
        if (how == storage::packed) {
            const auto bytes = static_cast<std::size_t>(rows * (rows + 1) / 2) * sizeof(T);
            return {name, at, bytes, bytes, rows == 0 ? 0u : 1u, writes};
        }
        const std::int64_t height = how == storage::band ? below + above + 1 : rows;
        operand all = matrix_view<T>{at, height, columns, ld}.as_operand(name, writes);
        if (how == storage::full && rows == columns && (below == 0 || above == 0)) {
            all.part = above == 0 ? operand::lower : operand::upper;
            all.element = sizeof(T);
        }
        return all;
    }
};

// A whole matrix.
template <class T>
stored_matrix<T> whole(T* at, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return {at, rows, columns, ld, rows == 0 ? 0 : rows - 1, columns == 0 ? 0 : columns - 1};
}

// One triangle, or `diagonals` beside the main one, of a square matrix.
template <class T>
stored_matrix<T> triangle(cublasFillMode_t fill, T* at, std::int64_t n, std::int64_t ld, mirror mirrored = mirror::none,
                          bool unit = false) {
    const std::int64_t side = std::max<std::int64_t>(n - 1, 0);
    const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
    return {at, n, n, ld, lower ? side : 0, lower ? 0 : side, storage::full, mirrored, unit};
}
template <class T>
stored_matrix<T> band(cublasFillMode_t fill, T* at, std::int64_t n, std::int64_t diagonals, std::int64_t ld,
                      mirror mirrored = mirror::none, bool unit = false) {
    const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
    return {at, n, n, ld, lower ? diagonals : 0, lower ? 0 : diagonals, storage::band, mirrored, unit};
}
template <class T>
stored_matrix<T> packed(cublasFillMode_t fill, T* at, std::int64_t n, mirror mirrored = mirror::none,
                        bool unit = false) {
    stored_matrix<T> m = triangle(fill, at, n, n, mirrored, unit);
    m.how = storage::packed;
    return m;
}

inline bool is_fill(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER; }
inline bool is_operation(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline bool is_diagonal(cublasDiagType_t d) { return d == CUBLAS_DIAG_UNIT || d == CUBLAS_DIAG_NON_UNIT; }

// Solves op(A) x = x in place for a triangle A; x(i) is a reference to an unknown.
template <class T, class Unknown>
void solve(const stored_matrix<const T>& a, cublasOperation_t op, Unknown x) {
    const bool forward = (a.above == 0) == (op == CUBLAS_OP_N) || a.rows == 1;
    const std::int64_t reach = std::max(a.below, a.above);
    for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t i = forward ? step : a.rows - 1 - step;
        auto rest = static_cast<wide<T>>(x(i));
        for (std::int64_t before = std::max<std::int64_t>(0, step - reach); before < step; ++before) {
            const std::int64_t j = forward ? before : a.rows - 1 - before;
            rest -= static_cast<wide<T>>(a.element(op, i, j)) * static_cast<wide<T>>(x(j));
        }
        x(i) = static_cast<T>(a.unit ? rest : rest / static_cast<wide<T>>(a.element(op, i, i)));
    }
}

inline std::string title_of(const char* name, std::int64_t m, std::int64_t n) {
    return std::string(name) + " " + std::to_string(m) + " x " + std::to_string(n);
}

} // namespace softgpu::runtime::cublas

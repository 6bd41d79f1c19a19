// SPDX-License-Identifier: MIT
// The exported products of a matrix of any storage with a vector, and solutions of triangular systems. Sums are accumulated
// in the next wider type and rounded once.
#include <vector>

#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

template <class T>
std::vector<wide<T>> sums_of(const stored_matrix<const T>& a, cublasOperation_t op, const vector_view<const T>& x) {
    std::vector<wide<T>> sums(static_cast<std::size_t>(op == CUBLAS_OP_N ? a.rows : a.columns));
    for (std::int64_t column = 0; column < a.columns; ++column) { // in the order of memory
        for (std::int64_t row = a.first_row(column); row < a.end_row(column); ++row) {
            const T e = op == CUBLAS_OP_C ? conjugated(a(row, column)) : a(row, column);
            sums[static_cast<std::size_t>(op == CUBLAS_OP_N ? row : column)] +=
                static_cast<wide<T>>(e) * static_cast<wide<T>>(x[op == CUBLAS_OP_N ? column : row]);
        }
    }
    return sums;
}

// y = alpha op(A) x + beta y. Where alpha is 0, A and x are not read; where beta is 0, y is not.
template <class T>
cublasStatus_t multiply_vector(const char* name, cublasHandle_t handle, cublasOperation_t op,
                               const stored_matrix<const T>& a, const T* alpha, const T* x, std::int64_t incx,
                               const T* beta, T* y, std::int64_t incy) noexcept {
    return guarded(handle, [&] {
        require(is_operation(op) && a.is_valid() && incx != 0 && incy != 0);
        if (a.rows == 0 || a.columns == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> by{x, op == CUBLAS_OP_N ? a.columns : a.rows, incx};
        const vector_view<T> out{y, op == CUBLAS_OP_N ? a.rows : a.columns, incy};
        operation issued(*handle, title_of(name, a.rows, a.columns));
        const auto scale = issued.reads_scalar("alpha", alpha);
        const auto keep = issued.reads_scalar("beta", beta);
        issued.uses(a.as_operand("A"));
        issued.uses(by.as_operand("x"));
        issued.uses(out.as_operand("y"));
        return issued.enqueue([=](auto&) {
            const T p = scale(), q = keep();
            const auto sums = p == T{} ? std::vector<wide<T>>(static_cast<std::size_t>(out.n)) : sums_of<T>(a, op, by);
            for (std::int64_t i = 0; i < out.n; ++i) {
                const auto kept = q == T{} ? wide<T>{} : static_cast<wide<T>>(q) * static_cast<wide<T>>(out[i]);
                out[i] = static_cast<T>(static_cast<wide<T>>(p) * sums[static_cast<std::size_t>(i)] + kept);
            }
        });
    });
}

// x = op(A) x, or the solution of op(A) x = x. A: a triangle.
template <bool solves, class T>
cublasStatus_t apply_triangle(const char* name, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                              cublasDiagType_t diagonal, const stored_matrix<const T>& a, T* x,
                              std::int64_t incx) noexcept {
    return guarded(handle, [&] {
        require(is_fill(fill) && is_operation(op) && is_diagonal(diagonal) && a.is_valid() && incx != 0);
        if (a.rows == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<T> out{x, a.rows, incx};
        operation issued(*handle, title_of(name, a.rows, a.rows));
        issued.uses(a.as_operand("A"));
        issued.uses(out.as_operand("x"));
        return issued.enqueue([=](auto&) {
            if constexpr (solves) {
                solve<T>(a, op, [&](std::int64_t i) -> T& { return out[i]; });
            } else {
                const auto sums = sums_of<T>(a, op, {x, a.rows, incx});
                for (std::int64_t i = 0; i < out.n; ++i) {
                    out[i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
                }
            }
        });
    });
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_GENERAL(X, T, I, W)                                                                                    \
    cublasStatus_t cublas##X##gemv_v2##W(cublasHandle_t h, cublasOperation_t op, I m, I n, const T* alpha, const T* a, \
                                         I lda, const T* x, I incx, const T* beta, T* y, I incy) {                     \
        return multiply_vector("cublas" #X "gemv", h, op, whole(number(a), m, n, lda), number(alpha), number(x), incx, \
                               number(beta), number(y), incy);                                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gbmv_v2##W(cublasHandle_t h, cublasOperation_t op, I m, I n, I below, I above,           \
                                         const T* alpha, const T* a, I lda, const T* x, I incx, const T* beta, T* y,   \
                                         I incy) {                                                                     \
        return multiply_vector("cublas" #X "gbmv", h, op, {number(a), m, n, lda, below, above, storage::band},         \
                               number(alpha), number(x), incx, number(beta), number(y), incy);                         \
    }
SOFTGPU_FOR_TYPES(SOFTGPU_GENERAL)
#undef SOFTGPU_GENERAL

// A matrix of which one triangle is stored. fields: the arguments that say how; matrix: of them.
#define SOFTGPU_MIRRORED(name, T, fields, matrix, I, W)                                                                \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, cublasFillMode_t fill, I n, fields(T, I), const T* x,        \
                                        I incx, const T* beta, T* y, I incy) {                                         \
        return !is_fill(fill) ? CUBLAS_STATUS_INVALID_VALUE                                                            \
                              : multiply_vector("cublas" #name, h, CUBLAS_OP_N, matrix, number(alpha), number(x),      \
                                                incx, number(beta), number(y), incy);                                  \
    }
#define SOFTGPU_FULL(T, I) const T *alpha, const T *a, I lda
#define SOFTGPU_BAND(T, I) I k, const T *alpha, const T *a, I lda
#define SOFTGPU_PACKED(T, I) const T *alpha, const T *a
#define SOFTGPU_SYMV(X, T)                                                                                             \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##symv, T, SOFTGPU_FULL, triangle(fill, number(a), n, lda, mirror::symmetric))
SOFTGPU_SYMV(S, float)
SOFTGPU_SYMV(D, double)
SOFTGPU_SYMV(C, cuComplex)
SOFTGPU_SYMV(Z, cuDoubleComplex)
#undef SOFTGPU_SYMV
#define SOFTGPU_HEMV(X, T)                                                                                             \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##hemv, T, SOFTGPU_FULL, triangle(fill, number(a), n, lda, mirror::hermitian))     \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##hbmv, T, SOFTGPU_BAND, band(fill, number(a), n, k, lda, mirror::hermitian))      \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##hpmv, T, SOFTGPU_PACKED, packed(fill, number(a), n, mirror::hermitian))
SOFTGPU_HEMV(C, cuComplex)
SOFTGPU_HEMV(Z, cuDoubleComplex)
#undef SOFTGPU_HEMV
#define SOFTGPU_SBMV(X, T)                                                                                             \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##sbmv, T, SOFTGPU_BAND, band(fill, number(a), n, k, lda, mirror::symmetric))      \
    SOFTGPU_BOTH(SOFTGPU_MIRRORED, X##spmv, T, SOFTGPU_PACKED, packed(fill, number(a), n, mirror::symmetric))
SOFTGPU_SBMV(S, float)
SOFTGPU_SBMV(D, double)
#undef SOFTGPU_SBMV
#undef SOFTGPU_PACKED
#undef SOFTGPU_BAND
#undef SOFTGPU_FULL
#undef SOFTGPU_MIRRORED

#define SOFTGPU_TRIANGLE(name, solves, T, fields, matrix, I, W)                                                        \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op,                 \
                                        cublasDiagType_t diagonal, I n, fields(T, I), T* x, I incx) {                  \
        return apply_triangle<solves>("cublas" #name, h, fill, op, diagonal, matrix, number(x), incx);                 \
    }
#define SOFTGPU_FULL(T, I) const T *a, I lda
#define SOFTGPU_BAND(T, I) I k, const T *a, I lda
#define SOFTGPU_PACKED(T, I) const T* a
#define SOFTGPU_UNIT mirror::none, diagonal == CUBLAS_DIAG_UNIT
#define SOFTGPU_TRIANGLES(X, T, I, W)                                                                                  \
    SOFTGPU_TRIANGLE(X##trmv, false, T, SOFTGPU_FULL, triangle(fill, number(a), n, lda, SOFTGPU_UNIT), I, W)           \
    SOFTGPU_TRIANGLE(X##trsv, true, T, SOFTGPU_FULL, triangle(fill, number(a), n, lda, SOFTGPU_UNIT), I, W)            \
    SOFTGPU_TRIANGLE(X##tbmv, false, T, SOFTGPU_BAND, band(fill, number(a), n, k, lda, SOFTGPU_UNIT), I, W)            \
    SOFTGPU_TRIANGLE(X##tbsv, true, T, SOFTGPU_BAND, band(fill, number(a), n, k, lda, SOFTGPU_UNIT), I, W)             \
    SOFTGPU_TRIANGLE(X##tpmv, false, T, SOFTGPU_PACKED, packed(fill, number(a), n, SOFTGPU_UNIT), I, W)                \
    SOFTGPU_TRIANGLE(X##tpsv, true, T, SOFTGPU_PACKED, packed(fill, number(a), n, SOFTGPU_UNIT), I, W)
SOFTGPU_FOR_TYPES(SOFTGPU_TRIANGLES)
#undef SOFTGPU_TRIANGLES
#undef SOFTGPU_UNIT
#undef SOFTGPU_PACKED
#undef SOFTGPU_BAND
#undef SOFTGPU_FULL
#undef SOFTGPU_TRIANGLE

} // extern "C"
#pragma GCC visibility pop

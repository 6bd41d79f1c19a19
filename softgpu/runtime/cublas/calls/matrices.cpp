// SPDX-License-Identifier: MIT
// The exported calls ger, geam and dgmm.
#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

// A matrix that becomes rows by columns by op.
template <class T>
matrix_view<T> before(cublasOperation_t op, T* at, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return op == CUBLAS_OP_N ? matrix_view<T>{at, rows, columns, ld} : matrix_view<T>{at, columns, rows, ld};
}

template <bool conjugate, class T>
cublasStatus_t ger(const char* name, cublasHandle_t handle, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
                   std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) noexcept {
    return guarded(handle, [&] {
        const matrix_view<T> out{a, m, n, lda};
        require(out.is_valid() && incx != 0 && incy != 0);
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> left{x, m, incx};
        const vector_view<const T> right{y, n, incy};
        operation op(*handle, title_of(name, m, n));
        const auto scale = op.reads_scalar("alpha", alpha);
        op.uses(left.as_operand("x"));
        op.uses(right.as_operand("y"));
        op.uses(out.as_operand("A"));
        return op.enqueue([=](auto&) {
            for (std::int64_t column = 0; scale() != T{} && column < n; ++column) {
                const T factor = scale() * (conjugate ? conjugated(right[column]) : right[column]);
                for (std::int64_t row = 0; row < m; ++row) {
                    out(row, column) += left[row] * factor;
                }
            }
        });
    });
}

template <class T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                    std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* beta,
                    const T* b, std::int64_t ldb, T* c, std::int64_t ldc) noexcept {
    return guarded(handle, [&] {
        const auto one = before(op_a, a, m, n, lda);
        const auto other = before(op_b, b, m, n, ldb);
        const matrix_view<T> out{c, m, n, ldc};
        operation op(*handle, title_of(name, m, n));
        const auto by = op.reads_scalar("alpha", alpha);
        const auto with = op.reads_scalar("beta", beta);
        // A matrix whose factor is 0 on the host may be absent.
        const bool has_a = by.at != nullptr || by.held != T{};
        const bool has_b = with.at != nullptr || with.held != T{};
        require(out.is_valid() && (!has_a || one.is_valid()) && (!has_b || other.is_valid()));
        require((a != c || !has_a || (op_a == CUBLAS_OP_N && lda == ldc)) &&
                (b != c || !has_b || (op_b == CUBLAS_OP_N && ldb == ldc)));
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        if (has_a) {
            op.uses(one.as_operand("A"));
        }
        if (has_b) {
            op.uses(other.as_operand("B"));
        }
        op.uses(out.as_operand("C"));
        return op.enqueue([=](auto&) {
            const T p = by();
            const T q = with();
            for (std::int64_t column = 0; column < n; ++column) {
                for (std::int64_t row = 0; row < m; ++row) {
                    const T left = p == T{} ? T{} : p * element(a, lda, op_a, row, column);
                    const T right = q == T{} ? T{} : q * element(b, ldb, op_b, row, column);
                    out(row, column) = left + right;
                }
            }
        });
    });
}

template <class T>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, std::int64_t m, std::int64_t n,
                    const T* a, std::int64_t lda, const T* x, std::int64_t incx, T* c, std::int64_t ldc) noexcept {
    return guarded(handle, [&] {
        const matrix_view<const T> in{a, m, n, lda};
        const matrix_view<T> out{c, m, n, ldc};
        require(in.is_valid() && out.is_valid());
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> diagonal{x, side == CUBLAS_SIDE_LEFT ? m : n, incx};
        operation op(*handle, title_of(name, m, n));
        op.uses(in.as_operand("A"));
        op.uses(diagonal.as_operand("x"));
        op.uses(out.as_operand("C"));
        return op.enqueue([=](auto&) {
            for (std::int64_t column = 0; column < n; ++column) {
                for (std::int64_t row = 0; row < m; ++row) {
                    out(row, column) = in(row, column) * diagonal[side == CUBLAS_SIDE_LEFT ? row : column];
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

#define SOFTGPU_MATRICES(X, T, I, W)                                                                                   \
    cublasStatus_t cublas##X##geam##W(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n,      \
                                      const T* alpha, const T* a, I lda, const T* beta, const T* b, I ldb, T* c,       \
                                      I ldc) {                                                                         \
        return geam("cublas" #X "geam", h, op_a, op_b, m, n, number(alpha), number(a), lda, number(beta), number(b),   \
                    ldb, number(c), ldc);                                                                              \
    }                                                                                                                  \
    cublasStatus_t cublas##X##dgmm##W(cublasHandle_t h, cublasSideMode_t side, I m, I n, const T* a, I lda,            \
                                      const T* x, I incx, T* c, I ldc) {                                               \
        return dgmm("cublas" #X "dgmm", h, side, m, n, number(a), lda, number(x), incx, number(c), ldc);               \
    }
SOFTGPU_FOR_TYPES(SOFTGPU_MATRICES)
#undef SOFTGPU_MATRICES

#define SOFTGPU_GER(name, T, conjugate, I, W)                                                                          \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, I m, I n, const T* alpha, const T* x, I incx, const T* y,    \
                                        I incy, T* a, I lda) {                                                         \
        return ger<conjugate>("cublas" #name, h, m, n, number(alpha), number(x), incx, number(y), incy, number(a),     \
                              lda);                                                                                    \
    }
SOFTGPU_BOTH(SOFTGPU_GER, Sger, float, false)
SOFTGPU_BOTH(SOFTGPU_GER, Dger, double, false)
SOFTGPU_BOTH(SOFTGPU_GER, Cgeru, cuComplex, false)
SOFTGPU_BOTH(SOFTGPU_GER, Cgerc, cuComplex, true)
SOFTGPU_BOTH(SOFTGPU_GER, Zgeru, cuDoubleComplex, false)
SOFTGPU_BOTH(SOFTGPU_GER, Zgerc, cuDoubleComplex, true)
#undef SOFTGPU_GER

} // extern "C"
#pragma GCC visibility pop

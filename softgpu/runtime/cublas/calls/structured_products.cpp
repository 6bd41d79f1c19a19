// SPDX-License-Identifier: MIT
// The exported products of matrices of which one triangle counts: symm, hemm, trmm, syrk, herk and their like, and trsm.
#include <string>
#include <vector>

#include "softgpu/runtime/cublas/backend.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

template <class T>
std::vector<T> expanded(const stored_matrix<const T>& a) {
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t column = 0; column < a.columns; ++column) {
        for (std::int64_t row = 0; row < a.rows; ++row) {
            all.push_back(a(row, column));
        }
    }
    return all;
}

bool is_side(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT; }

// C = alpha op(A) B + beta C, or C = alpha B op(A) + beta C; C may be B where there is no beta.
template <class T>
cublasStatus_t multiply_side(const char* name, cublasHandle_t handle, bool valid, cublasSideMode_t side,
                             cublasOperation_t op_a, const stored_matrix<const T>& a, std::int64_t m, std::int64_t n,
                             const T* alpha, const T* b, std::int64_t ldb, const T* beta, T* c,
                             std::int64_t ldc) noexcept {
    return guarded(handle, [&] {
        const matrix_view<const T> in{b, m, n, ldb};
        const matrix_view<T> out{c, m, n, ldc};
        require(valid && is_side(side) && a.is_valid() && in.is_valid() && out.is_valid());
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, m, n));
        const auto scale = op.reads_scalar("alpha", alpha);
        const auto keep = beta == nullptr ? scalar<T>{} : op.reads_scalar("beta", beta);
        op.uses(a.as_operand("A"));
        op.uses(in.as_operand("B"));
        op.uses(out.as_operand("C"));
        return op.enqueue([=](auto&) {
            const T factor = scale(), kept = keep();
            std::vector<T> product(static_cast<std::size_t>(m * n));
            if (factor != T{}) {
                const std::vector<T> all = expanded<T>(a);
                if (side == CUBLAS_SIDE_LEFT) {
                    multiply(op_a, CUBLAS_OP_N, m, n, m, factor, all.data(), m, b, ldb, T{}, product.data(), m);
                } else {
                    multiply(CUBLAS_OP_N, op_a, m, n, n, factor, b, ldb, all.data(), n, T{}, product.data(), m);
                }
            }
            for (std::int64_t column = 0; column < n; ++column) {
                for (std::int64_t row = 0; row < m; ++row) {
                    const T sum = product[static_cast<std::size_t>(place(row, column, m))];
                    out(row, column) = kept == T{} ? sum : sum + kept * out(row, column);
                }
            }
        });
    });
}

// Solves op(A) X = alpha B, or X op(A) = alpha B, which is op(A)^T X^T = alpha B^T; X replaces B.
template <class T>
void solve_side(cublasSideMode_t side, cublasOperation_t op_a, const stored_matrix<const T>& a, T factor,
                const matrix_view<T>& out) {
    for (std::int64_t column = 0; factor != T{1} && column < out.columns; ++column) {
        for (std::int64_t row = 0; row < out.rows; ++row) {
            out(row, column) = factor == T{} ? T{} : factor * out(row, column);
        }
    }
    if (factor == T{}) {
        return; // A is not read
    }
    if (side == CUBLAS_SIDE_LEFT) {
        for (std::int64_t column = 0; column < out.columns; ++column) {
            solve<T>(a, op_a, [&](std::int64_t i) -> T& { return out(i, column); });
        }
        return;
    }
    // op(A)^T is A^T, A or the conjugate of A: for the last the conjugates of X solve it with A.
    const bool conjugates = op_a == CUBLAS_OP_C;
    const auto conjugate_row = [&](std::int64_t row) {
        for (std::int64_t i = 0; conjugates && i < out.columns; ++i) {
            out(row, i) = conjugated(out(row, i));
        }
    };
    for (std::int64_t row = 0; row < out.rows; ++row) {
        conjugate_row(row);
        solve<T>(a, op_a == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N, [&](std::int64_t i) -> T& { return out(row, i); });
        conjugate_row(row);
    }
}

template <class T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t op_a, cublasDiagType_t diagonal, std::int64_t m, std::int64_t n, const T* alpha,
                    const T* a, std::int64_t lda, T* b, std::int64_t ldb) noexcept {
    return guarded(handle, [&] {
        const auto in =
            triangle(fill, a, side == CUBLAS_SIDE_LEFT ? m : n, lda, mirror::none, diagonal == CUBLAS_DIAG_UNIT);
        const matrix_view<T> out{b, m, n, ldb};
        require(is_side(side) && is_fill(fill) && is_operation(op_a) && is_diagonal(diagonal) && in.is_valid() &&
                out.is_valid());
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, m, n));
        const auto scale = op.reads_scalar("alpha", alpha);
        op.uses(in.as_operand("A"));
        op.uses(out.as_operand("B"));
        return op.enqueue([=](auto&) { solve_side<T>(side, op_a, in, scale(), out); });
    });
}

template <class T>
cublasStatus_t trsm_batched(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                            cublasOperation_t op_a, cublasDiagType_t diagonal, std::int64_t m, std::int64_t n,
                            const T* alpha, const T* const* a, std::int64_t lda, T* const* b, std::int64_t ldb,
                            std::int64_t count) noexcept {
    return guarded(handle, [&] {
        const std::int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
        require(is_side(side) && is_fill(fill) && is_operation(op_a) && is_diagonal(diagonal) && m >= 0 && n >= 0 &&
                count >= 0 && lda >= std::max<std::int64_t>(1, order) && ldb >= std::max<std::int64_t>(1, m));
        if (m == 0 || n == 0 || count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, m, n) + ", " + std::to_string(count) + " of them");
        const auto scale = op.reads_scalar("alpha", alpha);
        op.uses_addresses("the array of A", a, count);
        op.uses_addresses("the array of B", b, count);
        const auto triangle_of = [=](std::int64_t i) {
            return triangle(fill, a[i], order, lda, mirror::none, diagonal == CUBLAS_DIAG_UNIT);
        };
        const auto out_of = [=](std::int64_t i) { return matrix_view<T>{b[i], m, n, ldb}; };
        return op.enqueue_batch(
            count,
            [=](std::int64_t i) {
                return std::vector{triangle_of(i).as_operand("A"), out_of(i).as_operand("B")};
            },
            [=](std::int64_t i) { solve_side<T>(side, op_a, triangle_of(i), scale(), out_of(i)); });
    });
}

// Of one triangle of C: alpha op(A) op(B)^T + beta C, and with `twice` + alpha op(B) op(A)^T; where C is Hermitian with
// conjugates, and its diagonal becomes real. S, R: the types of alpha and beta.
template <class T, class S, class R>
cublasStatus_t rank_k(const char* name, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op_a,
                      std::int64_t n, std::int64_t k, const S* alpha, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, const R* beta, T* c, std::int64_t ldc, bool hermitian, bool twice) noexcept {
    return guarded(handle, [&] {
        const auto shaped = [&](const T* at, std::int64_t ld) {
            return op_a == CUBLAS_OP_N ? matrix_view<const T>{at, n, k, ld} : matrix_view<const T>{at, k, n, ld};
        };
        const auto in = shaped(a, lda), other = shaped(b, ldb);
        const auto out = triangle(fill, c, n, ldc);
        const bool is_real = std::is_same_v<T, real<T>>;
        require(is_fill(fill) && in.is_valid() && other.is_valid() && out.is_valid());
        require(op_a == CUBLAS_OP_N || op_a == (hermitian ? CUBLAS_OP_C : CUBLAS_OP_T) ||
                (is_real && op_a == CUBLAS_OP_C));
        if (n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n, k));
        const auto scale = op.reads_scalar("alpha", alpha);
        const auto keep = op.reads_scalar("beta", beta);
        if (k != 0) {
            op.uses(in.as_operand("A"));
            op.uses(other.as_operand("B"));
        }
        op.uses(out.as_operand("C"));
        return op.enqueue([=](auto&) {
            const T factor(scale()), kept(keep());
            std::vector<T> product(static_cast<std::size_t>(n * n));
            const cublasOperation_t op_b = op_a != CUBLAS_OP_N ? CUBLAS_OP_N : hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
            multiply(op_a, op_b, n, n, k, factor, a, lda, b, ldb, T{}, product.data(), n);
            if (twice) {
                multiply(op_a, op_b, n, n, k, hermitian ? conjugated(factor) : factor, b, ldb, a, lda, T{1},
                         product.data(), n);
            }
            for (std::int64_t column = 0; column < n; ++column) {
                const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
                for (std::int64_t row = lower ? column : 0; row < (lower ? n : column + 1); ++row) {
                    T sum = product[static_cast<std::size_t>(place(row, column, n))];
                    T& at = out.stored(row, column);
                    sum += kept == T{} ? T{} : kept * at;
                    at = hermitian && row == column ? T{std::real(sum)} : sum;
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

#define SOFTGPU_MIRRORED(name, T, how, I, W)                                                                           \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, I m, I n,      \
                                        const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c,     \
                                        I ldc) {                                                                       \
        return beta == nullptr                                                                                         \
                   ? CUBLAS_STATUS_INVALID_VALUE                                                                       \
                   : multiply_side("cublas" #name, h, is_fill(fill), side, CUBLAS_OP_N,                                \
                                   triangle(fill, number(a), side == CUBLAS_SIDE_LEFT ? m : n, lda, mirror::how), m,   \
                                   n, number(alpha), number(b), ldb, number(beta), number(c), ldc);                    \
    }
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Ssymm, float, symmetric)
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Dsymm, double, symmetric)
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Csymm, cuComplex, symmetric)
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Zsymm, cuDoubleComplex, symmetric)
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Chemm, cuComplex, hermitian)
SOFTGPU_BOTH(SOFTGPU_MIRRORED, Zhemm, cuDoubleComplex, hermitian)
#undef SOFTGPU_MIRRORED

#define SOFTGPU_TRIANGLES(X, T, I, W)                                                                                  \
    cublasStatus_t cublas##X##trmm_v2##W(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,               \
                                         cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha,    \
                                         const T* a, I lda, const T* b, I ldb, T* c, I ldc) {                          \
        return multiply_side("cublas" #X "trmm", h, is_fill(fill) && is_operation(op) && is_diagonal(diagonal), side,  \
                             op,                                                                                       \
                             triangle(fill, number(a), side == CUBLAS_SIDE_LEFT ? m : n, lda, mirror::none,            \
                                      diagonal == CUBLAS_DIAG_UNIT),                                                   \
                             m, n, number(alpha), number(b), ldb, decltype(number(alpha)){}, number(c), ldc);          \
    }                                                                                                                  \
    cublasStatus_t cublas##X##trsm_v2##W(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,               \
                                         cublasOperation_t op, cublasDiagType_t diagonal, I m, I n, const T* alpha,    \
                                         const T* a, I lda, T* b, I ldb) {                                             \
        return trsm("cublas" #X "trsm", h, side, fill, op, diagonal, m, n, number(alpha), number(a), lda, number(b),   \
                    ldb);                                                                                              \
    }                                                                                                                  \
    cublasStatus_t cublas##X##trsmBatched##W(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,           \
                                             cublasOperation_t op, cublasDiagType_t diagonal, I m, I n,                \
                                             const T* alpha, const T* const a[], I lda, T* const b[], I ldb,           \
                                             I count) {                                                                \
        return trsm_batched("cublas" #X "trsmBatched", h, side, fill, op, diagonal, m, n, number(alpha), numbers(a),   \
                            lda, numbers(b), ldb, count);                                                              \
    }
SOFTGPU_FOR_TYPES(SOFTGPU_TRIANGLES)
#undef SOFTGPU_TRIANGLES

// S: the scalars' type in the update by one matrix; R: beta's in those by two.
#define SOFTGPU_RANK_K(k1, k2, kx, T, S, R, hermitian, I, W)                                                           \
    cublasStatus_t cublas##k1##_v2##W(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, I n, I k,         \
                                      const S* alpha, const T* a, I lda, const S* beta, T* c, I ldc) {                 \
        return rank_k("cublas" #k1, h, fill, op, n, k, number(alpha), number(a), lda, number(a), lda, number(beta),    \
                      number(c), ldc, hermitian, false);                                                               \
    }                                                                                                                  \
    cublasStatus_t cublas##k2##_v2##W(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, I n, I k,         \
                                      const T* alpha, const T* a, I lda, const T* b, I ldb, const R* beta, T* c,       \
                                      I ldc) {                                                                         \
        return rank_k("cublas" #k2, h, fill, op, n, k, number(alpha), number(a), lda, number(b), ldb, number(beta),    \
                      number(c), ldc, hermitian, true);                                                                \
    }                                                                                                                  \
    cublasStatus_t cublas##kx##W(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, I n, I k,              \
                                 const T* alpha, const T* a, I lda, const T* b, I ldb, const R* beta, T* c, I ldc) {   \
        return rank_k("cublas" #kx, h, fill, op, n, k, number(alpha), number(a), lda, number(b), ldb, number(beta),    \
                      number(c), ldc, hermitian, false);                                                               \
    }
SOFTGPU_BOTH(SOFTGPU_RANK_K, Ssyrk, Ssyr2k, Ssyrkx, float, float, float, false)
SOFTGPU_BOTH(SOFTGPU_RANK_K, Dsyrk, Dsyr2k, Dsyrkx, double, double, double, false)
SOFTGPU_BOTH(SOFTGPU_RANK_K, Csyrk, Csyr2k, Csyrkx, cuComplex, cuComplex, cuComplex, false)
SOFTGPU_BOTH(SOFTGPU_RANK_K, Zsyrk, Zsyr2k, Zsyrkx, cuDoubleComplex, cuDoubleComplex, cuDoubleComplex, false)
SOFTGPU_BOTH(SOFTGPU_RANK_K, Cherk, Cher2k, Cherkx, cuComplex, float, float, true)
SOFTGPU_BOTH(SOFTGPU_RANK_K, Zherk, Zher2k, Zherkx, cuDoubleComplex, double, double, true)
#undef SOFTGPU_RANK_K

} // extern "C"
#pragma GCC visibility pop

// SPDX-License-Identifier: MIT
// The exported calls of matrices that are not products: gemv, ger, geam, dgmm, trsm, syrk. Their sums are accumulated in the
// next wider type and rounded once, but for those of syrk, which are products.
#include <string>
#include <vector>

#include "softgpu/runtime/cublas/backend.hpp"
#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/views.hpp"

namespace softgpu::runtime::cublas {
namespace {

std::string title_of(const char* name, int m, int n) {
    return std::string(name) + " " + std::to_string(m) + " x " + std::to_string(n);
}

// A matrix that becomes rows by columns by op.
template <class T>
matrix_view<T> before(cublasOperation_t op, T* at, int rows, int columns, int ld) {
    return op == CUBLAS_OP_N ? matrix_view<T>{at, rows, columns, ld} : matrix_view<T>{at, columns, rows, ld};
}

template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,
                    const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy) noexcept {
    return guarded(handle, [&] {
        const matrix_view<const T> in{a, m, n, lda};
        require(in.is_valid() && incx != 0 && incy != 0);
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> by{x, op == CUBLAS_OP_N ? n : m, incx};
        const vector_view<T> out{y, op == CUBLAS_OP_N ? m : n, incy};
        operation issued(*handle, title_of(name, m, n));
        const auto scale = issued.reads_scalar("alpha", alpha);
        const auto keep = issued.reads_scalar("beta", beta);
        issued.uses(in.as_operand("A"));
        issued.uses(by.as_operand("x"));
        issued.uses(out.as_operand("y"));
        return issued.enqueue([=](auto&) {
            std::vector<wide<T>> sums(static_cast<std::size_t>(out.n));
            for (int column = 0; scale() != T{} && column < n; ++column) { // in the order of memory
                for (int row = 0; row < m; ++row) {
                    const T e = op == CUBLAS_OP_C ? conjugated(in(row, column)) : in(row, column);
                    const int to = op == CUBLAS_OP_N ? row : column;
                    const int from = op == CUBLAS_OP_N ? column : row;
                    sums[static_cast<std::size_t>(to)] += static_cast<wide<T>>(e) * static_cast<wide<T>>(by[from]);
                }
            }
            for (int i = 0; i < out.n; ++i) {
                const auto product = static_cast<wide<T>>(scale()) * sums[static_cast<std::size_t>(i)];
                const auto kept =
                    keep() == T{} ? wide<T>{} : static_cast<wide<T>>(keep()) * static_cast<wide<T>>(out[i]);
                out[i] = static_cast<T>(product + kept);
            }
        });
    });
}

template <bool conjugate, class T>
cublasStatus_t ger(const char* name, cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,
                   const T* y, int incy, T* a, int lda) noexcept {
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
            for (int column = 0; scale() != T{} && column < n; ++column) {
                const T factor = scale() * (conjugate ? conjugated(right[column]) : right[column]);
                for (int row = 0; row < m; ++row) {
                    out(row, column) += left[row] * factor;
                }
            }
        });
    });
}

template <class T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c,
                    int ldc) noexcept {
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
            for (int column = 0; column < n; ++column) {
                for (int row = 0; row < m; ++row) {
                    const T left = p == T{} ? T{} : p * element(a, lda, op_a, row, column);
                    const T right = q == T{} ? T{} : q * element(b, ldb, op_b, row, column);
                    out(row, column) = left + right;
                }
            }
        });
    });
}

template <class T>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T* a, int lda,
                    const T* x, int incx, T* c, int ldc) noexcept {
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
            for (int column = 0; column < n; ++column) {
                for (int row = 0; row < m; ++row) {
                    out(row, column) = in(row, column) * diagonal[side == CUBLAS_SIDE_LEFT ? row : column];
                }
            }
        });
    });
}

// Solves op(A) X = alpha B, or X op(A) = alpha B, which is op(A)^T X^T = alpha B^T; X replaces B.
template <class T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t op_a, cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a,
                    int lda, T* b, int ldb) noexcept {
    return guarded(handle, [&] {
        const bool left = side == CUBLAS_SIDE_LEFT;
        const int order = left ? m : n;
        const matrix_view<const T> in{a, order, order, lda};
        const matrix_view<T> out{b, m, n, ldb};
        require(in.is_valid() && out.is_valid());
        if (m == 0 || n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, m, n));
        const auto scale = op.reads_scalar("alpha", alpha);
        op.uses(in.as_operand("A"));
        op.uses(out.as_operand("B"));
        return op.enqueue([=](auto&) {
            const T factor = scale();
            const auto coefficient = [&](int row, int column) {
                return left ? element(a, lda, op_a, row, column) : element(a, lda, op_a, column, row);
            };
            const bool lower = (fill == CUBLAS_FILL_MODE_LOWER) == ((op_a == CUBLAS_OP_N) == left);
            for (int solution = 0; solution < (left ? n : m); ++solution) {
                const auto unknown = [&](int i) -> T& { return left ? out(i, solution) : out(solution, i); };
                for (int step = 0; step < order; ++step) {
                    const int i = lower ? step : order - 1 - step;
                    auto rest =
                        factor == T{} ? wide<T>{} : static_cast<wide<T>>(factor) * static_cast<wide<T>>(unknown(i));
                    for (int known = 0; known < step; ++known) {
                        const int j = lower ? known : order - 1 - known;
                        rest -= static_cast<wide<T>>(coefficient(i, j)) * static_cast<wide<T>>(unknown(j));
                    }
                    unknown(i) = static_cast<T>(
                        diagonal == CUBLAS_DIAG_UNIT ? rest : rest / static_cast<wide<T>>(coefficient(i, i)));
                }
            }
        });
    });
}

template <class T>
cublasStatus_t syrk(const char* name, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op_a, int n,
                    int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc) noexcept {
    return guarded(handle, [&] {
        const auto in = before(op_a, a, n, k, lda);
        const matrix_view<T> out{c, n, n, ldc};
        require(in.is_valid() && out.is_valid() && (op_a != CUBLAS_OP_C || std::is_same_v<T, real<T>>));
        if (n == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n, k));
        const auto scale = op.reads_scalar("alpha", alpha);
        const auto keep = op.reads_scalar("beta", beta);
        op.uses(k == 0 ? operand{} : in.as_operand("A"));
        op.uses(out.as_operand("C"));
        return op.enqueue([=](auto&) {
            std::vector<T> product(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
            const cublasOperation_t op_b = op_a == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
            multiply(op_a, op_b, n, n, k, scale(), a, lda, a, lda, T{}, product.data(), n);
            const T kept = keep();
            for (int column = 0; column < n; ++column) {
                const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
                for (int row = lower ? column : 0; row < (lower ? n : column + 1); ++row) {
                    const T sum = product[static_cast<std::size_t>(place(row, column, n))];
                    out(row, column) = kept == T{} ? sum : sum + kept * out(row, column);
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

#define SOFTGPU_MATRICES(X, T)                                                                                         \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t h, cublasOperation_t op, int m, int n, const T* alpha,            \
                                      const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy) {      \
        return gemv("cublas" #X "gemv", h, op, m, n, number(alpha), number(a), lda, number(x), incx, number(beta),     \
                    number(y), incy);                                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublas##X##geam(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,     \
                                   const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c,      \
                                   int ldc) {                                                                          \
        return geam("cublas" #X "geam", h, op_a, op_b, m, n, number(alpha), number(a), lda, number(beta), number(b),   \
                    ldb, number(c), ldc);                                                                              \
    }                                                                                                                  \
    cublasStatus_t cublas##X##dgmm(cublasHandle_t h, cublasSideMode_t side, int m, int n, const T* a, int lda,         \
                                   const T* x, int incx, T* c, int ldc) {                                              \
        return dgmm("cublas" #X "dgmm", h, side, m, n, number(a), lda, number(x), incx, number(c), ldc);               \
    }                                                                                                                  \
    cublasStatus_t cublas##X##trsm_v2(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,                  \
                                      cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T* alpha,   \
                                      const T* a, int lda, T* b, int ldb) {                                            \
        return trsm("cublas" #X "trsm", h, side, fill, op, diagonal, m, n, number(alpha), number(a), lda, number(b),   \
                    ldb);                                                                                              \
    }                                                                                                                  \
    cublasStatus_t cublas##X##syrk_v2(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op, int n, int k,     \
                                      const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc) {             \
        return syrk("cublas" #X "syrk", h, fill, op, n, k, number(alpha), number(a), lda, number(beta), number(c),     \
                    ldc);                                                                                              \
    }
SOFTGPU_MATRICES(S, float)
SOFTGPU_MATRICES(D, double)
SOFTGPU_MATRICES(C, cuComplex)
SOFTGPU_MATRICES(Z, cuDoubleComplex)
#undef SOFTGPU_MATRICES

#define SOFTGPU_GER(name, T, conjugate)                                                                                \
    cublasStatus_t cublas##name##_v2(cublasHandle_t h, int m, int n, const T* alpha, const T* x, int incx, const T* y, \
                                     int incy, T* a, int lda) {                                                        \
        return ger<conjugate>("cublas" #name, h, m, n, number(alpha), number(x), incx, number(y), incy, number(a),     \
                              lda);                                                                                    \
    }
SOFTGPU_GER(Sger, float, false)
SOFTGPU_GER(Dger, double, false)
SOFTGPU_GER(Cgeru, cuComplex, false)
SOFTGPU_GER(Cgerc, cuComplex, true)
SOFTGPU_GER(Zgeru, cuDoubleComplex, false)
SOFTGPU_GER(Zgerc, cuDoubleComplex, true)
#undef SOFTGPU_GER

} // extern "C"
#pragma GCC visibility pop

// SPDX-License-Identifier: MIT
// The exported calls for batches of small systems of equations, by LU factors with partial pivoting. Factors are computed in
// the next wider type and rounded once.
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

template <class W>
auto magnitude(const W& x) {
    return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// P A = L U in place, column-major without gaps. Gives the number of the first pivot that is 0, or 0.
template <class W>
int factor(std::vector<W>& a, int n, int* pivots) {
    int singular = 0;
    const auto at = [&](int row, int column) -> W& { return a[static_cast<std::size_t>(place(row, column, n))]; };
    for (int step = 0; step < n; ++step) {
        int best = step;
        for (int row = step + 1; pivots != nullptr && row < n; ++row) {
            best = magnitude(at(row, step)) > magnitude(at(best, step)) ? row : best;
        }
        if (pivots != nullptr) {
            pivots[step] = best + 1;
        }
        for (int column = 0; best != step && column < n; ++column) {
            std::swap(at(step, column), at(best, column));
        }
        if (at(step, step) == W{}) {
            singular = singular == 0 ? step + 1 : singular;
            continue;
        }
        for (int row = step + 1; row < n; ++row) {
            at(row, step) /= at(step, step);
            for (int column = step + 1; column < n; ++column) {
                at(row, column) -= at(row, step) * at(step, column);
            }
        }
    }
    return singular;
}

template <class T>
std::vector<wide<T>> widened(const T* a, int n, int lda) {
    std::vector<wide<T>> all;
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < n; ++row) {
            all.push_back(static_cast<wide<T>>(a[place(row, column, lda)]));
        }
    }
    return all;
}

// Solves op(A) X = B in place by the factors of A.
template <class T>
void solve_by_factors(cublasOperation_t op, int n, const T* a, int lda, const int* pivots, const matrix_view<T>& b) {
    const auto lower = triangle(CUBLAS_FILL_MODE_LOWER, a, n, lda, mirror::none, true);
    const auto upper = triangle(CUBLAS_FILL_MODE_UPPER, a, n, lda);
    const auto exchange = [&](std::int64_t column, int row) {
        if (pivots != nullptr && pivots[row] != row + 1) {
            std::swap(b(row, column), b(pivots[row] - 1, column));
        }
    };
    for (std::int64_t column = 0; column < b.columns; ++column) {
        const auto unknown = [&](std::int64_t i) -> T& { return b(i, column); };
        if (op == CUBLAS_OP_N) {
            for (int row = 0; row < n; ++row) {
                exchange(column, row);
            }
            solve<T>(lower, op, unknown);
            solve<T>(upper, op, unknown);
        } else {
            solve<T>(upper, op, unknown);
            solve<T>(lower, op, unknown);
            for (int row = n - 1; row >= 0; --row) {
                exchange(column, row);
            }
        }
    }
}

template <class T>
void set_identity(const matrix_view<T>& c) {
    for (std::int64_t column = 0; column < c.columns; ++column) {
        for (std::int64_t row = 0; row < c.rows; ++row) {
            c(row, column) = row == column ? T{1} : T{};
        }
    }
}

operand integers(const char* name, const int* at, std::int64_t count, bool writes) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
    return {name, at, bytes, bytes, at == nullptr || count == 0 ? 0u : 1u, writes};
}

std::string title_of(const char* name, int n, int count) {
    return std::string(name) + " " + std::to_string(n) + " x " + std::to_string(n) + ", " + std::to_string(count) +
           " of them";
}

template <class T>
cublasStatus_t getrf(const char* name, cublasHandle_t handle, int n, T* const* a, int lda, int* pivots, int* info,
                     int count) noexcept {
    return guarded(handle, [&] {
        require(n >= 0 && count >= 0 && lda >= std::max(1, n) && info != nullptr);
        if (n == 0 || count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n, count));
        op.uses_addresses("the array of A", a, count);
        op.uses(integers("the pivots", pivots, std::int64_t{n} * count, true));
        op.uses(integers("info", info, count, true));
        const auto of = [=](std::int64_t i) { return matrix_view<T>{a[i], n, n, lda}; };
        return op.enqueue_batch(
            count, [=](std::int64_t i) { return std::vector{of(i).as_operand("A")}; },
            [=](std::int64_t i) {
                auto factors = widened<T>(a[i], n, lda);
                info[i] = factor(factors, n, pivots == nullptr ? nullptr : pivots + i * n);
                for (int column = 0; column < n; ++column) {
                    for (int row = 0; row < n; ++row) {
                        of(i)(row, column) = static_cast<T>(factors[static_cast<std::size_t>(place(row, column, n))]);
                    }
                }
            });
    });
}

template <class T>
cublasStatus_t getrs(const char* name, cublasHandle_t handle, cublasOperation_t op_a, int n, int nrhs,
                     const T* const* a, int lda, const int* pivots, T* const* b, int ldb, int* info,
                     int count) noexcept {
    return guarded(handle, [&] {
        require(info != nullptr);
        const int wrong = !is_operation(op_a)    ? 1
                          : n < 0                ? 2
                          : nrhs < 0             ? 3
                          : lda < std::max(1, n) ? 5
                          : ldb < std::max(1, n) ? 8
                          : count < 0            ? 10
                                                 : 0;
        *info = -wrong; // on the host
        require(wrong == 0);
        if (n == 0 || nrhs == 0 || count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n, count));
        op.uses_addresses("the array of A", a, count);
        op.uses_addresses("the array of B", b, count);
        op.uses(integers("the pivots", pivots, std::int64_t{n} * count, false));
        const auto in = [=](std::int64_t i) { return matrix_view<const T>{a[i], n, n, lda}; };
        const auto out = [=](std::int64_t i) { return matrix_view<T>{b[i], n, nrhs, ldb}; };
        return op.enqueue_batch(
            count,
            [=](std::int64_t i) {
                return std::vector{in(i).as_operand("A"), out(i).as_operand("B")};
            },
            [=](std::int64_t i) {
                solve_by_factors<T>(op_a, n, a[i], lda, pivots == nullptr ? nullptr : pivots + i * n, out(i));
            });
    });
}

// C = inverse of A, of which the factors are given, or A itself where `factors` is false.
template <class T>
cublasStatus_t invert(const char* name, cublasHandle_t handle, int n, const T* const* a, int lda, const int* pivots,
                      T* const* c, int ldc, int* info, int count, bool factors) noexcept {
    return guarded(handle, [&] {
        require(n >= 0 && count >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n) && info != nullptr);
        if (n == 0 || count == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n, count));
        op.uses_addresses("the array of A", a, count);
        op.uses_addresses("the array of C", c, count);
        op.uses(integers("the pivots", pivots, std::int64_t{n} * count, false));
        op.uses(integers("info", info, count, true));
        const auto in = [=](std::int64_t i) { return matrix_view<const T>{a[i], n, n, lda}; };
        const auto out = [=](std::int64_t i) { return matrix_view<T>{c[i], n, n, ldc}; };
        return op.enqueue_batch(
            count,
            [=](std::int64_t i) {
                return std::vector{in(i).as_operand("A"), out(i).as_operand("C")};
            },
            [=](std::int64_t i) {
                const T* used = a[i];
                int ld = lda;
                std::vector<T> own;
                std::vector<int> own_pivots(static_cast<std::size_t>(n));
                const int* exchanged = pivots == nullptr ? nullptr : pivots + i * n;
                info[i] = 0;
                if (!factors) {
                    auto computed = widened<T>(a[i], n, lda);
                    info[i] = factor(computed, n, own_pivots.data());
                    std::ranges::transform(computed, std::back_inserter(own),
                                           [](const auto& x) { return static_cast<T>(x); });
                    used = own.data();
                    ld = n;
                    exchanged = own_pivots.data();
                }
                for (int step = 0; info[i] == 0 && step < n; ++step) {
                    info[i] = used[place(step, step, ld)] == T{} ? step + 1 : 0;
                }
                if (info[i] == 0) {
                    set_identity(out(i));
                    solve_by_factors<T>(CUBLAS_OP_N, n, used, ld, exchanged, out(i));
                }
            });
    });
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_SYSTEMS(X, T)                                                                                          \
    cublasStatus_t cublas##X##getrfBatched(cublasHandle_t h, int n, T* const a[], int lda, int* pivots, int* info,     \
                                           int count) {                                                                \
        return getrf("cublas" #X "getrfBatched", h, n, numbers(a), lda, pivots, info, count);                          \
    }                                                                                                                  \
    cublasStatus_t cublas##X##getrsBatched(cublasHandle_t h, cublasOperation_t op, int n, int nrhs,                    \
                                           const T* const a[], int lda, const int* pivots, T* const b[], int ldb,      \
                                           int* info, int count) {                                                     \
        return getrs("cublas" #X "getrsBatched", h, op, n, nrhs, numbers(a), lda, pivots, numbers(b), ldb, info,       \
                     count);                                                                                           \
    }                                                                                                                  \
    cublasStatus_t cublas##X##getriBatched(cublasHandle_t h, int n, const T* const a[], int lda, const int* pivots,    \
                                           T* const c[], int ldc, int* info, int count) {                              \
        return invert("cublas" #X "getriBatched", h, n, numbers(a), lda, pivots, numbers(c), ldc, info, count, true);  \
    }                                                                                                                  \
    cublasStatus_t cublas##X##matinvBatched(cublasHandle_t h, int n, const T* const a[], int lda, T* const inverse[],  \
                                            int ld_inverse, int* info, int count) {                                    \
        return n > 32 ? CUBLAS_STATUS_INVALID_VALUE                                                                    \
                      : invert("cublas" #X "matinvBatched", h, n, numbers(a), lda, nullptr, numbers(inverse),          \
                               ld_inverse, info, count, false);                                                        \
    }
SOFTGPU_SYSTEMS(S, float)
SOFTGPU_SYSTEMS(D, double)
SOFTGPU_SYSTEMS(C, cuComplex)
SOFTGPU_SYSTEMS(Z, cuDoubleComplex)
#undef SOFTGPU_SYSTEMS

} // extern "C"
#pragma GCC visibility pop

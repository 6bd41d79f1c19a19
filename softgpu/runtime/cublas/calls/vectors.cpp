// SPDX-License-Identifier: MIT
// The exported calls of vectors. Sums are accumulated in the next wider type and rounded once.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "softgpu/runtime/cublas/numbers.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/views.hpp"

namespace softgpu::runtime::cublas {
namespace {

std::string title_of(const char* name, std::int64_t n) { return std::string(name) + " of " + std::to_string(n); }

template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, std::int64_t n, const T* alpha, const T* x,
                    std::int64_t incx, T* y, std::int64_t incy) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const auto by = op.reads_scalar("alpha", alpha);
        if (n <= 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> in{x, n, incx};
        const vector_view<T> out{y, n, incy};
        op.uses(in.as_operand("x"));
        op.uses(out.as_operand("y"));
        return op.enqueue([=](auto&) {
            const T a = by();
            for (std::int64_t i = 0; i < n; ++i) {
                out[i] += a * in[i];
            }
        });
    });
}

// S: T, or the type of its absolute value.
template <class T, class S>
cublasStatus_t scal(const char* name, cublasHandle_t handle, std::int64_t n, const S* alpha, T* x,
                    std::int64_t incx) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const auto by = op.reads_scalar("alpha", alpha);
        if (n <= 0 || incx <= 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<T> out{x, n, incx};
        op.uses(out.as_operand("x"));
        return op.enqueue([=](auto&) {
            const S a = by();
            for (std::int64_t i = 0; i < n; ++i) {
                out[i] *= a;
            }
        });
    });
}

template <class T>
cublasStatus_t copy(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, T* y,
                    std::int64_t incy) noexcept {
    return guarded(handle, [&] {
        if (n <= 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n));
        const vector_view<const T> in{x, n, incx};
        const vector_view<T> out{y, n, incy};
        op.uses(in.as_operand("x"));
        op.uses(out.as_operand("y"));
        return op.enqueue([=](auto&) {
            for (std::int64_t i = 0; i < n; ++i) {
                out[i] = in[i];
            }
        });
    });
}

template <class T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t incx, T* y,
                    std::int64_t incy) noexcept {
    return guarded(handle, [&] {
        if (n <= 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, title_of(name, n));
        const vector_view<T> one{x, n, incx};
        const vector_view<T> other{y, n, incy};
        op.uses(one.as_operand("x", true));
        op.uses(other.as_operand("y", true));
        return op.enqueue([=](auto&) {
            for (std::int64_t i = 0; i < n; ++i) {
                std::swap(one[i], other[i]);
            }
        });
    });
}

template <bool conjugate, class T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, const T* y,
                   std::int64_t incy, T* result) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const vector_view<const T> one{x, std::max<std::int64_t>(n, 0), incx};
        const vector_view<const T> other{y, std::max<std::int64_t>(n, 0), incy};
        op.uses(one.as_operand("x"));
        op.uses(other.as_operand("y"));
        op.writes_result(result);
        return op.enqueue([=](auto&) {
            wide<T> sum{};
            for (std::int64_t i = 0; i < n; ++i) {
                sum += static_cast<wide<T>>(conjugate ? conjugated(one[i]) : one[i]) * static_cast<wide<T>>(other[i]);
            }
            *result = static_cast<T>(sum);
        });
    });
}

// |re| + |im|, by which asum, iamax and iamin measure.
template <class T>
T size_of(T x) {
    return std::abs(x);
}
template <class T>
T size_of(std::complex<T> x) {
    return std::abs(x.real()) + std::abs(x.imag());
}

// result = fold(vector).
template <class T, class R, class Fold>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx, R* result,
                      Fold fold) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const vector_view<const T> in{x, incx <= 0 ? 0 : std::max<std::int64_t>(n, 0), incx};
        op.uses(in.as_operand("x"));
        op.writes_result(result);
        return op.enqueue([=](auto&) { *result = static_cast<R>(fold(in)); });
    });
}

// The wider type's range is larger, so squares neither overflow nor vanish.
template <class T>
cublasStatus_t nrm2(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                    real<T>* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        wide<real<T>> sum{};
        for (std::int64_t i = 0; i < in.n; ++i) {
            sum += std::norm(static_cast<wide<T>>(in[i]));
        }
        return std::sqrt(sum);
    });
}

template <class T>
cublasStatus_t asum(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                    real<T>* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        wide<real<T>> sum{};
        for (std::int64_t i = 0; i < in.n; ++i) {
            sum += size_of(static_cast<wide<T>>(in[i]));
        }
        return sum;
    });
}

// From 1; 0 of an empty vector.
template <bool largest, class T, class R>
cublasStatus_t iam(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t incx,
                   R* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < in.n; ++i) {
            const auto now = size_of(in[i]);
            best = (largest ? now > size_of(in[best]) : now < size_of(in[best])) ? i : best;
        }
        return in.n == 0 ? 0 : best + 1;
    });
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_VECTORS(X, T, I, W)                                                                                    \
    cublasStatus_t cublas##X##axpy_v2##W(cublasHandle_t h, I n, const T* alpha, const T* x, I incx, T* y, I incy) {    \
        return axpy("cublas" #X "axpy", h, n, number(alpha), number(x), incx, number(y), incy);                        \
    }                                                                                                                  \
    cublasStatus_t cublas##X##scal_v2##W(cublasHandle_t h, I n, const T* alpha, T* x, I incx) {                        \
        return scal("cublas" #X "scal", h, n, number(alpha), number(x), incx);                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##X##copy_v2##W(cublasHandle_t h, I n, const T* x, I incx, T* y, I incy) {                    \
        return copy("cublas" #X "copy", h, n, number(x), incx, number(y), incy);                                       \
    }                                                                                                                  \
    cublasStatus_t cublas##X##swap_v2##W(cublasHandle_t h, I n, T* x, I incx, T* y, I incy) {                          \
        return swap("cublas" #X "swap", h, n, number(x), incx, number(y), incy);                                       \
    }
SOFTGPU_FOR_TYPES(SOFTGPU_VECTORS)
#undef SOFTGPU_VECTORS

#define SOFTGPU_SCAL(name, T, R, I, W)                                                                                 \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, I n, const R* alpha, T* x, I incx) {                         \
        return scal("cublas" #name, h, n, alpha, number(x), incx);                                                     \
    }
SOFTGPU_BOTH(SOFTGPU_SCAL, Csscal, cuComplex, float)
SOFTGPU_BOTH(SOFTGPU_SCAL, Zdscal, cuDoubleComplex, double)
#undef SOFTGPU_SCAL

#define SOFTGPU_DOT(name, T, conjugate, I, W)                                                                          \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, I n, const T* x, I incx, const T* y, I incy, T* result) {    \
        return dot<conjugate>("cublas" #name, h, n, number(x), incx, number(y), incy, number(result));                 \
    }
SOFTGPU_BOTH(SOFTGPU_DOT, Sdot, float, false)
SOFTGPU_BOTH(SOFTGPU_DOT, Ddot, double, false)
SOFTGPU_BOTH(SOFTGPU_DOT, Cdotu, cuComplex, false)
SOFTGPU_BOTH(SOFTGPU_DOT, Cdotc, cuComplex, true)
SOFTGPU_BOTH(SOFTGPU_DOT, Zdotu, cuDoubleComplex, false)
SOFTGPU_BOTH(SOFTGPU_DOT, Zdotc, cuDoubleComplex, true)
#undef SOFTGPU_DOT

#define SOFTGPU_REDUCE(name, function, T, R, I, W)                                                                     \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, I n, const T* x, I incx, R* result) {                        \
        return function("cublas" #name, h, n, number(x), incx, result);                                                \
    }
#define SOFTGPU_REDUCTIONS(nrm, sum, largest, smallest, T, R, I, W)                                                    \
    SOFTGPU_REDUCE(nrm, nrm2, T, R, I, W)                                                                              \
    SOFTGPU_REDUCE(sum, asum, T, R, I, W)                                                                              \
    SOFTGPU_REDUCE(largest, iam<true>, T, I, I, W)                                                                     \
    SOFTGPU_REDUCE(smallest, iam<false>, T, I, I, W)
SOFTGPU_BOTH(SOFTGPU_REDUCTIONS, Snrm2, Sasum, Isamax, Isamin, float, float)
SOFTGPU_BOTH(SOFTGPU_REDUCTIONS, Dnrm2, Dasum, Idamax, Idamin, double, double)
SOFTGPU_BOTH(SOFTGPU_REDUCTIONS, Scnrm2, Scasum, Icamax, Icamin, cuComplex, float)
SOFTGPU_BOTH(SOFTGPU_REDUCTIONS, Dznrm2, Dzasum, Izamax, Izamin, cuDoubleComplex, double)
#undef SOFTGPU_REDUCTIONS
#undef SOFTGPU_REDUCE

} // extern "C"
#pragma GCC visibility pop

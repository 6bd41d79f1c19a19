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

std::string title_of(const char* name, int n) { return std::string(name) + " of " + std::to_string(n); }

template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,
                    int incy) noexcept {
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
            for (int i = 0; i < n; ++i) {
                out[i] += a * in[i];
            }
        });
    });
}

// S: T, or the type of its absolute value.
template <class T, class S>
cublasStatus_t scal(const char* name, cublasHandle_t handle, int n, const S* alpha, T* x, int incx) noexcept {
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
            for (int i = 0; i < n; ++i) {
                out[i] *= a;
            }
        });
    });
}

template <class T>
cublasStatus_t copy(const char* name, cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) noexcept {
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
            for (int i = 0; i < n; ++i) {
                out[i] = in[i];
            }
        });
    });
}

template <class T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) noexcept {
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
            for (int i = 0; i < n; ++i) {
                std::swap(one[i], other[i]);
            }
        });
    });
}

template <bool conjugate, class T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,
                   T* result) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const vector_view<const T> one{x, std::max(n, 0), incx};
        const vector_view<const T> other{y, std::max(n, 0), incy};
        op.uses(one.as_operand("x"));
        op.uses(other.as_operand("y"));
        op.writes_result(result);
        return op.enqueue([=](auto&) {
            wide<T> sum{};
            for (int i = 0; i < n; ++i) {
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
cublasStatus_t reduce(const char* name, cublasHandle_t handle, int n, const T* x, int incx, R* result,
                      Fold fold) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, title_of(name, n));
        const vector_view<const T> in{x, incx <= 0 ? 0 : std::max(n, 0), incx};
        op.uses(in.as_operand("x"));
        op.writes_result(result);
        return op.enqueue([=](auto&) { *result = static_cast<R>(fold(in)); });
    });
}

// The wider type's range is larger, so squares neither overflow nor vanish.
template <class T>
cublasStatus_t nrm2(const char* name, cublasHandle_t handle, int n, const T* x, int incx, real<T>* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        wide<real<T>> sum{};
        for (int i = 0; i < in.n; ++i) {
            sum += std::norm(static_cast<wide<T>>(in[i]));
        }
        return std::sqrt(sum);
    });
}

template <class T>
cublasStatus_t asum(const char* name, cublasHandle_t handle, int n, const T* x, int incx, real<T>* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        wide<real<T>> sum{};
        for (int i = 0; i < in.n; ++i) {
            sum += size_of(static_cast<wide<T>>(in[i]));
        }
        return sum;
    });
}

// From 1; 0 of an empty vector.
template <bool largest, class T>
cublasStatus_t iam(const char* name, cublasHandle_t handle, int n, const T* x, int incx, int* result) noexcept {
    return reduce(name, handle, n, x, incx, result, [](const vector_view<const T>& in) {
        int best = 0;
        for (int i = 1; i < in.n; ++i) {
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

#define SOFTGPU_VECTORS(X, T)                                                                                          \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t h, int n, const T* alpha, const T* x, int incx, T* y, int incy) { \
        return axpy("cublas" #X "axpy", h, n, number(alpha), number(x), incx, number(y), incy);                        \
    }                                                                                                                  \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t h, int n, const T* alpha, T* x, int incx) {                       \
        return scal("cublas" #X "scal", h, n, number(alpha), number(x), incx);                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t h, int n, const T* x, int incx, T* y, int incy) {                 \
        return copy("cublas" #X "copy", h, n, number(x), incx, number(y), incy);                                       \
    }                                                                                                                  \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t h, int n, T* x, int incx, T* y, int incy) {                       \
        return swap("cublas" #X "swap", h, n, number(x), incx, number(y), incy);                                       \
    }
SOFTGPU_VECTORS(S, float)
SOFTGPU_VECTORS(D, double)
SOFTGPU_VECTORS(C, cuComplex)
SOFTGPU_VECTORS(Z, cuDoubleComplex)
#undef SOFTGPU_VECTORS

cublasStatus_t cublasCsscal_v2(cublasHandle_t h, int n, const float* alpha, cuComplex* x, int incx) {
    return scal("cublasCsscal", h, n, alpha, number(x), incx);
}
cublasStatus_t cublasZdscal_v2(cublasHandle_t h, int n, const double* alpha, cuDoubleComplex* x, int incx) {
    return scal("cublasZdscal", h, n, alpha, number(x), incx);
}

#define SOFTGPU_DOT(name, T, conjugate)                                                                                \
    cublasStatus_t cublas##name##_v2(cublasHandle_t h, int n, const T* x, int incx, const T* y, int incy, T* result) { \
        return dot<conjugate>("cublas" #name, h, n, number(x), incx, number(y), incy, number(result));                 \
    }
SOFTGPU_DOT(Sdot, float, false)
SOFTGPU_DOT(Ddot, double, false)
SOFTGPU_DOT(Cdotu, cuComplex, false)
SOFTGPU_DOT(Cdotc, cuComplex, true)
SOFTGPU_DOT(Zdotu, cuDoubleComplex, false)
SOFTGPU_DOT(Zdotc, cuDoubleComplex, true)
#undef SOFTGPU_DOT

#define SOFTGPU_REDUCE(name, function, T, R)                                                                           \
    cublasStatus_t cublas##name##_v2(cublasHandle_t h, int n, const T* x, int incx, R* result) {                       \
        return function("cublas" #name, h, n, number(x), incx, result);                                                \
    }
#define SOFTGPU_REDUCTIONS(nrm, sum, largest, smallest, T, R)                                                          \
    SOFTGPU_REDUCE(nrm, nrm2, T, R)                                                                                    \
    SOFTGPU_REDUCE(sum, asum, T, R)                                                                                    \
    SOFTGPU_REDUCE(largest, iam<true>, T, int)                                                                         \
    SOFTGPU_REDUCE(smallest, iam<false>, T, int)
SOFTGPU_REDUCTIONS(Snrm2, Sasum, Isamax, Isamin, float, float)
SOFTGPU_REDUCTIONS(Dnrm2, Dasum, Idamax, Idamin, double, double)
SOFTGPU_REDUCTIONS(Scnrm2, Scasum, Icamax, Icamin, cuComplex, float)
SOFTGPU_REDUCTIONS(Dznrm2, Dzasum, Izamax, Izamin, cuDoubleComplex, double)
#undef SOFTGPU_REDUCTIONS
#undef SOFTGPU_REDUCE

} // extern "C"
#pragma GCC visibility pop

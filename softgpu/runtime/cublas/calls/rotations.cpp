// SPDX-License-Identifier: MIT
// The exported plane rotations of two vectors, and calls that make their coefficients. Those on the host are made at once, in
// the next wider type, and rounded once.
#include <cmath>
#include <string>

#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

// (x, y) = (c x + s y, c y - conj(s) x).
template <class T, class C, class S>
cublasStatus_t rotate(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t incx, T* y,
                      std::int64_t incy, const C* c, const S* s) noexcept {
    return guarded(handle, [&] {
        operation op(*handle, std::string(name) + " of " + std::to_string(n));
        const auto cosine = op.reads_scalar("c", c);
        const auto sine = op.reads_scalar("s", s);
        if (n <= 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<T> one{x, n, incx}, other{y, n, incy};
        op.uses(one.as_operand("x"));
        op.uses(other.as_operand("y"));
        return op.enqueue([=](auto&) {
            using W = wide<T>;
            const auto by = static_cast<wide<C>>(cosine());
            const auto with = static_cast<wide<S>>(sine());
            for (std::int64_t i = 0; i < n; ++i) {
                const W a = static_cast<W>(one[i]), b = static_cast<W>(other[i]);
                one[i] = static_cast<T>(by * a + with * b);
                other[i] = static_cast<T>(by * b - conjugated(with) * a);
            }
        });
    });
}

// Coefficients that turn (a, b) into (r, 0); a becomes r, and b, of real numbers, BLAS's z, from which c and s follow.
template <class T>
void make_rotation(T& a, T& b, real<T>& c, T& s) {
    using W = wide<T>;
    using R = wide<real<T>>;
    const W p = static_cast<W>(a), q = static_cast<W>(b);
    const R sizes = std::hypot(std::abs(p), std::abs(q));
    if constexpr (std::is_same_v<T, real<T>>) {
        const R r = std::copysign(sizes, std::abs(p) > std::abs(q) ? p : q);
        const R cosine = sizes == 0 ? R{1} : p / r;
        const R sine = sizes == 0 ? R{0} : q / r;
        const R z = sizes == 0 ? R{0} : std::abs(p) > std::abs(q) ? sine : cosine != 0 ? 1 / cosine : R{1};
        a = static_cast<T>(sizes == 0 ? R{0} : r);
        b = static_cast<T>(z);
        c = static_cast<T>(cosine);
        s = static_cast<T>(sine);
    } else if (std::abs(p) == 0) {
        c = 0;
        s = T{1};
        a = b;
    } else {
        const W direction = p / std::abs(p);
        c = static_cast<real<T>>(std::abs(p) / sizes);
        s = static_cast<T>(direction * std::conj(q) / sizes);
        a = static_cast<T>(direction * sizes);
    }
}

template <class T>
cublasStatus_t rotg(const char* name, cublasHandle_t handle, T* a, T* b, real<T>* c, T* s) noexcept {
    return guarded(handle, [&] {
        require(a != nullptr && b != nullptr && c != nullptr && s != nullptr);
        if (handle->pointers == CUBLAS_POINTER_MODE_HOST) {
            make_rotation(*a, *b, *c, *s);
            return CUBLAS_STATUS_SUCCESS;
        }
        operation op(*handle, name);
        op.uses(vector_view<T>{a, 1, 1}.as_operand("a"));
        op.uses(vector_view<T>{b, 1, 1}.as_operand("b"));
        op.uses(vector_view<real<T>>{c, 1, 1}.as_operand("c"));
        op.uses(vector_view<T>{s, 1, 1}.as_operand("s"));
        return op.enqueue([=](auto&) { make_rotation(*a, *b, *c, *s); });
    });
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_ROT(name, T, C, S, I, W)                                                                               \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t h, I n, T* x, I incx, T* y, I incy, const C* c, const S* s) {   \
        return rotate("cublas" #name, h, n, number(x), incx, number(y), incy, number(c), number(s));                   \
    }
SOFTGPU_BOTH(SOFTGPU_ROT, Srot, float, float, float)
SOFTGPU_BOTH(SOFTGPU_ROT, Drot, double, double, double)
SOFTGPU_BOTH(SOFTGPU_ROT, Crot, cuComplex, float, cuComplex)
SOFTGPU_BOTH(SOFTGPU_ROT, Csrot, cuComplex, float, float)
SOFTGPU_BOTH(SOFTGPU_ROT, Zrot, cuDoubleComplex, double, cuDoubleComplex)
SOFTGPU_BOTH(SOFTGPU_ROT, Zdrot, cuDoubleComplex, double, double)
#undef SOFTGPU_ROT

#define SOFTGPU_ROTG(X, T, R)                                                                                          \
    cublasStatus_t cublas##X##rotg_v2(cublasHandle_t h, T* a, T* b, R* c, T* s) {                                      \
        return rotg("cublas" #X "rotg", h, number(a), number(b), c, number(s));                                        \
    }
SOFTGPU_ROTG(S, float, float)
SOFTGPU_ROTG(D, double, double)
SOFTGPU_ROTG(C, cuComplex, float)
SOFTGPU_ROTG(Z, cuDoubleComplex, double)
#undef SOFTGPU_ROTG

} // extern "C"
#pragma GCC visibility pop

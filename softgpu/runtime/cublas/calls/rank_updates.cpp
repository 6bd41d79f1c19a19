// SPDX-License-Identifier: MIT
// The exported updates of one triangle of a square matrix by the product of vectors.

#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/structured.hpp"

namespace softgpu::runtime::cublas {
namespace {

// A += alpha x y^T + (alpha y x^T), in the triangle; with conjugates where A is Hermitian, whose diagonal becomes real.
// Without y: A += alpha x x^T. S: alpha's type.
template <class T, class S>
cublasStatus_t update(const char* name, cublasHandle_t handle, cublasFillMode_t fill, const stored_matrix<T>& a,
                      const S* alpha, const T* x, std::int64_t incx, const T* y, std::int64_t incy,
                      bool twice) noexcept {
    return guarded(handle, [&] {
        require(is_fill(fill) && a.is_valid() && incx != 0 && incy != 0);
        if (a.rows == 0) {
            return CUBLAS_STATUS_SUCCESS;
        }
        const vector_view<const T> one{x, a.rows, incx};
        const vector_view<const T> other{twice ? y : x, a.rows, twice ? incy : incx};
        operation issued(*handle, title_of(name, a.rows, a.rows));
        const auto scale = issued.reads_scalar("alpha", alpha);
        issued.uses(one.as_operand("x"));
        if (twice) {
            issued.uses(other.as_operand("y"));
        }
        issued.uses(a.as_operand("A"));
        return issued.enqueue([=](auto&) {
            using W = wide<T>;
            const W factor = static_cast<W>(scale());
            if (factor == W{}) {
                return;
            }
            const bool hermitian = a.mirrored == mirror::hermitian;
            const auto turned = [&](W v) { return hermitian ? conjugated(v) : v; };
            for (std::int64_t column = 0; column < a.columns; ++column) {
                const std::int64_t first = a.above == 0 ? column : 0;
                const std::int64_t end = a.above == 0 && a.rows > 1 ? a.rows : column + 1;
                for (std::int64_t row = first; row < end; ++row) {
                    W sum = static_cast<W>(a.stored(row, column)) +
                            factor * static_cast<W>(one[row]) * turned(static_cast<W>(other[column]));
                    if (twice) {
                        sum += turned(factor) * static_cast<W>(other[row]) * turned(static_cast<W>(one[column]));
                    }
                    a.stored(row, column) = static_cast<T>(hermitian && row == column ? W{std::real(sum)} : sum);
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

// S: alpha's type in the update by one vector.
#define SOFTGPU_UPDATES(one, two, T, S, how, I, W)                                                                     \
    cublasStatus_t cublas##one##_v2##W(cublasHandle_t h, cublasFillMode_t fill, I n, const S* alpha, const T* x,       \
                                       I incx, T* a, I lda) {                                                          \
        return update<std::remove_pointer_t<decltype(number(a))>>("cublas" #one, h, fill,                              \
                                                                  triangle(fill, number(a), n, lda, mirror::how),      \
                                                                  number(alpha), number(x), incx, nullptr, 1, false);  \
    }                                                                                                                  \
    cublasStatus_t cublas##two##_v2##W(cublasHandle_t h, cublasFillMode_t fill, I n, const T* alpha, const T* x,       \
                                       I incx, const T* y, I incy, T* a, I lda) {                                      \
        return update("cublas" #two, h, fill, triangle(fill, number(a), n, lda, mirror::how), number(alpha),           \
                      number(x), incx, number(y), incy, true);                                                         \
    }
SOFTGPU_BOTH(SOFTGPU_UPDATES, Ssyr, Ssyr2, float, float, symmetric)
SOFTGPU_BOTH(SOFTGPU_UPDATES, Dsyr, Dsyr2, double, double, symmetric)
SOFTGPU_BOTH(SOFTGPU_UPDATES, Csyr, Csyr2, cuComplex, cuComplex, symmetric)
SOFTGPU_BOTH(SOFTGPU_UPDATES, Zsyr, Zsyr2, cuDoubleComplex, cuDoubleComplex, symmetric)
SOFTGPU_BOTH(SOFTGPU_UPDATES, Cher, Cher2, cuComplex, float, hermitian)
SOFTGPU_BOTH(SOFTGPU_UPDATES, Zher, Zher2, cuDoubleComplex, double, hermitian)
#undef SOFTGPU_UPDATES

#define SOFTGPU_PACKED_UPDATES(one, two, T, S, how, I, W)                                                              \
    cublasStatus_t cublas##one##_v2##W(cublasHandle_t h, cublasFillMode_t fill, I n, const S* alpha, const T* x,       \
                                       I incx, T* a) {                                                                 \
        return update<std::remove_pointer_t<decltype(number(a))>>("cublas" #one, h, fill,                              \
                                                                  packed(fill, number(a), n, mirror::how),             \
                                                                  number(alpha), number(x), incx, nullptr, 1, false);  \
    }                                                                                                                  \
    cublasStatus_t cublas##two##_v2##W(cublasHandle_t h, cublasFillMode_t fill, I n, const T* alpha, const T* x,       \
                                       I incx, const T* y, I incy, T* a) {                                             \
        return update("cublas" #two, h, fill, packed(fill, number(a), n, mirror::how), number(alpha), number(x), incx, \
                      number(y), incy, true);                                                                          \
    }
SOFTGPU_BOTH(SOFTGPU_PACKED_UPDATES, Sspr, Sspr2, float, float, symmetric)
SOFTGPU_BOTH(SOFTGPU_PACKED_UPDATES, Dspr, Dspr2, double, double, symmetric)
SOFTGPU_BOTH(SOFTGPU_PACKED_UPDATES, Chpr, Chpr2, cuComplex, float, hermitian)
SOFTGPU_BOTH(SOFTGPU_PACKED_UPDATES, Zhpr, Zhpr2, cuDoubleComplex, double, hermitian)
#undef SOFTGPU_PACKED_UPDATES

} // extern "C"
#pragma GCC visibility pop

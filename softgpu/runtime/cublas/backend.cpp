// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/backend.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <vector>

#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/cublas/numbers.hpp"

namespace softgpu::runtime::cublas {
namespace {

// CBLAS's values and prototypes: scalars of complex numbers are passed by address.
constexpr int column_major = 102;
constexpr int no_transpose = 111; // transpose and conjugate transpose follow
template <class T>
using real_product = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
using complex_product = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                                 const void*, void*, int);

struct cblas_library {
    real_product<float> s = nullptr;
    real_product<double> d = nullptr;
    complex_product c = nullptr, z = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& out) {
    out = reinterpret_cast<Function>(::dlsym(library, name));
}

// Loaded at the first product. Its symbols stay its own: the program may use another BLAS.
const cblas_library& cblas() {
    static const cblas_library only = [] {
        cblas_library found;
        const char* const asked = std::getenv("SOFTGPU_BLAS");
        const char* const name = asked == nullptr ? "libopenblas.so.0" : asked;
        if (*name == '\0') {
            return found;
        }
        void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            if (asked != nullptr) {
                report(std::string("SOFTGPU_BLAS: ") + ::dlerror());
            }
            return found;
        }
        find(library, "cblas_sgemm", found.s);
        find(library, "cblas_dgemm", found.d);
        find(library, "cblas_cgemm", found.c);
        find(library, "cblas_zgemm", found.z);
        return found;
    }();
    return only;
}

template <class T>
struct product_call {
    cublasOperation_t op_a, op_b;
    std::int64_t m, n, k;
    T alpha;
    const T* a;
    std::int64_t lda;
    const T* b;
    std::int64_t ldb;
    T beta;
    T* c;
    std::int64_t ldc;
};

// CBLAS's sizes have 32 bits.
template <class T>
bool is_small(const product_call<T>& p) {
    return std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) <= std::numeric_limits<int>::max();
}

// false: the library does not have it. scalar: how CBLAS takes a scalar.
template <class Function, class T, class Scalar>
bool by_library(Function f, const product_call<T>& p, Scalar scalar) {
    if (f == nullptr || !is_small(p)) {
        return false;
    }
    const auto size = [](std::int64_t x) { return static_cast<int>(x); };
    f(column_major, no_transpose + p.op_a, no_transpose + p.op_b, size(p.m), size(p.n), size(p.k), scalar(p.alpha), p.a,
      size(p.lda), p.b, size(p.ldb), scalar(p.beta), p.c, size(p.ldc));
    return true;
}
template <class T>
bool by_library(real_product<T> f, const product_call<T>& p) {
    return by_library(f, p, [](T x) { return x; });
}
template <class T>
bool by_library(complex_product f, const product_call<T>& p) {
    return by_library(f, p, [](const T& x) { return static_cast<const void*>(&x); });
}
bool by_library(const product_call<float>& p) { return by_library(cblas().s, p); }
bool by_library(const product_call<double>& p) { return by_library(cblas().d, p); }
bool by_library(const product_call<std::complex<float>>& p) { return by_library(cblas().c, p); }
bool by_library(const product_call<std::complex<double>>& p) { return by_library(cblas().z, p); }

// op(A) as an array of its own.
template <class T>
std::vector<T> packed(cublasOperation_t op, const T* a, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
    std::vector<T> out;
    out.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (std::int64_t column = 0; column < columns; ++column) {
        for (std::int64_t row = 0; row < rows; ++row) {
            out.push_back(element(a, ld, op, row, column));
        }
    }
    return out;
}

template <class T>
void by_loops(const product_call<T>& p) {
    const std::vector<T> a = packed(p.op_a, p.a, p.lda, p.m, p.k);
    const std::vector<T> b = packed(p.op_b, p.b, p.ldb, p.k, p.n);
    std::vector<T> sums(static_cast<std::size_t>(p.m));
    for (std::int64_t column = 0; column < p.n; ++column) {
        sums.assign(sums.size(), T{});
        for (std::int64_t inner = 0; inner < p.k; ++inner) {
            const T factor = b[static_cast<std::size_t>(place(inner, column, p.k))];
            const T* const from = a.data() + place(0, inner, p.m);
            for (std::int64_t row = 0; row < p.m; ++row) {
                sums[static_cast<std::size_t>(row)] += from[row] * factor;
            }
        }
        for (std::int64_t row = 0; row < p.m; ++row) {
            T& out = p.c[place(row, column, p.ldc)];
            const T product = p.alpha * sums[static_cast<std::size_t>(row)];
            out = p.beta == T{} ? product : product + p.beta * out;
        }
    }
}

template <class T>
void scale(const product_call<T>& p) {
    for (std::int64_t column = 0; column < p.n; ++column) {
        for (std::int64_t row = 0; row < p.m; ++row) {
            T& out = p.c[place(row, column, p.ldc)];
            out = p.beta == T{} ? T{} : p.beta * out;
        }
    }
}

} // namespace

template <class T>
void multiply(cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
              const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    const product_call<T> p{op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
    if (alpha == T{} || k == 0) {
        scale(p);
    } else if (!by_library(p)) {
        by_loops(p);
    }
}

#define SOFTGPU_MULTIPLY(T)                                                                                            \
    template void multiply(cublasOperation_t, cublasOperation_t, std::int64_t, std::int64_t, std::int64_t, T,          \
                           const T*, std::int64_t, const T*, std::int64_t, T, T*, std::int64_t);
SOFTGPU_MULTIPLY(float)
SOFTGPU_MULTIPLY(double)
SOFTGPU_MULTIPLY(std::complex<float>)
SOFTGPU_MULTIPLY(std::complex<double>)
#undef SOFTGPU_MULTIPLY

} // namespace softgpu::runtime::cublas

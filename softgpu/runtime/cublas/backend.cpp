// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/backend.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
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
    int op_a, op_b, m, n, k;
    T alpha;
    const T* a;
    int lda;
    const T* b;
    int ldb;
    T beta;
    T* c;
    int ldc;
};

// false: the library does not have it.
template <class T>
bool by_library(real_product<T> f, const product_call<T>& p) {
    if (f != nullptr) {
        f(column_major, p.op_a, p.op_b, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
    }
    return f != nullptr;
}
template <class T>
bool by_library(complex_product f, const product_call<T>& p) {
    if (f != nullptr) {
        f(column_major, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a, p.lda, p.b, p.ldb, &p.beta, p.c, p.ldc);
    }
    return f != nullptr;
}
bool by_library(const product_call<float>& p) { return by_library(cblas().s, p); }
bool by_library(const product_call<double>& p) { return by_library(cblas().d, p); }
bool by_library(const product_call<std::complex<float>>& p) { return by_library(cblas().c, p); }
bool by_library(const product_call<std::complex<double>>& p) { return by_library(cblas().z, p); }

// op(A) as an array of its own.
template <class T>
std::vector<T> packed(cublasOperation_t op, const T* a, int ld, int rows, int columns) {
    std::vector<T> out;
    out.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
        for (int row = 0; row < rows; ++row) {
            out.push_back(element(a, ld, op, row, column));
        }
    }
    return out;
}

template <class T>
void by_loops(cublasOperation_t op_a, cublasOperation_t op_b, const product_call<T>& p) {
    const std::vector<T> a = packed(op_a, p.a, p.lda, p.m, p.k);
    const std::vector<T> b = packed(op_b, p.b, p.ldb, p.k, p.n);
    std::vector<T> sums(static_cast<std::size_t>(p.m));
    for (int column = 0; column < p.n; ++column) {
        sums.assign(sums.size(), T{});
        for (int inner = 0; inner < p.k; ++inner) {
            const T factor = b[static_cast<std::size_t>(place(inner, column, p.k))];
            const T* const from = a.data() + place(0, inner, p.m);
            for (int row = 0; row < p.m; ++row) {
                sums[static_cast<std::size_t>(row)] += from[row] * factor;
            }
        }
        for (int row = 0; row < p.m; ++row) {
            T& out = p.c[place(row, column, p.ldc)];
            const T product = p.alpha * sums[static_cast<std::size_t>(row)];
            out = p.beta == T{} ? product : product + p.beta * out;
        }
    }
}

template <class T>
void scale(const product_call<T>& p) {
    for (int column = 0; column < p.n; ++column) {
        for (int row = 0; row < p.m; ++row) {
            T& out = p.c[place(row, column, p.ldc)];
            out = p.beta == T{} ? T{} : p.beta * out;
        }
    }
}

} // namespace

template <class T>
void multiply(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, T alpha, const T* a, int lda,
              const T* b, int ldb, T beta, T* c, int ldc) {
    const product_call<T> p{no_transpose + op_a, no_transpose + op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
    if (alpha == T{} || k == 0) {
        scale(p);
    } else if (!by_library(p)) {
        by_loops(op_a, op_b, p);
    }
}

#define SOFTGPU_MULTIPLY(T)                                                                                            \
    template void multiply(cublasOperation_t, cublasOperation_t, int, int, int, T, const T*, int, const T*, int, T,    \
                           T*, int);
SOFTGPU_MULTIPLY(float)
SOFTGPU_MULTIPLY(double)
SOFTGPU_MULTIPLY(std::complex<float>)
SOFTGPU_MULTIPLY(std::complex<double>)
#undef SOFTGPU_MULTIPLY

} // namespace softgpu::runtime::cublas

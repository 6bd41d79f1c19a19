// SPDX-License-Identifier: MIT
// Products of matrices on the host's cores.
#pragma once

#include <complex>
#include <cstdint>

#include "softgpu/runtime/cublas/cublas_v2.h"

namespace softgpu::runtime::cublas {

// C = alpha op(A) op(B) + beta C of column-major matrices; op(A) is m by k. Where beta is 0, C is not read; where alpha is 0,
// A and B are not. By the CBLAS library that SOFTGPU_BLAS names, else by OpenBLAS, else, or if it is empty, by loops of our
// own. T: float, double and complex numbers of them.
template <class T>
void multiply(cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
              const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

} // namespace softgpu::runtime::cublas

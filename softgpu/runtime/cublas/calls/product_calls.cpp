// SPDX-License-Identifier: MIT
// The exported products of matrices.
#include "softgpu/runtime/cublas/products.hpp"
#include "softgpu/runtime/cublas/unsupported.hpp"
#include "softgpu/runtime/cublas/views.hpp"

struct __nv_bfloat16; // of cuda_bf16.h; NOLINT(bugprone-reserved-identifier)

namespace softgpu::runtime::cublas {
namespace {

cublasStatus_t enqueue_matrices(cublasHandle_t handle, std::string_view name, cublasOperation_t op_a,
                                cublasOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                const void* alpha, const matrices& a, const matrices& b, const void* beta,
                                const matrices& c, cublasComputeType_t compute, std::int64_t count = 1,
                                bool by_address = false) noexcept {
    return enqueue_product(handle, {name, op_a, op_b, m, n, k, alpha, a, b, beta, c, compute, count, by_address});
}

// y = alpha op(A) x + beta y as a product of matrices of one row: their leading dimensions are the increments.
cublasStatus_t enqueue_vectors(cublasHandle_t handle, std::string_view name, cublasOperation_t op, std::int64_t m,
                               std::int64_t n, const void* alpha, const matrices& a, const matrices& x,
                               const void* beta, const matrices& y, cublasComputeType_t compute, std::int64_t count,
                               bool by_address) noexcept {
    const bool is_complex = a.type == CUDA_C_32F || a.type == CUDA_C_64F;
    if (op == CUBLAS_OP_C && is_complex) {
        report_unsupported(name, "with a conjugated matrix");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (x.ld < 0 || y.ld < 0) {
        report_unsupported(name, "with a negative increment");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    const bool plain = op == CUBLAS_OP_N;
    return enqueue_product(handle, {name, CUBLAS_OP_N, plain ? CUBLAS_OP_T : CUBLAS_OP_N, 1, plain ? m : n,
                                    plain ? n : m, alpha, x, a, beta, y, compute, count, by_address});
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_GEMM(name, symbol, T, type, compute, I, W)                                                             \
    cublasStatus_t cublas##symbol##W(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n,  \
                                     I k, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c,   \
                                     I ldc) {                                                                          \
        return enqueue_matrices(handle, "cublas" #name, op_a, op_b, m, n, k, alpha, {a, type, lda}, {b, type, ldb},    \
                                beta, {c, type, ldc}, compute);                                                        \
    }
SOFTGPU_BOTH(SOFTGPU_GEMM, Sgemm, Sgemm_v2, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMM, Dgemm, Dgemm_v2, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_GEMM, Cgemm, Cgemm_v2, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMM, Zgemm, Zgemm_v2, cuDoubleComplex, CUDA_C_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_GEMM, Hgemm, Hgemm, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
// Three products of real numbers in place of four are an algorithm of the GPU.
SOFTGPU_BOTH(SOFTGPU_GEMM, Cgemm3m, Cgemm3m, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMM, Zgemm3m, Zgemm3m, cuDoubleComplex, CUDA_C_64F, CUBLAS_COMPUTE_64F)
#undef SOFTGPU_GEMM

#define SOFTGPU_PRODUCTS(X, T, type, compute, I, W)                                                                    \
    cublasStatus_t cublas##X##gemmBatched##W(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,    \
                                             I m, I n, I k, const T* alpha, const T* const a[], I lda,                 \
                                             const T* const b[], I ldb, const T* beta, T* const c[], I ldc, I count) { \
        return enqueue_matrices(handle, "cublas" #X "gemmBatched", op_a, op_b, m, n, k, alpha, {a, type, lda},         \
                                {b, type, ldb}, beta, {c, type, ldc}, compute, count, true);                           \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched##W(cublasHandle_t handle, cublasOperation_t op_a,                     \
                                                    cublasOperation_t op_b, I m, I n, I k, const T* alpha, const T* a, \
                                                    I lda, long long stride_a, const T* b, I ldb, long long stride_b,  \
                                                    const T* beta, T* c, I ldc, long long stride_c, I count) {         \
        return enqueue_matrices(handle, "cublas" #X "gemmStridedBatched", op_a, op_b, m, n, k, alpha,                  \
                                {a, type, lda, stride_a}, {b, type, ldb, stride_b}, beta, {c, type, ldc, stride_c},    \
                                compute, count);                                                                       \
    }
SOFTGPU_BOTH(SOFTGPU_PRODUCTS, S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_PRODUCTS, D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_PRODUCTS, C, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_PRODUCTS, Z, cuDoubleComplex, CUDA_C_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_PRODUCTS, H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef SOFTGPU_PRODUCTS

#define SOFTGPU_PRODUCTS_EX(I, W)                                                                                      \
    cublasStatus_t cublasGemmEx##W(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n,    \
                                   I k, const void* alpha, const void* a, cudaDataType type_a, I lda, const void* b,   \
                                   cudaDataType type_b, I ldb, const void* beta, void* c, cudaDataType type_c, I ldc,  \
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {                                    \
        return enqueue_matrices(handle, "cublasGemmEx", op_a, op_b, m, n, k, alpha, {a, type_a, lda},                  \
                                {b, type_b, ldb}, beta, {c, type_c, ldc}, compute);                                    \
    }                                                                                                                  \
    cublasStatus_t cublasGemmBatchedEx##W(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m,  \
                                          I n, I k, const void* alpha, const void* const a[], cudaDataType type_a,     \
                                          I lda, const void* const b[], cudaDataType type_b, I ldb, const void* beta,  \
                                          void* const c[], cudaDataType type_c, I ldc, I count,                        \
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {                             \
        return enqueue_matrices(handle, "cublasGemmBatchedEx", op_a, op_b, m, n, k, alpha, {a, type_a, lda},           \
                                {b, type_b, ldb}, beta, {c, type_c, ldc}, compute, count, true);                       \
    }                                                                                                                  \
    cublasStatus_t cublasGemmStridedBatchedEx##W(                                                                      \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k, const void* alpha,       \
        const void* a, cudaDataType type_a, I lda, long long stride_a, const void* b, cudaDataType type_b, I ldb,      \
        long long stride_b, const void* beta, void* c, cudaDataType type_c, I ldc, long long stride_c, I count,        \
        cublasComputeType_t compute, cublasGemmAlgo_t) {                                                               \
        return enqueue_matrices(handle, "cublasGemmStridedBatchedEx", op_a, op_b, m, n, k, alpha,                      \
                                {a, type_a, lda, stride_a}, {b, type_b, ldb, stride_b}, beta,                          \
                                {c, type_c, ldc, stride_c}, compute, count);                                           \
    }
SOFTGPU_PRODUCTS_EX(int, )
SOFTGPU_PRODUCTS_EX(std::int64_t, _64)
#undef SOFTGPU_PRODUCTS_EX

#define SOFTGPU_GEMM_EX(X, S, I, W)                                                                                    \
    cublasStatus_t cublas##X##gemmEx##W(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m,    \
                                        I n, I k, const S* alpha, const void* a, cudaDataType type_a, I lda,           \
                                        const void* b, cudaDataType type_b, I ldb, const S* beta, void* c,             \
                                        cudaDataType type_c, I ldc) {                                                  \
        return enqueue_matrices(handle, "cublas" #X "gemmEx", op_a, op_b, m, n, k, alpha, {a, type_a, lda},            \
                                {b, type_b, ldb}, beta, {c, type_c, ldc}, CUBLAS_COMPUTE_32F);                         \
    }
SOFTGPU_BOTH(SOFTGPU_GEMM_EX, S, float)
SOFTGPU_BOTH(SOFTGPU_GEMM_EX, C, cuComplex)
#undef SOFTGPU_GEMM_EX

// S: the scalars; T: A and x; Y: y.
#define SOFTGPU_GEMV(X, S, T, type, Y, type_y, compute, I, W)                                                          \
    cublasStatus_t cublas##X##gemvBatched##W(cublasHandle_t handle, cublasOperation_t op, I m, I n, const S* alpha,    \
                                             const T* const a[], I lda, const T* const x[], I incx, const S* beta,     \
                                             Y* const y[], I incy, I count) {                                          \
        return enqueue_vectors(handle, "cublas" #X "gemvBatched", op, m, n, alpha, {a, type, lda}, {x, type, incx},    \
                               beta, {y, type_y, incy}, compute, count, true);                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemvStridedBatched##W(                                                                   \
        cublasHandle_t handle, cublasOperation_t op, I m, I n, const S* alpha, const T* a, I lda, long long stride_a,  \
        const T* x, I incx, long long stride_x, const S* beta, Y* y, I incy, long long stride_y, I count) {            \
        return enqueue_vectors(handle, "cublas" #X "gemvStridedBatched", op, m, n, alpha, {a, type, lda, stride_a},    \
                               {x, type, incx, stride_x}, beta, {y, type_y, incy, stride_y}, compute, count, false);   \
    }
SOFTGPU_BOTH(SOFTGPU_GEMV, S, float, float, CUDA_R_32F, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMV, D, double, double, CUDA_R_64F, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_GEMV, C, cuComplex, cuComplex, CUDA_C_32F, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMV, Z, cuDoubleComplex, cuDoubleComplex, CUDA_C_64F, cuDoubleComplex, CUDA_C_64F,
             CUBLAS_COMPUTE_64F)
SOFTGPU_BOTH(SOFTGPU_GEMV, HSH, float, __half, CUDA_R_16F, __half, CUDA_R_16F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMV, HSS, float, __half, CUDA_R_16F, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMV, TST, float, __nv_bfloat16, CUDA_R_16BF, __nv_bfloat16, CUDA_R_16BF, CUBLAS_COMPUTE_32F)
SOFTGPU_BOTH(SOFTGPU_GEMV, TSS, float, __nv_bfloat16, CUDA_R_16BF, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
#undef SOFTGPU_GEMV

} // extern "C"
#pragma GCC visibility pop

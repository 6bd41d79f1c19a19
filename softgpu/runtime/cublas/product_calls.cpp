// SPDX-License-Identifier: MIT
// The exported products of matrices.
#include "softgpu/runtime/cublas/products.hpp"

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_PRODUCTS(X, gemm, T, type, compute)                                                                    \
    cublasStatus_t cublas##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,   \
                                int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,  \
                                int ldc) {                                                                             \
        return enqueue_product(handle, {"cublas" #X "gemm",                                                            \
                                        op_a,                                                                          \
                                        op_b,                                                                          \
                                        m,                                                                             \
                                        n,                                                                             \
                                        k,                                                                             \
                                        alpha,                                                                         \
                                        {a, type, lda},                                                                \
                                        {b, type, ldb},                                                                \
                                        beta,                                                                          \
                                        {c, type, ldc},                                                                \
                                        compute});                                                                     \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmBatched(                                                                             \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha,    \
        const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {   \
        return enqueue_product(handle, {"cublas" #X "gemmBatched",                                                     \
                                        op_a,                                                                          \
                                        op_b,                                                                          \
                                        m,                                                                             \
                                        n,                                                                             \
                                        k,                                                                             \
                                        alpha,                                                                         \
                                        {a, type, lda},                                                                \
                                        {b, type, ldb},                                                                \
                                        beta,                                                                          \
                                        {c, type, ldc},                                                                \
                                        compute,                                                                       \
                                        count,                                                                         \
                                        true});                                                                        \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                                      \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha,    \
        const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c,         \
        int ldc, long long stride_c, int count) {                                                                      \
        return enqueue_product(handle, {"cublas" #X "gemmStridedBatched",                                              \
                                        op_a,                                                                          \
                                        op_b,                                                                          \
                                        m,                                                                             \
                                        n,                                                                             \
                                        k,                                                                             \
                                        alpha,                                                                         \
                                        {a, type, lda, stride_a},                                                      \
                                        {b, type, ldb, stride_b},                                                      \
                                        beta,                                                                          \
                                        {c, type, ldc, stride_c},                                                      \
                                        compute,                                                                       \
                                        count});                                                                       \
    }
SOFTGPU_PRODUCTS(S, Sgemm_v2, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_PRODUCTS(D, Dgemm_v2, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_PRODUCTS(C, Cgemm_v2, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
SOFTGPU_PRODUCTS(Z, Zgemm_v2, cuDoubleComplex, CUDA_C_64F, CUBLAS_COMPUTE_64F)
SOFTGPU_PRODUCTS(H, Hgemm, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef SOFTGPU_PRODUCTS

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    return enqueue_product(handle, {"cublasGemmEx",
                                    op_a,
                                    op_b,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    {a, type_a, lda},
                                    {b, type_b, ldb},
                                    beta,
                                    {c, type_c, ldc},
                                    compute});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                   int k, const void* alpha, const void* const a[], cudaDataType type_a, int lda,
                                   const void* const b[], cudaDataType type_b, int ldb, const void* beta,
                                   void* const c[], cudaDataType type_c, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
    return enqueue_product(handle, {"cublasGemmBatchedEx",
                                    op_a,
                                    op_b,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    {a, type_a, lda},
                                    {b, type_b, ldb},
                                    beta,
                                    {c, type_c, ldc},
                                    compute,
                                    count,
                                    true});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType type_a, int lda,
                                          long long stride_a, const void* b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
    return enqueue_product(handle, {"cublasGemmStridedBatchedEx",
                                    op_a,
                                    op_b,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    {a, type_a, lda, stride_a},
                                    {b, type_b, ldb, stride_b},
                                    beta,
                                    {c, type_c, ldc, stride_c},
                                    compute,
                                    count});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                             cudaDataType type_b, int ldb, const float* beta, void* c, cudaDataType type_c, int ldc) {
    return enqueue_product(handle, {"cublasSgemmEx",
                                    op_a,
                                    op_b,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    {a, type_a, lda},
                                    {b, type_b, ldb},
                                    beta,
                                    {c, type_c, ldc},
                                    CUBLAS_COMPUTE_32F});
}

} // extern "C"
#pragma GCC visibility pop

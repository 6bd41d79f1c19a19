// SPDX-License-Identifier: MIT
// The calls of cuBLAS that the software GPU's libcublas.so.12 and libcublas.so.13 have, with cuBLAS's names and values, for
// programs that are built where there is no cuBLAS (docs/softgpu.md#cublas). A complex number is two floats, or two doubles.
#pragma once

#include <stddef.h>

typedef struct CUstream_st* cudaStream_t; // as the CUDA runtime declares it
struct float2;
struct double2;
struct __half; // cuda_fp16.h
typedef struct float2 cuComplex;
typedef struct double2 cuDoubleComplex;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

#ifndef __LIBRARY_TYPES_H__ // library_types.h of the CUDA toolkit
typedef enum {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_C_32F = 4,
    CUDA_C_64F = 5,
    CUDA_R_32I = 10,
    CUDA_R_16BF = 14
} cudaDataType;
typedef cudaDataType cudaDataType_t;
#endif

typedef struct cublasContext* cublasHandle_t;

#ifdef __cplusplus
extern "C" {
#endif

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSgemm cublasSgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasStrsm cublasStrsm_v2
#define cublasSsyrk cublasSsyrk_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasScopy cublasScopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDgemm cublasDgemm_v2
#define cublasDgemv cublasDgemv_v2
#define cublasDtrsm cublasDtrsm_v2
#define cublasDsyrk cublasDsyrk_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasDscal cublasDscal_v2
#define cublasDcopy cublasDcopy_v2
#define cublasDswap cublasDswap_v2
#define cublasCgemm cublasCgemm_v2
#define cublasCgemv cublasCgemv_v2
#define cublasCtrsm cublasCtrsm_v2
#define cublasCsyrk cublasCsyrk_v2
#define cublasCaxpy cublasCaxpy_v2
#define cublasCscal cublasCscal_v2
#define cublasCcopy cublasCcopy_v2
#define cublasCswap cublasCswap_v2
#define cublasZgemm cublasZgemm_v2
#define cublasZgemv cublasZgemv_v2
#define cublasZtrsm cublasZtrsm_v2
#define cublasZsyrk cublasZsyrk_v2
#define cublasZaxpy cublasZaxpy_v2
#define cublasZscal cublasZscal_v2
#define cublasZcopy cublasZcopy_v2
#define cublasZswap cublasZswap_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasCdotu cublasCdotu_v2
#define cublasCdotc cublasCdotc_v2
#define cublasZdotu cublasZdotu_v2
#define cublasZdotc cublasZdotc_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasCgeru cublasCgeru_v2
#define cublasCgerc cublasCgerc_v2
#define cublasZgeru cublasZgeru_v2
#define cublasZgerc cublasZgerc_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasScnrm2 cublasScnrm2_v2
#define cublasDznrm2 cublasDznrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasScasum cublasScasum_v2
#define cublasDzasum cublasDzasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIcamax cublasIcamax_v2
#define cublasIzamax cublasIzamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamin cublasIdamin_v2
#define cublasIcamin cublasIcamin_v2
#define cublasIzamin cublasIzamin_v2
#define cublasCsscal cublasCsscal_v2
#define cublasZdscal cublasZdscal_v2

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
size_t cublasGetCudartVersion(void);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes);

// Copies between the host and the device: of n elements of so many bytes, and of matrices.
cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream);

// Calls of each type: X is their letter, T the type, R that of its absolute value.
#define SOFTGPU_CUBLAS_DECLARE(X, T, R)                                                                                \
    cublasStatus_t cublas##X##gemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,       \
                                      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c,   \
                                      int ldc);                                                                        \
    cublasStatus_t cublas##X##gemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,   \
                                          const T* alpha, const T* const a[], int lda, const T* const b[], int ldb,    \
                                          const T* beta, T* const c[], int ldc, int count);                            \
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,   \
                                                 int k, const T* alpha, const T* a, int lda, long long stride_a,       \
                                                 const T* b, int ldb, long long stride_b, const T* beta, T* c,         \
                                                 int ldc, long long stride_c, int count);                              \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t, cublasOperation_t, int m, int n, const T* alpha, const T* a,     \
                                      int lda, const T* x, int incx, const T* beta, T* y, int incy);                   \
    cublasStatus_t cublas##X##geam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, const T* alpha, \
                                   const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc);            \
    cublasStatus_t cublas##X##dgmm(cublasHandle_t, cublasSideMode_t, int m, int n, const T* a, int lda, const T* x,    \
                                   int incx, T* c, int ldc);                                                           \
    cublasStatus_t cublas##X##trsm_v2(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,           \
                                      cublasDiagType_t, int m, int n, const T* alpha, const T* a, int lda, T* b,       \
                                      int ldb);                                                                        \
    cublasStatus_t cublas##X##syrk_v2(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int n, int k,               \
                                      const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc);              \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t, int n, const T* alpha, const T* x, int incx, T* y, int incy);    \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t, int n, const T* alpha, T* x, int incx);                          \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t, int n, const T* x, int incx, T* y, int incy);                    \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t, int n, T* x, int incx, T* y, int incy);
SOFTGPU_CUBLAS_DECLARE(S, float, float)
SOFTGPU_CUBLAS_DECLARE(D, double, double)
SOFTGPU_CUBLAS_DECLARE(C, cuComplex, float)
SOFTGPU_CUBLAS_DECLARE(Z, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE

// Calls of half precision.
cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                           const struct __half* alpha, const struct __half* a, int lda, const struct __half* b, int ldb,
                           const struct __half* beta, struct __half* c, int ldc);
cublasStatus_t cublasHgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                  const struct __half* alpha, const struct __half* const a[], int lda,
                                  const struct __half* const b[], int ldb, const struct __half* beta,
                                  struct __half* const c[], int ldc, int count);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                         const struct __half* alpha, const struct __half* a, int lda,
                                         long long stride_a, const struct __half* b, int ldb, long long stride_b,
                                         const struct __half* beta, struct __half* c, int ldc, long long stride_c,
                                         int count);

// Calls whose names have a form of their own for each type. The index of the first largest, or smallest, begins at 1.
#define SOFTGPU_CUBLAS_DECLARE(dot, ger, T)                                                                            \
    cublasStatus_t cublas##dot##_v2(cublasHandle_t, int n, const T* x, int incx, const T* y, int incy, T* result);     \
    cublasStatus_t cublas##ger##_v2(cublasHandle_t, int m, int n, const T* alpha, const T* x, int incx, const T* y,    \
                                    int incy, T* a, int lda);
SOFTGPU_CUBLAS_DECLARE(Sdot, Sger, float)
SOFTGPU_CUBLAS_DECLARE(Ddot, Dger, double)
SOFTGPU_CUBLAS_DECLARE(Cdotu, Cgeru, cuComplex)
SOFTGPU_CUBLAS_DECLARE(Cdotc, Cgerc, cuComplex)
SOFTGPU_CUBLAS_DECLARE(Zdotu, Zgeru, cuDoubleComplex)
SOFTGPU_CUBLAS_DECLARE(Zdotc, Zgerc, cuDoubleComplex)
#undef SOFTGPU_CUBLAS_DECLARE
#define SOFTGPU_CUBLAS_DECLARE(nrm2, asum, iamax, iamin, T, R)                                                         \
    cublasStatus_t cublas##nrm2##_v2(cublasHandle_t, int n, const T* x, int incx, R* result);                          \
    cublasStatus_t cublas##asum##_v2(cublasHandle_t, int n, const T* x, int incx, R* result);                          \
    cublasStatus_t cublas##iamax##_v2(cublasHandle_t, int n, const T* x, int incx, int* result);                       \
    cublasStatus_t cublas##iamin##_v2(cublasHandle_t, int n, const T* x, int incx, int* result);
SOFTGPU_CUBLAS_DECLARE(Snrm2, Sasum, Isamax, Isamin, float, float)
SOFTGPU_CUBLAS_DECLARE(Dnrm2, Dasum, Idamax, Idamin, double, double)
SOFTGPU_CUBLAS_DECLARE(Scnrm2, Scasum, Icamax, Icamin, cuComplex, float)
SOFTGPU_CUBLAS_DECLARE(Dznrm2, Dzasum, Izamax, Izamin, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE
cublasStatus_t cublasCsscal_v2(cublasHandle_t, int n, const float* alpha, cuComplex* x, int incx);
cublasStatus_t cublasZdscal_v2(cublasHandle_t, int n, const double* alpha, cuDoubleComplex* x, int incx);

// Scalars have the type of the computation: half for CUBLAS_COMPUTE_16F, int for CUBLAS_COMPUTE_32I, else that of C's kind.
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a, int lda,
                                          long long stride_a, const void* b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                   const void* alpha, const void* const a[], cudaDataType type_a, int lda,
                                   const void* const b[], cudaDataType type_b, int ldb, const void* beta,
                                   void* const c[], cudaDataType type_c, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                             const float* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                             cudaDataType type_b, int ldb, const float* beta, void* c, cudaDataType type_c, int ldc);

#ifdef __cplusplus
}
#endif

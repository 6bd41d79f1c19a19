// SPDX-License-Identifier: MIT
// The calls of cuBLAS that the software GPU's libcublas.so.12 and libcublas.so.13 have, with cuBLAS's names and values, for
// programs that are built where there is no cuBLAS (docs/softgpu.md#cublas). A complex number is two floats, or two doubles.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cublas_v2_names.h"

typedef struct CUstream_st* cudaStream_t; // as the CUDA runtime declares it
struct float2;
struct double2;
struct __half; // of cuda_fp16.h; NOLINT(bugprone-reserved-identifier)
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
    CUDA_R_16BF = 14,
    CUDA_R_8F_E4M3 = 28,
    CUDA_R_8F_E5M2 = 29
} cudaDataType;
typedef cudaDataType cudaDataType_t;
#endif

typedef struct cublasContext* cublasHandle_t;

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(int which, int* value); // major, minor, patch
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

// Each call has two forms: with sizes I of 32 bits, and, with names in _64, of 64.
#define SOFTGPU_CUBLAS_BOTH(M, ...) M(__VA_ARGS__, int, ) M(__VA_ARGS__, int64_t, _64)

// Calls of each type: X is their letter, T the type.
#define SOFTGPU_CUBLAS_PRODUCTS(X, gemm, T, I, W)                                                                      \
    cublasStatus_t cublas##gemm##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k,                \
                                   const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc);  \
    cublasStatus_t cublas##X##gemmBatched##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k,      \
                                             const T* alpha, const T* const a[], I lda, const T* const b[], I ldb,     \
                                             const T* beta, T* const c[], I ldc, I count);                             \
    cublasStatus_t cublas##X##gemmStridedBatched##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n,    \
                                                    I k, const T* alpha, const T* a, I lda, long long stride_a,        \
                                                    const T* b, I ldb, long long stride_b, const T* beta, T* c, I ldc, \
                                                    long long stride_c, I count);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_PRODUCTS, S, Sgemm_v2, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_PRODUCTS, D, Dgemm_v2, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_PRODUCTS, C, Cgemm_v2, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_PRODUCTS, Z, Zgemm_v2, cuDoubleComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_PRODUCTS, H, Hgemm, struct __half)
#undef SOFTGPU_CUBLAS_PRODUCTS
#define SOFTGPU_CUBLAS_DECLARE(X, T, I, W)                                                                             \
    cublasStatus_t cublas##X##gemv_v2##W(cublasHandle_t, cublasOperation_t, I m, I n, const T* alpha, const T* a,      \
                                         I lda, const T* x, I incx, const T* beta, T* y, I incy);                      \
    cublasStatus_t cublas##X##gbmv_v2##W(cublasHandle_t, cublasOperation_t, I m, I n, I below, I above,                \
                                         const T* alpha, const T* a, I lda, const T* x, I incx, const T* beta, T* y,   \
                                         I incy);                                                                      \
    cublasStatus_t cublas##X##geam##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, const T* alpha,  \
                                      const T* a, I lda, const T* beta, const T* b, I ldb, T* c, I ldc);               \
    cublasStatus_t cublas##X##dgmm##W(cublasHandle_t, cublasSideMode_t, I m, I n, const T* a, I lda, const T* x,       \
                                      I incx, T* c, I ldc);                                                            \
    cublasStatus_t cublas##X##trmm_v2##W(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,        \
                                         cublasDiagType_t, I m, I n, const T* alpha, const T* a, I lda, const T* b,    \
                                         I ldb, T* c, I ldc);                                                          \
    cublasStatus_t cublas##X##trsm_v2##W(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,        \
                                         cublasDiagType_t, I m, I n, const T* alpha, const T* a, I lda, T* b, I ldb);  \
    cublasStatus_t cublas##X##trsmBatched##W(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,    \
                                             cublasDiagType_t, I m, I n, const T* alpha, const T* const a[], I lda,    \
                                             T* const b[], I ldb, I count);                                            \
    cublasStatus_t cublas##X##trmv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         const T* a, I lda, T* x, I incx);                                             \
    cublasStatus_t cublas##X##trsv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         const T* a, I lda, T* x, I incx);                                             \
    cublasStatus_t cublas##X##tbmv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         I k, const T* a, I lda, T* x, I incx);                                        \
    cublasStatus_t cublas##X##tbsv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         I k, const T* a, I lda, T* x, I incx);                                        \
    cublasStatus_t cublas##X##tpmv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         const T* a, T* x, I incx);                                                    \
    cublasStatus_t cublas##X##tpsv_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, I n,   \
                                         const T* a, T* x, I incx);                                                    \
    cublasStatus_t cublas##X##axpy_v2##W(cublasHandle_t, I n, const T* alpha, const T* x, I incx, T* y, I incy);       \
    cublasStatus_t cublas##X##scal_v2##W(cublasHandle_t, I n, const T* alpha, T* x, I incx);                           \
    cublasStatus_t cublas##X##copy_v2##W(cublasHandle_t, I n, const T* x, I incx, T* y, I incy);                       \
    cublasStatus_t cublas##X##swap_v2##W(cublasHandle_t, I n, T* x, I incx, T* y, I incy);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, S, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, D, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, C, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Z, cuDoubleComplex)
#undef SOFTGPU_CUBLAS_DECLARE

// Symmetric matrices (sy) and Hermitian ones (he): S and R are the types of the scalars of updates, where they differ.
#define SOFTGPU_CUBLAS_DECLARE(X, y, T, S, I, W)                                                                       \
    cublasStatus_t cublas##X##y##mm_v2##W(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, I m, I n,                \
                                          const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c,   \
                                          I ldc);                                                                      \
    cublasStatus_t cublas##X##y##mv_v2##W(cublasHandle_t, cublasFillMode_t, I n, const T* alpha, const T* a, I lda,    \
                                          const T* x, I incx, const T* beta, T* y, I incy);                            \
    cublasStatus_t cublas##X##y##r_v2##W(cublasHandle_t, cublasFillMode_t, I n, const S* alpha, const T* x, I incx,    \
                                         T* a, I lda);                                                                 \
    cublasStatus_t cublas##X##y##r2_v2##W(cublasHandle_t, cublasFillMode_t, I n, const T* alpha, const T* x, I incx,   \
                                          const T* y, I incy, T* a, I lda);                                            \
    cublasStatus_t cublas##X##y##rk_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, I n, I k,               \
                                          const S* alpha, const T* a, I lda, const S* beta, T* c, I ldc);              \
    cublasStatus_t cublas##X##y##r2k_v2##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, I n, I k,              \
                                           const T* alpha, const T* a, I lda, const T* b, I ldb, const S* beta, T* c,  \
                                           I ldc);                                                                     \
    cublasStatus_t cublas##X##y##rkx##W(cublasHandle_t, cublasFillMode_t, cublasOperation_t, I n, I k, const T* alpha, \
                                        const T* a, I lda, const T* b, I ldb, const S* beta, T* c, I ldc);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, S, sy, float, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, D, sy, double, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, C, sy, cuComplex, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Z, sy, cuDoubleComplex, cuDoubleComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, C, he, cuComplex, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Z, he, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE
#define SOFTGPU_CUBLAS_DECLARE(bmv, pmv, pr, pr2, T, S, I, W)                                                          \
    cublasStatus_t cublas##bmv##_v2##W(cublasHandle_t, cublasFillMode_t, I n, I k, const T* alpha, const T* a, I lda,  \
                                       const T* x, I incx, const T* beta, T* y, I incy);                               \
    cublasStatus_t cublas##pmv##_v2##W(cublasHandle_t, cublasFillMode_t, I n, const T* alpha, const T* a, const T* x,  \
                                       I incx, const T* beta, T* y, I incy);                                           \
    cublasStatus_t cublas##pr##_v2##W(cublasHandle_t, cublasFillMode_t, I n, const S* alpha, const T* x, I incx,       \
                                      T* a);                                                                           \
    cublasStatus_t cublas##pr2##_v2##W(cublasHandle_t, cublasFillMode_t, I n, const T* alpha, const T* x, I incx,      \
                                       const T* y, I incy, T* a);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Ssbmv, Sspmv, Sspr, Sspr2, float, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Dsbmv, Dspmv, Dspr, Dspr2, double, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Chbmv, Chpmv, Chpr, Chpr2, cuComplex, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zhbmv, Zhpmv, Zhpr, Zhpr2, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE

// Calls whose names have a form of their own for each type. The index of the first largest, or smallest, begins at 1.
#define SOFTGPU_CUBLAS_DECLARE(dot, ger, T, I, W)                                                                      \
    cublasStatus_t cublas##dot##_v2##W(cublasHandle_t, I n, const T* x, I incx, const T* y, I incy, T* result);        \
    cublasStatus_t cublas##ger##_v2##W(cublasHandle_t, I m, I n, const T* alpha, const T* x, I incx, const T* y,       \
                                       I incy, T* a, I lda);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Sdot, Sger, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Ddot, Dger, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Cdotu, Cgeru, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Cdotc, Cgerc, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zdotu, Zgeru, cuDoubleComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zdotc, Zgerc, cuDoubleComplex)
#undef SOFTGPU_CUBLAS_DECLARE
#define SOFTGPU_CUBLAS_DECLARE(nrm2, asum, iamax, iamin, T, R, I, W)                                                   \
    cublasStatus_t cublas##nrm2##_v2##W(cublasHandle_t, I n, const T* x, I incx, R* result);                           \
    cublasStatus_t cublas##asum##_v2##W(cublasHandle_t, I n, const T* x, I incx, R* result);                           \
    cublasStatus_t cublas##iamax##_v2##W(cublasHandle_t, I n, const T* x, I incx, I* result);                          \
    cublasStatus_t cublas##iamin##_v2##W(cublasHandle_t, I n, const T* x, I incx, I* result);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Snrm2, Sasum, Isamax, Isamin, float, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Dnrm2, Dasum, Idamax, Idamin, double, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Scnrm2, Scasum, Icamax, Icamin, cuComplex, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Dznrm2, Dzasum, Izamax, Izamin, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE
#define SOFTGPU_CUBLAS_DECLARE(name, T, R, I, W)                                                                       \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t, I n, const R* alpha, T* x, I incx);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Csscal, cuComplex, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zdscal, cuDoubleComplex, double)
#undef SOFTGPU_CUBLAS_DECLARE

// Plane rotations: x = c x + s y, y = c y - conj(s) x.
#define SOFTGPU_CUBLAS_DECLARE(name, T, C, S, I, W)                                                                    \
    cublasStatus_t cublas##name##_v2##W(cublasHandle_t, I n, T* x, I incx, T* y, I incy, const C* c, const S* s);
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Srot, float, float, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Drot, double, double, double)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Crot, cuComplex, float, cuComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Csrot, cuComplex, float, float)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zrot, cuDoubleComplex, double, cuDoubleComplex)
SOFTGPU_CUBLAS_BOTH(SOFTGPU_CUBLAS_DECLARE, Zdrot, cuDoubleComplex, double, double)
#undef SOFTGPU_CUBLAS_DECLARE
cublasStatus_t cublasSrotg_v2(cublasHandle_t, float* a, float* b, float* c, float* s);
cublasStatus_t cublasDrotg_v2(cublasHandle_t, double* a, double* b, double* c, double* s);
cublasStatus_t cublasCrotg_v2(cublasHandle_t, cuComplex* a, cuComplex* b, float* c, cuComplex* s);
cublasStatus_t cublasZrotg_v2(cublasHandle_t, cuDoubleComplex* a, cuDoubleComplex* b, double* c, cuDoubleComplex* s);

// Scalars have the type of the computation: half for CUBLAS_COMPUTE_16F, int for CUBLAS_COMPUTE_32I, else that of C's kind.
#define SOFTGPU_CUBLAS_DECLARE(I, W)                                                                                   \
    cublasStatus_t cublasGemmEx##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k,                \
                                   const void* alpha, const void* a, cudaDataType type_a, I lda, const void* b,        \
                                   cudaDataType type_b, I ldb, const void* beta, void* c, cudaDataType type_c, I ldc,  \
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);                           \
    cublasStatus_t cublasGemmStridedBatchedEx##W(                                                                      \
        cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k, const void* alpha, const void* a,         \
        cudaDataType type_a, I lda, long long stride_a, const void* b, cudaDataType type_b, I ldb, long long stride_b, \
        const void* beta, void* c, cudaDataType type_c, I ldc, long long stride_c, I count,                            \
        cublasComputeType_t compute, cublasGemmAlgo_t algorithm);                                                      \
    cublasStatus_t cublasGemmBatchedEx##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k,         \
                                          const void* alpha, const void* const a[], cudaDataType type_a, I lda,        \
                                          const void* const b[], cudaDataType type_b, I ldb, const void* beta,         \
                                          void* const c[], cudaDataType type_c, I ldc, I count,                        \
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);                    \
    cublasStatus_t cublasSgemmEx##W(cublasHandle_t, cublasOperation_t, cublasOperation_t, I m, I n, I k,               \
                                    const float* alpha, const void* a, cudaDataType type_a, I lda, const void* b,      \
                                    cudaDataType type_b, I ldb, const float* beta, void* c, cudaDataType type_c,       \
                                    I ldc);
SOFTGPU_CUBLAS_DECLARE(int, )
SOFTGPU_CUBLAS_DECLARE(int64_t, _64)
#undef SOFTGPU_CUBLAS_DECLARE
#undef SOFTGPU_CUBLAS_BOTH

// Batches of small systems, by LU with partial pivoting; addresses of matrices are in arrays. info: 0, or the number of the
// first pivot that is 0; pivots begin at 1, n a matrix; null: none are exchanged.
#define SOFTGPU_CUBLAS_DECLARE(X, T)                                                                                   \
    cublasStatus_t cublas##X##getrfBatched(cublasHandle_t, int n, T* const a[], int lda, int* pivots, int* info,       \
                                           int count);                                                                 \
    cublasStatus_t cublas##X##getrsBatched(cublasHandle_t, cublasOperation_t, int n, int nrhs, const T* const a[],     \
                                           int lda, const int* pivots, T* const b[], int ldb, int* info_on_host,       \
                                           int count);                                                                 \
    cublasStatus_t cublas##X##getriBatched(cublasHandle_t, int n, const T* const a[], int lda, const int* pivots,      \
                                           T* const c[], int ldc, int* info, int count);                               \
    cublasStatus_t cublas##X##matinvBatched(cublasHandle_t, int n, const T* const a[], int lda, T* const inverse[],    \
                                            int ld_inverse, int* info, int count);
SOFTGPU_CUBLAS_DECLARE(S, float)
SOFTGPU_CUBLAS_DECLARE(D, double)
SOFTGPU_CUBLAS_DECLARE(C, cuComplex)
SOFTGPU_CUBLAS_DECLARE(Z, cuDoubleComplex)
#undef SOFTGPU_CUBLAS_DECLARE

#ifdef __cplusplus
}
#endif

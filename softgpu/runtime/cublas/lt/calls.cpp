// SPDX-License-Identifier: MIT
// The exported calls of cuBLASLt beside cublasLtMatmul and descriptions: handles, algorithms, transforms.
#include <cstring>
#include <string>

#include "softgpu/runtime/cublas/lt/matmul.hpp"
#include "softgpu/runtime/cublas/lt/operands.hpp"
#include "softgpu/runtime/cublas/unsupported.hpp"
#include "softgpu/runtime/cublas/version.hpp"

namespace softgpu::runtime::cublas {
namespace {

void transform(const transform_description& t, std::complex<double> alpha, std::complex<double> beta, const layout& a,
               const void* at_a, const layout& b, const void* at_b, const layout& c, void* at_c) {
    const auto element = [](const layout& l, const void* at, std::int32_t op, std::int64_t number, std::int64_t row,
                            std::int64_t column) {
        const bool plain = op == CUBLAS_OP_N;
        const std::complex<double> x =
            scalar_at(type_of(l), matrix_of(l, at, number), place_in(l, plain ? row : column, plain ? column : row));
        return op == CUBLAS_OP_C ? std::conj(x) : x;
    };
    for (std::int64_t number = 0; number < c.count; ++number) {
        void* const to = const_cast<void*>(matrix_of(c, at_c, number));
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(c.rows); ++row) {
            for (std::int64_t column = 0; column < static_cast<std::int64_t>(c.columns); ++column) {
                std::complex<double> sum{};
                if (alpha != 0.0) {
                    sum += alpha * element(a, at_a, t.op_a, number, row, column);
                }
                if (beta != 0.0) {
                    sum += beta * element(b, at_b, t.op_b, number, row, column);
                }
                const std::int64_t at = place_in(c, row, column);
                const bool is_complex = type_of(c) == CUDA_C_32F || type_of(c) == CUDA_C_64F;
                const cudaDataType part = type_of(c) == CUDA_C_32F   ? CUDA_R_32F
                                          : type_of(c) == CUDA_C_64F ? CUDA_R_64F
                                                                     : type_of(c);
                store(part, to, is_complex ? 2 * at : at, sum.real());
                if (is_complex) {
                    store(part, to, 2 * at + 1, sum.imag());
                }
            }
        }
    }
}

bool is_same_shape(const layout& l, std::int32_t op, const layout& c) {
    return op == CUBLAS_OP_N ? l.rows == c.rows && l.columns == c.columns : l.rows == c.columns && l.columns == c.rows;
}

template <class T>
cublasStatus_t give(T value, void* to, std::size_t size, std::size_t* written) {
    if (size == 0 ? written == nullptr : to == nullptr || size != sizeof value) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (written != nullptr) {
        *written = sizeof value;
    }
    if (size != 0) {
        std::memcpy(to, &value, sizeof value);
    }
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime;
using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
// Does not wait, as cuBLASLt: work in streams does not use the handle.
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    delete reinterpret_cast<cublasHandle_t>(handle);
    return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
size_t cublasLtGetVersion() { return static_cast<size_t>(version); }
size_t cublasLtGetCudartVersion() { return cublasGetCudartVersion(); }
cublasStatus_t cublasLtGetProperty(int which, int* value) { return cublasGetProperty(which, value); }

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc, const void* alpha,
                                       const void* a, cublasLtMatrixLayout_t layout_a, const void* beta, const void* b,
                                       cublasLtMatrixLayout_t layout_b, void* c, cublasLtMatrixLayout_t layout_c,
                                       cudaStream_t stream) {
    auto* const context = reinterpret_cast<cublasHandle_t>(handle);
    return guarded(context, [&] {
        require(desc != nullptr && layout_a != nullptr && layout_c != nullptr && alpha != nullptr);
        const transform_description t = description(desc);
        const layout la = description(layout_a), lc = description(layout_c);
        const layout lb = layout_b == nullptr ? lc : description(layout_b);
        for (const layout* const l : {&la, &lb, &lc}) {
            if ((l->order != CUBLASLT_ORDER_COL && l->order != CUBLASLT_ORDER_ROW) || l->batch_mode != 0) {
                report_unsupported("cublasLtMatrixTransform", "with an order of tiles or arrays of pointers");
                return CUBLAS_STATUS_NOT_SUPPORTED;
            }
        }
        const bool has_b = b != nullptr && layout_b != nullptr && beta != nullptr;
        require(is_valid(la) && is_valid(lc) && is_same_shape(la, t.op_a, lc) && la.count == lc.count);
        require(!has_b || (is_valid(lb) && is_same_shape(lb, t.op_b, lc) && lb.count == lc.count));
        const auto type = static_cast<cudaDataType>(t.scale_type);
        cublasContext on = *context;
        on.stream = stream;
        softgpu::runtime::cublas::operation op(on, "cublasLtMatrixTransform " + std::to_string(lc.rows) + " x " +
                                                       std::to_string(lc.columns));
        const bool on_host = t.pointers == CUBLASLT_POINTER_MODE_HOST;
        const std::complex<double> by = on_host ? scalar_at(type, alpha, 0) : 1.0;
        const std::complex<double> with = !has_b ? 0.0 : on_host ? scalar_at(type, beta, 0) : 1.0;
        if (!on_host) {
            op.uses({"alpha", alpha, bytes_of(type), bytes_of(type), 1, false});
            op.uses({"beta", beta, bytes_of(type), bytes_of(type), has_b ? 1u : 0u, false});
        }
        if (by != 0.0) {
            use_matrix(op, "A", la, a, false);
        }
        if (with != 0.0) {
            use_matrix(op, "B", lb, b, false);
        }
        use_matrix(op, "C", lc, c, true);
        return op.enqueue([=](auto&) {
            transform(t, on_host ? by : scalar_at(type, alpha, 0), on_host || !has_b ? with : scalar_at(type, beta, 0),
                      la, a, lb, b, lc, c);
        });
    });
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (desc == nullptr || a == nullptr || b == nullptr || d == nullptr || algo == nullptr || result == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const cublasStatus_t status = check_product(description(desc), description(a), description(b),
                                                description(c == nullptr ? d : c), description(d));
    result->workspaceSize = 0;
    result->state = status;
    result->wavesCount = 1;
    return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
    if (requested <= 0 || results == nullptr || returned == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *returned = 0;
    results[0] = {};
    description(&results[0].algo) = algorithm{};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(handle, desc, a, b, c, d, &results[0].algo, results);
    *returned = status == CUBLAS_STATUS_SUCCESS ? 1 : 0;
    return status;
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, int requested, int ids[],
                                        int* returned) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (requested <= 0 || ids == nullptr || returned == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    ids[0] = 0;
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, int id, cublasLtMatmulAlgo_t* algo) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (algo == nullptr || id != 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *algo = {};
    description(algo) = algorithm{};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                 cublasLtMatmulAlgoCapAttributes_t number, void* value, size_t size,
                                                 size_t* written) {
    if (algo == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    switch (static_cast<int>(number)) {                               // CUBLASLT_ALGO_CAP_...
    case 3:                                                           // STRIDED_BATCH_SUPPORT
    case 4: return give<std::int32_t>(1, value, size, written);       // OUT_OF_PLACE_RESULT_SUPPORT
    case 6:                                                           // TILE_IDS
    case 13: return give<std::uint32_t>(0, value, size, written);     // STAGES_IDS
    case 11: return give<std::uint32_t>(31, value, size, written);    // POINTER_MODE_MASK: all
    case 12: return give<std::uint32_t>(0x3FF, value, size, written); // EPILOGUE_MASK: all
    case 15: return give<std::uint64_t>(1, value, size, written);     // NUMERICAL_IMPL_FLAGS: FMA
    case 16:
    case 17:
    case 18:
    case 19: return give<std::uint32_t>(1, value, size, written); // MIN_ALIGNMENT_..._BYTES
    case 0:                                                       // SPLITK_SUPPORT
    case 1:                                                       // REDUCTION_SCHEME_MASK
    case 2:                                                       // CTA_SWIZZLING_SUPPORT
    case 5:                                                       // UPLO_SUPPORT
    case 7:                                                       // CUSTOM_OPTION_MAX
    case 10:                                                      // CUSTOM_MEMORY_ORDER
    case 14:                                                      // LD_NEGATIVE
    case 20: return give<std::int32_t>(0, value, size, written);  // POINTER_ARRAY_BATCH_SUPPORT
    default: return CUBLAS_STATUS_INVALID_VALUE;
    }
}

// Logging and caches of heuristics: there is nothing to log or to keep.
cublasStatus_t cublasLtLoggerSetCallback(void (*)(int, const char*, const char*)) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetFile(void*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerOpenFile(const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetLevel(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
    return capacity == nullptr ? CUBLAS_STATUS_INVALID_VALUE : (*capacity = 0, CUBLAS_STATUS_SUCCESS);
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t) { return CUBLAS_STATUS_SUCCESS; }
unsigned cublasLtDisableCpuInstructionsSetMask(unsigned) { return 0; }

} // extern "C"
#pragma GCC visibility pop

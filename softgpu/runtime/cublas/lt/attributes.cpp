// SPDX-License-Identifier: MIT
// The exported calls that make descriptions, and set and give their attributes.
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "softgpu/runtime/cublas/lt/descriptions.hpp"

namespace softgpu::runtime::cublas {
namespace {

struct attribute {
    int number;
    std::size_t offset, size;
};

#define SOFTGPU_ATTRIBUTE(NAME, type, member)                                                                          \
    attribute { NAME, offsetof(type, member), sizeof(type::member) }
constexpr attribute of_layout[] = {
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, layout, type),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, layout, order),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, layout, rows),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, layout, columns),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, layout, ld),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, layout, count),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, layout, stride),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, layout, plane),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, layout, batch_mode),
};
using product = product_description;
constexpr attribute of_product[] = {
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, product, compute),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, product, scale_type),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, product, pointers),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, product, op_a),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, product, op_b),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, product, op_c),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, product, fill),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, product, epilogue),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product, bias),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, product, bias_stride),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, product, aux),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, product, aux_ld),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, product, aux_stride),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, product, alpha_stride),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, product, processors),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, product, a_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, product, b_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, product, c_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, product, d_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, product, amax),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, product, aux_type),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, product, aux_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, product, aux_amax),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, product, fast),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, product, bias_type),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, product, scale_modes[0]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, product, scale_modes[1]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, product, scale_modes[2]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, product, scale_modes[3]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, product, scale_modes[4]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, product, out_scale),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, product, out_mode),
};
constexpr attribute of_transform[] = {
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, transform_description, scale_type),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, transform_description, pointers),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, transform_description, op_a),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, transform_description, op_b),
};
constexpr attribute of_preferences[] = {
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, preferences, search),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, preferences, workspace),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, preferences, reductions),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, preferences, alignment[0]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, preferences, alignment[1]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, preferences, alignment[2]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, preferences, alignment[3]),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, preferences, waves),
    SOFTGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, preferences, implementations),
};
constexpr attribute of_algorithm[] = {
    // CUBLASLT_ALGO_CONFIG_...
    SOFTGPU_ATTRIBUTE(0, algorithm, id),
    SOFTGPU_ATTRIBUTE(1, algorithm, tile),
    SOFTGPU_ATTRIBUTE(2, algorithm, split_k),
    SOFTGPU_ATTRIBUTE(3, algorithm, reduction),
    SOFTGPU_ATTRIBUTE(4, algorithm, swizzling),
    SOFTGPU_ATTRIBUTE(5, algorithm, custom),
    SOFTGPU_ATTRIBUTE(6, algorithm, stages),
    SOFTGPU_ATTRIBUTE(7, algorithm, inner_shape),
    SOFTGPU_ATTRIBUTE(8, algorithm, cluster_shape),
};
#undef SOFTGPU_ATTRIBUTE

const attribute* find(std::span<const attribute> all, int number) {
    for (const attribute& a : all) {
        if (a.number == number) {
            return &a;
        }
    }
    return nullptr;
}

cublasStatus_t set(std::span<const attribute> all, void* object, int number, const void* value, std::size_t size) {
    const attribute* const a = find(all, number);
    if (object == nullptr || a == nullptr || value == nullptr || size != a->size) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    std::memcpy(static_cast<char*>(object) + a->offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t get(std::span<const attribute> all, const void* object, int number, void* value, std::size_t size,
                   std::size_t* written) {
    const attribute* const a = find(all, number);
    if (object == nullptr || a == nullptr || (size == 0 ? written == nullptr : value == nullptr || size != a->size)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (written != nullptr) {
        *written = a->size;
    }
    if (size != 0) {
        std::memcpy(value, static_cast<const char*>(object) + a->offset, size);
    }
    return CUBLAS_STATUS_SUCCESS;
}

// `size`: of the program's structure.
template <class Opaque>
cublasStatus_t init(Opaque* to, std::size_t size, const description_of<Opaque>& value) {
    if (to == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (size < sizeof(value)) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    std::memset(static_cast<void*>(to), 0, size);
    std::memcpy(static_cast<void*>(to), &value, sizeof(value));
    return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque>
cublasStatus_t create(Opaque** to, const description_of<Opaque>& value) {
    if (to == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *to = new (std::nothrow) Opaque{};
    return *to == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : init(*to, sizeof(Opaque), value);
}

layout layout_of(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
    return {.type = static_cast<std::uint32_t>(type), .rows = rows, .columns = columns, .ld = ld};
}
product_description product_of(cublasComputeType_t compute, cudaDataType scale_type) {
    return {.compute = compute, .scale_type = scale_type};
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t ld) {
    return init(to, size, layout_of(type, rows, columns, ld));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
    return create(to, layout_of(type, rows, columns, ld));
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, size_t size, cublasComputeType_t compute,
                                               cudaDataType scale_type) {
    return init(to, size, product_of(compute, scale_type));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to, cublasComputeType_t compute,
                                        cudaDataType scale_type) {
    return create(to, product_of(compute, scale_type));
}
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t to, size_t size,
                                                        cudaDataType scale_type) {
    return init(to, size, {.scale_type = scale_type});
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* to, cudaDataType scale_type) {
    return create(to, {.scale_type = scale_type});
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t to, size_t size) {
    return init(to, size, {});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) { return create(to, {}); }

#define SOFTGPU_ATTRIBUTES(Name, Attribute, all)                                                                       \
    cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t object) {                                                \
        delete object;                                                                                                 \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublasLt##Name##SetAttribute(cublasLt##Name##_t object, Attribute number, const void* value,        \
                                                size_t size) {                                                         \
        return set(all, object, number, value, size);                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublasLt##Name##GetAttribute(cublasLt##Name##_t object, Attribute number, void* value, size_t size, \
                                                size_t* written) {                                                     \
        return get(all, object, number, value, size, written);                                                         \
    }
SOFTGPU_ATTRIBUTES(MatrixLayout, cublasLtMatrixLayoutAttribute_t, of_layout)
SOFTGPU_ATTRIBUTES(MatmulDesc, cublasLtMatmulDescAttributes_t, of_product)
SOFTGPU_ATTRIBUTES(MatrixTransformDesc, cublasLtMatrixTransformDescAttributes_t, of_transform)
SOFTGPU_ATTRIBUTES(MatmulPreference, cublasLtMatmulPreferenceAttributes_t, of_preferences)
#undef SOFTGPU_ATTRIBUTES

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t number, const void* value,
                                                    size_t size) {
    return set(of_algorithm, algo, number, value, size);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t number, void* value,
                                                    size_t size, size_t* written) {
    return get(of_algorithm, algo, number, value, size, written);
}

} // extern "C"
#pragma GCC visibility pop

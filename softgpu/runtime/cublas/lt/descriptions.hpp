// SPDX-License-Identifier: MIT
// What programs describe matrices, products and transforms with. Each fits its opaque structure of cublasLt.h, in which programs
// may keep it.
#pragma once

#include <cstdint>
#include <utility>

#include "softgpu/runtime/cublas/lt/cublasLt.h"

namespace softgpu::runtime::cublas {

struct layout {
    std::uint32_t type;
    std::int32_t order = CUBLASLT_ORDER_COL;
    std::uint64_t rows, columns;
    std::int64_t ld;
    std::int64_t stride = 0; // of a batch, in elements
    std::int64_t plane = 0;
    std::int32_t count = 1;
    std::uint32_t batch_mode = 0; // 0: at a stride
};

// 184 bytes, which the structures of CUDA 12.0 have.
struct product_description {
    std::int32_t compute, scale_type;
    std::int32_t pointers = CUBLASLT_POINTER_MODE_HOST;
    std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N;
    std::int32_t fill = 2; // CUBLAS_FILL_MODE_FULL
    std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    void* bias = nullptr;
    std::int64_t bias_stride = 0;
    void* aux = nullptr;
    std::int64_t aux_ld = 0, aux_stride = 0, alpha_stride = 0;
    const void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr;
    void* amax = nullptr;
    const void* aux_scale = nullptr;
    void* aux_amax = nullptr;
    std::int32_t processors = 0;
    std::int32_t aux_type = -1, bias_type = -1;
    std::int32_t scale_modes[5] = {}; // of A, B, C, D and the auxiliary matrix
    std::int8_t fast = 0;
    std::int32_t out_mode = 0;
    void* out_scale = nullptr;
};

struct transform_description {
    std::int32_t scale_type;
    std::int32_t pointers = CUBLASLT_POINTER_MODE_HOST;
    std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
};

// Read by no one: there is one algorithm.
struct preferences {
    std::uint32_t search = 0, reductions = 7;
    std::uint64_t workspace = 0;
    std::uint32_t alignment[4] = {256, 256, 256, 256};
    float waves = 0;
    std::uint64_t implementations = ~0ull;
};
struct algorithm {
    std::int32_t id = 0;
    std::uint32_t tile = 0;
    std::int32_t split_k = 1;
    std::uint32_t reduction = 0, swizzling = 0, custom = 0, stages = 0;
    std::uint16_t inner_shape = 0, cluster_shape = 0;
};

static_assert(sizeof(layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(product_description) <= 184);
static_assert(sizeof(transform_description) <= sizeof(cublasLtMatrixTransformDescOpaque_t));
static_assert(sizeof(preferences) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t));

// What each opaque structure of cuBLASLt holds.
layout held(const cublasLtMatrixLayoutOpaque_t&);
product_description held(const cublasLtMatmulDescOpaque_t&);
transform_description held(const cublasLtMatrixTransformDescOpaque_t&);
preferences held(const cublasLtMatmulPreferenceOpaque_t&);
algorithm held(const cublasLtMatmulAlgo_t&);
template <class Opaque>
using description_of = decltype(held(std::declval<Opaque&>()));

template <class Opaque>
auto& description(Opaque* o) {
    return *reinterpret_cast<description_of<Opaque>*>(o);
}
template <class Opaque>
const auto& description(const Opaque* o) {
    return *reinterpret_cast<const description_of<Opaque>*>(o);
}

} // namespace softgpu::runtime::cublas

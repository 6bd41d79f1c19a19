// SPDX-License-Identifier: MIT
// Products of matrices of all types, one or a batch.
#pragma once

#include <string_view>
#include <vector>

#include "softgpu/runtime/cublas/data_types.hpp"

namespace softgpu::runtime::cublas {

// Matrices of a call: one, `count` at a stride in elements, or `count` whose addresses the device has in an array.
struct matrices {
    const void* at = nullptr; // of the first, or of the array
    cudaDataType type;
    std::int64_t ld;
    std::int64_t stride = 0;
};

struct product_request {
    std::string_view name; // "cublasSgemm"
    cublasOperation_t op_a, op_b;
    std::int64_t m, n, k;
    const void* alpha;
    matrices a, b;
    const void* beta;
    matrices c;
    cublasComputeType_t compute;
    std::int64_t count = 1;
    bool by_address = false; // the matrices' addresses are in arrays
};

// op(A) op(B) in T, without gaps, of one pair of matrices. T: float or double for all real types, else that of A and B.
template <class T>
[[nodiscard]] std::vector<T> product_of(const product_request& p, rounding inputs, const void* a, const void* b);

cublasStatus_t enqueue_product(cublasHandle_t handle, const product_request& call) noexcept;

} // namespace softgpu::runtime::cublas

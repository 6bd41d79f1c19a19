// SPDX-License-Identifier: MIT
#pragma once

#include "softgpu/runtime/cublas/lt/descriptions.hpp"

namespace softgpu::runtime::cublas {

// Whether cublasLtMatmul can run it: SUCCESS, INVALID_VALUE, or NOT_SUPPORTED, which is reported once.
cublasStatus_t check_product(const product_description& p, const layout& a, const layout& b, const layout& c,
                             const layout& d);

} // namespace softgpu::runtime::cublas

// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstdint>

#include "softgpu/runtime/cublas/lt/operands.hpp"
#include "softgpu/runtime/cublas/products.hpp"

namespace softgpu::runtime::cublas {

inline bool is_byte_float(cudaDataType t) { return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2; }

// Types of what an epilogue reads or writes beside D.
inline cudaDataType bias_type(const product_description& p, const layout& c, const layout& d) {
    if (p.bias_type >= 0) {
        return static_cast<cudaDataType>(p.bias_type);
    }
    if (type_of(d) == CUDA_R_8I) {
        return CUDA_R_32F;
    }
    return is_byte_float(type_of(d)) ? type_of(c) : type_of(d);
}
inline cudaDataType aux_type(const product_description& p, const layout& d) {
    return p.aux_type >= 0 ? static_cast<cudaDataType>(p.aux_type) : type_of(d);
}

// One call, as the operation keeps it.
struct product_run {
    product_description p;
    layout a, b, c, d;
    const void *at_a, *at_b, *at_c;
    void* at_d;
    const void *alpha = nullptr, *beta = nullptr;       // on the device
    std::complex<double> held_alpha = 0, held_beta = 0; // on the host
    arithmetic sums = arithmetic::f32;
    rounding inputs = rounding::none;
    std::int64_t m = 0, n = 0, k = 0;

    [[nodiscard]] bool has(std::uint32_t part) const { return (p.epilogue & part) != 0; }
    [[nodiscard]] cudaDataType scale() const { return static_cast<cudaDataType>(p.scale_type); }
    [[nodiscard]] std::complex<double> alpha_of(std::int64_t number, std::int64_t row) const {
        if (alpha == nullptr) {
            return held_alpha;
        }
        const std::int64_t at = p.pointers == CUBLASLT_POINTER_MODE_DEVICE ? 0 : number * p.alpha_stride + row;
        return scalar_at(scale(), alpha, at);
    }
    [[nodiscard]] std::complex<double> beta_of(std::int64_t row) const {
        if (beta == nullptr) {
            return held_beta;
        }
        return scalar_at(scale(), beta, p.pointers == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? row : 0);
    }
};

// All products of the batch.
void carry_out(const product_run& run);

} // namespace softgpu::runtime::cublas

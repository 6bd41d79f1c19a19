// SPDX-License-Identifier: MIT
// What cublasLtMatmul does with the elements of a product before it stores them.
#pragma once

#include <cmath>
#include <cstdint>

namespace softgpu::runtime::cublas {

// Parts of an epilogue: a value of cublasLtEpilogue_t is a sum of them.
inline constexpr std::uint32_t none_part = 1, relu_part = 2, bias_part = 4, relu_gradient_part = 8,
                               bias_gradient_part = 16, gelu_part = 32, gelu_gradient_part = 64, aux_part = 128,
                               bias_gradient_a_part = 256, bias_gradient_b_part = 512;

inline bool is_epilogue(std::uint32_t e) {
    switch (e) {
    case none_part:
    case relu_part:
    case relu_part | bias_part:
    case relu_part | aux_part:
    case relu_part | aux_part | bias_part:
    case bias_part:
    case gelu_part:
    case gelu_part | bias_part:
    case gelu_part | aux_part:
    case gelu_part | aux_part | bias_part:
    case relu_gradient_part | aux_part:
    case relu_gradient_part | aux_part | bias_gradient_part:
    case gelu_gradient_part | aux_part:
    case gelu_gradient_part | aux_part | bias_gradient_part:
    case bias_gradient_a_part:
    case bias_gradient_b_part: return true;
    default: return false;
    }
}

// GELU by its approximation with tanh, as cuBLASLt has it, and its derivative.
inline double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); // sqrt(2 / pi)
}
inline double gelu_derivative(double x) {
    const double t = std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.79788456080286536 * (1 + 3 * 0.044715 * x * x);
}

} // namespace softgpu::runtime::cublas

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/data_types.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"

namespace softgpu::runtime::cublas {
namespace {

namespace formats = machine::SOFTGPU_TARGET;

// The nearest number, ties to even; integers hold the nearest that they have, NaN is 0.
template <class Number>
struct plain {
    using stored = Number;
    static double value(stored x) { return static_cast<double>(x); }
    static stored rounded(double x) {
        if constexpr (std::is_integral_v<Number>) {
            using limits = std::numeric_limits<Number>;
            return x != x ? 0
                          : static_cast<stored>(std::clamp<double>(std::nearbyint(x), limits::min(), limits::max()));
        } else {
            return static_cast<stored>(x);
        }
    }
};
// Numbers of 8 bits take the largest finite value in place of a larger one.
template <class Format>
struct small {
    using stored = typename Format::bits;
    static double value(stored x) { return formats::widened<Format>(x); }
    static stored rounded(double x) {
        if (sizeof(stored) == 1 && x == x) {
            const double most = value(static_cast<stored>(Format::infinity - 1));
            x = std::clamp(x, -most, most);
        }
        return static_cast<stored>(formats::narrowed<Format>(x));
    }
};

// visit(type's traits).
template <class Visit>
auto with_type(cudaDataType type, Visit&& visit) {
    switch (type) {
    case CUDA_R_16F: return visit(small<formats::f16_format>{});
    case CUDA_R_16BF: return visit(small<formats::bf16_format>{});
    case CUDA_R_8F_E4M3: return visit(small<formats::e4m3_format>{});
    case CUDA_R_8F_E5M2: return visit(small<formats::e5m2_format>{});
    case CUDA_R_8I: return visit(plain<std::int8_t>{});
    case CUDA_R_32I: return visit(plain<std::int32_t>{});
    case CUDA_R_64F: return visit(plain<double>{});
    default: return visit(plain<float>{});
    }
}

template <class Stored>
Stored read(const void* at, std::ptrdiff_t place) {
    Stored x;
    std::memcpy(&x, static_cast<const char*>(at) + place * static_cast<std::ptrdiff_t>(sizeof(Stored)), sizeof(Stored));
    return x;
}

// Nearest, ties away from zero, as cvt.rna.tf32.f32.
double rounded_to_tf32(double x) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    const bool finite = (bits & 0x7F800000u) != 0x7F800000u;
    return static_cast<double>(std::bit_cast<float>(finite ? (bits + 0x1000u) & ~0x1FFFu : bits));
}

double rounded_to(rounding to, double x) {
    using half = small<formats::f16_format>;
    using bfloat = small<formats::bf16_format>;
    switch (to) {
    case rounding::tf32: return rounded_to_tf32(x);
    case rounding::f16: return half::value(half::rounded(x));
    case rounding::bf16: return bfloat::value(bfloat::rounded(x));
    case rounding::none: break;
    }
    return x;
}

// Programs of CUDA 10 name a data type in the place of a type of computation; the two have no number in common.
cublasComputeType_t computation_of(cublasComputeType_t compute) {
    switch (static_cast<int>(compute)) {
    case CUDA_R_16F: return CUBLAS_COMPUTE_16F;
    case CUDA_R_32F:
    case CUDA_C_32F: return CUBLAS_COMPUTE_32F;
    case CUDA_R_64F:
    case CUDA_C_64F: return CUBLAS_COMPUTE_64F;
    case CUDA_R_32I: return CUBLAS_COMPUTE_32I;
    default: return compute;
    }
}

} // namespace

rounding rounding_of(cublasComputeType_t compute, cublasMath_t math) {
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F: return rounding::f16;
    case CUBLAS_COMPUTE_32F_FAST_16BF: return rounding::bf16;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return rounding::tf32;
    case CUBLAS_COMPUTE_32F:
        return (static_cast<int>(math) & 0xF) == CUBLAS_TF32_TENSOR_OP_MATH ? rounding::tf32 : rounding::none;
    default: return rounding::none;
    }
}

std::optional<product_types> types_of(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute,
                                      cublasMath_t math) {
    if (a != b) {
        return {};
    }
    compute = computation_of(compute);
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return a == CUDA_R_16F && c == a ? std::optional(product_types{a, b, c, a, arithmetic::f32}) : std::nullopt;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return a == CUDA_R_64F && c == a   ? std::optional(product_types{a, b, c, a, arithmetic::f64})
               : a == CUDA_C_64F && c == a ? std::optional(product_types{a, b, c, a, arithmetic::c64})
                                           : std::nullopt;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return a == CUDA_R_8I && c == CUDA_R_32I ? std::optional(product_types{a, b, c, c, arithmetic::i32})
                                                 : std::nullopt;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: break;
    default: return {};
    }
    if (a == CUDA_C_32F && c == a) {
        return product_types{a, b, c, a, arithmetic::c32};
    }
    const bool is_small = a == CUDA_R_16F || a == CUDA_R_16BF;
    if (a == CUDA_R_32F && c == a) {
        return product_types{a, b, c, CUDA_R_32F, arithmetic::f32, rounding_of(compute, math)};
    }
    if ((is_small && (c == a || c == CUDA_R_32F)) || (a == CUDA_R_8I && c == CUDA_R_32F)) {
        return product_types{a, b, c, CUDA_R_32F, arithmetic::f32};
    }
    return {};
}

std::size_t bytes_of(cudaDataType type) noexcept {
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 4;
    }
}

template <class T>
std::vector<T> widened(cudaDataType type, rounding to, const void* matrix, std::int64_t rows, std::int64_t columns,
                       std::int64_t ld) {
    return with_type(type, [&]<class Type>(Type) {
        std::vector<T> out;
        out.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        for (std::ptrdiff_t column = 0; column < columns; ++column) {
            for (std::ptrdiff_t row = 0; row < rows; ++row) {
                const double x = Type::value(read<typename Type::stored>(matrix, row + column * ld));
                out.push_back(static_cast<T>(to == rounding::none ? x : rounded_to(to, x)));
            }
        }
        return out;
    });
}
template std::vector<float> widened(cudaDataType, rounding, const void*, std::int64_t, std::int64_t, std::int64_t);
template std::vector<double> widened(cudaDataType, rounding, const void*, std::int64_t, std::int64_t, std::int64_t);

double load(cudaDataType type, const void* at, std::ptrdiff_t place) {
    return with_type(type, [&]<class Type>(Type) { return Type::value(read<typename Type::stored>(at, place)); });
}

void store(cudaDataType type, void* at, std::ptrdiff_t place, double value) {
    with_type(type, [&]<class Type>(Type) {
        const typename Type::stored x = Type::rounded(value);
        std::memcpy(static_cast<char*>(at) + place * static_cast<std::ptrdiff_t>(sizeof x), &x, sizeof x);
    });
}

std::complex<double> value_of(cudaDataType type, const void* at) {
    switch (type) {
    case CUDA_C_32F: return {load(CUDA_R_32F, at, 0), load(CUDA_R_32F, at, 1)};
    case CUDA_C_64F: return {load(CUDA_R_64F, at, 0), load(CUDA_R_64F, at, 1)};
    default: return load(type, at, 0);
    }
}

} // namespace softgpu::runtime::cublas

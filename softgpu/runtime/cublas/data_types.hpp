// SPDX-License-Identifier: MIT
// cudaDataType: the values of each type, and which types a product takes.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/runtime/cublas/cublas_v2.h"

namespace softgpu::runtime::cublas {

// What sums of products are computed in.
enum class arithmetic : std::uint8_t { f32, f64, c32, c64, i32 };
// What the elements of A and B are rounded to first, as tensor cores do.
enum class rounding : std::uint8_t { none, tf32, f16, bf16 };

[[nodiscard]] rounding rounding_of(cublasComputeType_t compute, cublasMath_t math);

struct product_types {
    cudaDataType a, b, c, scalars;
    arithmetic sums;
    rounding inputs = rounding::none;
};
// Empty: cuBLAS does not support it, or this library does not.
[[nodiscard]] std::optional<product_types> types_of(cudaDataType a, cudaDataType b, cudaDataType c,
                                                    cublasComputeType_t compute, cublasMath_t math);

[[nodiscard]] std::size_t bytes_of(cudaDataType type) noexcept;
// A matrix's elements as an array without gaps. T: float or double.
template <class T>
[[nodiscard]] std::vector<T> widened(cudaDataType type, rounding to, const void* matrix, std::int64_t rows,
                                     std::int64_t columns, std::int64_t ld);
// Elements of real types.
[[nodiscard]] double load(cudaDataType type, const void* at, std::ptrdiff_t place);
void store(cudaDataType type, void* at, std::ptrdiff_t place, double value); // rounded to nearest even
// A scalar of any type.
[[nodiscard]] std::complex<double> value_of(cudaDataType type, const void* at);

} // namespace softgpu::runtime::cublas

// SPDX-License-Identifier: MIT
#pragma once

namespace softgpu::runtime::cublas {

// What cublasGetVersion() gives: libcublas.so.12 and .13 differ in it alone.
extern const int version;

} // namespace softgpu::runtime::cublas

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/version.hpp"

namespace softgpu::runtime::cublas {

const int version = SOFTGPU_CUBLAS_VERSION;

} // namespace softgpu::runtime::cublas

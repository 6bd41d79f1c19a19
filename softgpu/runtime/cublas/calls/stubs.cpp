// SPDX-License-Identifier: MIT
// What is missing. Without cublas_v2.h, which leads names of CUDA's first cuBLAS to those of its second.
#include "softgpu/runtime/cublas/unsupported.hpp"

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_CUBLAS_STUB(name)                                                                                      \
    int name() {                                                                                                       \
        softgpu::runtime::cublas::report_unsupported(#name);                                                           \
        return softgpu::runtime::cublas::not_supported;                                                                \
    }
#include "softgpu/runtime/cublas/calls/stubs.def"

} // extern "C"
#pragma GCC visibility pop

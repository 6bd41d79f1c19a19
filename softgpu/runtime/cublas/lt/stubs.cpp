// SPDX-License-Identifier: MIT
// What is missing.
#include "softgpu/runtime/cublas/unsupported.hpp"

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_CUBLAS_STUB(name)                                                                                      \
    int name() {                                                                                                       \
        softgpu::runtime::cublas::report_unsupported(#name);                                                           \
        return softgpu::runtime::cublas::not_supported;                                                                \
    }
#include "softgpu/runtime/cublas/lt/stubs.def"

} // extern "C"
#pragma GCC visibility pop

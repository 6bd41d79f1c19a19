// SPDX-License-Identifier: MIT
// The calls of CUDA 12 only that are not implemented.
#include "softgpu/runtime/calls/versions/stubs.hpp"

namespace softgpu::runtime {

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_STUB(name)                                                                                             \
    error name() { return refuse(#name); }
#include "softgpu/runtime/abi/stubs_12.def"
#undef SOFTGPU_STUB

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

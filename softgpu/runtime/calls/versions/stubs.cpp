// SPDX-License-Identifier: MIT
// The calls of CUDA 12 and 13 that are not implemented.
#include "softgpu/runtime/calls/versions/stubs.hpp"

#include <string>

#include "softgpu/runtime/calls/call.hpp"

namespace softgpu::runtime {

error refuse(const char* name) noexcept {
    return call([&] { fail(error::not_supported, std::string(name) + " is not supported"); });
}

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_STUB(name)                                                                                             \
    error name() { return refuse(#name); }
#include "softgpu/runtime/abi/stubs.def"
#undef SOFTGPU_STUB

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

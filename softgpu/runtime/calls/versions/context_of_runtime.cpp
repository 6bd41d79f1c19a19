// SPDX-License-Identifier: MIT
#include "softgpu/runtime/calls/call.hpp"

namespace softgpu::runtime {

context& context_of_call() {
    context& gpu = current_context();
    gpu.use_by_runtime();
    return gpu;
}

} // namespace softgpu::runtime

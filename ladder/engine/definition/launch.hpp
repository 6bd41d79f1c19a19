// SPDX-License-Identifier: MIT
// The one way in which steps launch a kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "ladder/engine/definition/integers.hpp"
#include "ladder/engine/definition/step.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::engine {

// Launches `kernel` on the stage's stream and records it. Throws measure::cuda_error.
template <class... Parameters>
void launch(const stage& on, const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, std::type_identity_t<Parameters>... arguments) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
    measure::check(
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared_bytes, on.stream), name,
        __FILE__, __LINE__);
    if (on.launches != nullptr) {
        auto& record = on.launches->emplace_back();
        record.kernel = record.symbol = name;
        record.grid = {grid.x, grid.y, grid.z};
        record.block = {block.x, block.y, block.z};
        record.dynamic_shared_bytes = shared_bytes;
    }
}

} // namespace warpfold::ladder::engine

// SPDX-License-Identifier: MIT
// Which kernels the ladders launched: the linker redirects every launch to launched_kernels.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace warpfold::ladder::engine {

struct launched_kernel {
    const void* function = nullptr; // the handle of the runtime
    std::string name;               // without our namespaces and parameters
    unsigned threads = 0;           // of a block
    std::size_t dynamic_shared = 0;
};

// Records launches of this process while it lives: each kernel with each shape of its blocks once.
class kernel_watch {
public:
    kernel_watch();
    kernel_watch(const kernel_watch&) = delete;
    kernel_watch& operator=(const kernel_watch&) = delete;
    ~kernel_watch();

    // The kernels of warpfold, sorted by name. Throws measure::cuda_error.
    [[nodiscard]] std::vector<launched_kernel> ours() const;
};

} // namespace warpfold::ladder::engine

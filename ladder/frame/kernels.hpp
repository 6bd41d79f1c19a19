// SPDX-License-Identifier: MIT
// Which kernels were launched from this library, by whichever way: the linker sends every launch through here.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace warpfold::ladder::frame {

struct launched_kernel {
    const void* function = nullptr; // as the runtime knows it
    std::string name;               // without namespaces of ours and parameters
    unsigned threads = 0;           // of a block
    std::size_t dynamic_shared = 0;
};

// While it lives, launches of this process are noted, each kernel with each shape of its blocks once.
class kernel_watch {
public:
    kernel_watch();
    kernel_watch(const kernel_watch&) = delete;
    kernel_watch& operator=(const kernel_watch&) = delete;
    ~kernel_watch();

    // Those of warpfold, by name. Throws measure::cuda_error.
    [[nodiscard]] std::vector<launched_kernel> ours() const;
};

} // namespace warpfold::ladder::frame

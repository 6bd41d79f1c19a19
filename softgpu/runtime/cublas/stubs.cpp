// SPDX-License-Identifier: MIT
// What is missing. Without cublas_v2.h, which leads names of CUDA's first cuBLAS to those of its second.
#include <mutex>
#include <set>
#include <string>

#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/cublas/unsupported.hpp"

namespace softgpu::runtime::cublas {

void report_unsupported(std::string_view function, std::string_view what) {
    static std::mutex mutex;
    static std::set<std::string>& said = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    const std::string text = std::string(function) + (what.empty() ? "" : " ") + std::string(what);
    if (said.insert(text).second) {
        report(text + ": the software GPU's cuBLAS does not support it");
    }
}

} // namespace softgpu::runtime::cublas

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_CUBLAS_STUB(name)                                                                                      \
    int name() {                                                                                                       \
        softgpu::runtime::cublas::report_unsupported(#name);                                                           \
        return softgpu::runtime::cublas::not_supported;                                                                \
    }
#include "softgpu/runtime/cublas/stubs.def"

} // extern "C"
#pragma GCC visibility pop

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cublas/unsupported.hpp"

#include <mutex>
#include <set>
#include <string>

#include "softgpu/runtime/core/failure.hpp"

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

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/failure.hpp"

#include <cstdio>
#include <utility>

#include "softgpu/runtime/core/logs.hpp"

namespace softgpu::runtime {

void fail(error code, std::string message) { throw failure{code, std::move(message)}; }

void report(const std::string& message) noexcept {
    std::fprintf(stderr, "softgpu: %s\n", message.c_str());
    logs::add(message);
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/failure.hpp"

#include <cstdio>
#include <utility>

namespace softgpu::runtime {

void fail(error code, std::string message) { throw failure{code, std::move(message)}; }

void report(const std::string& message) noexcept { std::fprintf(stderr, "softgpu: %s\n", message.c_str()); }

} // namespace softgpu::runtime

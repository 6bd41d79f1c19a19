// SPDX-License-Identifier: MIT
// What kernels have printed, until a synchronising call or the program's end lets the program see it.
#pragma once

#include <cstdint>
#include <string>

namespace softgpu::runtime {

// `launch`: its place in the order of issue.
void keep_printed(std::uint64_t launch, std::string text);
// Writes what kernels that have ended printed to the program's standard output, in the order in which they were launched.
void show_printed() noexcept;

} // namespace softgpu::runtime

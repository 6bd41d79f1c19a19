// SPDX-License-Identifier: MIT
// What kernels print is kept until a synchronising call or the program's end shows it.
#pragma once

#include <cstdint>
#include <string>

namespace softgpu::runtime {

// launch: the kernel's number in the order of issue.
void keep_printed(std::uint64_t launch, std::string text);
// Writes what finished kernels have printed to standard output, in the order of launches.
void show_printed() noexcept;

} // namespace softgpu::runtime

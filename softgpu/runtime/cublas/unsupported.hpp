// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace softgpu::runtime::cublas {

inline constexpr int not_supported = 15; // CUBLAS_STATUS_NOT_SUPPORTED

// Prints once for each function that it is not supported.
void report_unsupported(std::string_view function, std::string_view what = {});

} // namespace softgpu::runtime::cublas

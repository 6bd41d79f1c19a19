// SPDX-License-Identifier: MIT
// The runtime of CUDA 10 on that of CUDA 12.
#pragma once

#include <string_view>

namespace softgpu::redirect {

// libcudart.so.10.2, or as auditwheel names it: libcudart-80664282.so.10.2.
[[nodiscard]] bool is_runtime_of_cuda_10(std::string_view file_name) noexcept;

// What does a call of CUDA 10: a function of `runtime_12`, our libcudart.so.12, where its form is the same; else one that
// translates. nullptr for a call that CUDA 12 has in another form and nobody has needed: graphs, texture references.
[[nodiscard]] const void* form_of_cuda_10(std::string_view call, void* runtime_12);

} // namespace softgpu::redirect

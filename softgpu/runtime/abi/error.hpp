// SPDX-License-Identifier: MIT
// The runtime's error codes with their names and texts, made from the one table errors.def.
#pragma once

namespace softgpu::runtime {

enum class error : int {
#define SOFTGPU_ERROR(code, id, name, text) id = code,
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR
};

// "cudaErrorInvalidValue"; "unrecognized error code" for an unknown number. The strings are never freed.
[[nodiscard]] const char* name_of(error e) noexcept;
// "invalid argument"; "unrecognized error code" for an unknown number.
[[nodiscard]] const char* text_of(error e) noexcept;

} // namespace softgpu::runtime

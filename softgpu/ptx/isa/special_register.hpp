// SPDX-License-Identifier: MIT
// The registers that PTX predefines.
#pragma once

#include <string_view>

namespace softgpu::ptx {

// Whether PTX predefines this register: "%laneid", "%tid", "%tid.x", "%envreg7". Source: PTX ISA 9.0, chapter 10.
[[nodiscard]] bool is_special_register(std::string_view name) noexcept;

} // namespace softgpu::ptx

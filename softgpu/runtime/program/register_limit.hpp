// SPDX-License-Identifier: MIT
// The limit of registers that a client gives a linker or the just-in-time compiler.
#pragma once

#include <string>
#include <string_view>

namespace softgpu::runtime {

// The PTX with `.maxnreg most` at each kernel that has neither that nor launch bounds, which come first in CUDA. most 0: as it
// is.
[[nodiscard]] std::string with_register_limit(std::string_view ptx, unsigned most);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Generic addresses that are of shared memory, as far as the code tells. nvcc leaves products of matrices generic (wmma.load).
#pragma once

#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// By register: all that is written to it comes from cvta.shared, by moves and additions.
[[nodiscard]] std::vector<bool> shared_pointers(const ptx::function& f);

} // namespace softgpu::machine

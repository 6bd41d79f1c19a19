// SPDX-License-Identifier: MIT
// The functions by which compilers other than nvcc synchronize the blocks of a cooperative launch: cudaCGGetIntrinsicHandle()
// and its like of cuda_device_runtime_api.h. NVIDIA has them in libcudadevrt.a, as machine code.
#pragma once

#include <string_view>

namespace softgpu::machine {

inline constexpr std::string_view grid_group_prefix = "cudaCG";

// A module of PTX that defines them. The handle of a grid group is the address of the grid's workspace, 0 in a launch that is
// not cooperative; the barrier is that of cooperative_groups/details/sync.h.
[[nodiscard]] std::string_view grid_group_functions() noexcept;

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// The process that the runtime's files and reports belong to: the one that made the first CUDA call, before that the one
// that registered code. A child that it forks writes none of them.
#pragma once

namespace softgpu::runtime::owner_process {

// The program has registered code in this process. Only the first call counts.
void set_by_registration() noexcept;
// This process has made the first CUDA call.
void set_by_first_call() noexcept;
// Whether the calling process is the owner, or there is none yet.
[[nodiscard]] bool is_this_one() noexcept;

} // namespace softgpu::runtime::owner_process

// SPDX-License-Identifier: MIT
// Facts of the software GPU that need no run of it: which card it is, and how it runs on this host.
#pragma once

#include <string>
#include <string_view>

#include "softgpu/runtime/cards/cards.hpp"

namespace warpfold::tool {

[[nodiscard]] std::string card_names(); // "H100, A100, RTX5090, RTX4090, T4, K40m"

// The one that SOFTGPU_DEVICE names, or the first of the table; nullptr where SOFTGPU_DEVICE names none that there is.
[[nodiscard]] const softgpu::runtime::card* chosen_card();

// "avx512", "avx2" or "plain"
[[nodiscard]] std::string_view instruction_set();

// Threads of the host that kernels are spread over: SOFTGPU_WORKERS, or all cores.
[[nodiscard]] unsigned workers();

} // namespace warpfold::tool

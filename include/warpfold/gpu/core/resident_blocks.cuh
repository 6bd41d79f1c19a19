// SPDX-License-Identifier: MIT
// Resident blocks as a bound of a kernel's registers.
#pragma once

#include <algorithm>
#include <iterator>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::detail {

// True of code for compute capability 7.5 without other code for later devices, which its PTX serves.
#if defined(__CUDA_ARCH__) && defined(__CUDA_ARCH_LIST__)
inline constexpr unsigned compiled_architectures[] = {__CUDA_ARCH_LIST__}; // ascending
inline constexpr bool serves_later_devices =
    __CUDA_ARCH__ < 800 && *std::rbegin(compiled_architectures) == __CUDA_ARCH__;
#endif

// Blocks of a multiprocessor for which registers are left: no more than it has threads for, of which ptxas would warn.
template <unsigned Threads, unsigned Blocks>
inline constexpr unsigned bounded_blocks_v =
#if defined(__CUDA_ARCH__) && defined(__CUDA_ARCH_LIST__)
    serves_later_devices ? Blocks
                         : std::clamp(tuning::threads_of_multiprocessor(__CUDA_ARCH__ / 10) / Threads, 1u, Blocks);
#else
    Blocks;
#endif

} // namespace warpfold::detail

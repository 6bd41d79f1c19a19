// SPDX-License-Identifier: MIT
// Asynchronous copies from global to shared memory (cp.async), from compute capability 8.0 on. Older devices copy
// through registers and wait.
//
// PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpfold::detail {

// Which caches keep the data: L1 and L2 (cp.async.ca), or L2 alone (cp.async.cg, for 16 bytes only).
enum class copy_cache { l1_and_l2, l2 };

// Starts to copy `Bytes` bytes, 4, 8 or 16, both addresses aligned to them. The thread reads them after wait_copies().
template <int Bytes, copy_cache Cache = copy_cache::l1_and_l2>
__device__ void copy_async(void* to, const void* from) {
    static_assert(Cache == copy_cache::l1_and_l2 || Bytes == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (Cache == copy_cache::l2) {
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
            "l"(__cvta_generic_to_global(from))
            : "memory");
    } else {
        asm volatile(
            "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
            "l"(__cvta_generic_to_global(from)), "n"(Bytes)
            : "memory");
    }
#else
    using word = std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 8, uint2, uint4>>;
    *static_cast<word*>(to) = __ldg(static_cast<const word*>(from));
#endif
}

// Ends a group of this thread's copies.
__device__ inline void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until no more than the last `Groups` groups of this thread's copies are in flight.
template <unsigned Groups>
__device__ void wait_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

// Waits for all of this thread's copies, committed or not.
__device__ inline void wait_all_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace warpfold::detail

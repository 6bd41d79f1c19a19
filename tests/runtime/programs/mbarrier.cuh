// SPDX-License-Identifier: MIT
// Barrier objects in shared memory, by PTX. How a program initialises them, and fences, is its own.
#pragma once

#include <cstdint>

inline __device__ std::uint32_t shared_of(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Arrives, and expects so many bytes.
inline __device__ void expect(const std::uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_of(barrier)), "r"(bytes) : "memory");
}

inline __device__ void wait(const std::uint64_t* barrier, unsigned parity) {
    unsigned over = 0;
    while (over == 0) {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(over)
                     : "r"(shared_of(barrier)), "r"(parity)
                     : "memory");
    }
}

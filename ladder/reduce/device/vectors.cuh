// SPDX-License-Identifier: MIT
// What a thread adds up alone with 16-byte loads (steps 11 and 12).
#pragma once

#include <cstdint>
#include <cstring>

namespace warpfold::ladder::reduce {

// The thread's share of n elements at the stride of the grid: 16 bytes at a time; the elements before the first 16-byte
// boundary and after the last one are loaded one by one. `input` needs the alignment of its type only.
template <class T, class Op>
__device__ T add_vectors(const T* input, std::uint64_t n) {
    constexpr unsigned width = 16 / sizeof(T);
    const Op op;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t beyond = reinterpret_cast<std::uintptr_t>(input) % 16 / sizeof(T);
    std::uint64_t head = beyond == 0 ? 0 : width - beyond;
    if (head > n) {
        head = n;
    }
    const std::uint64_t vectors = (n - head) / width;
    const auto* const aligned = reinterpret_cast<const uint4*>(input + head);

    T mine = Op::identity();
#pragma unroll 4
    for (std::uint64_t k = first; k < vectors; k += step) {
        const uint4 loaded = aligned[k];
        T held[width];
        std::memcpy(held, &loaded, sizeof held);
#pragma unroll
        for (unsigned j = 0; j < width; ++j) {
            mine = op(mine, held[j]);
        }
    }
    for (std::uint64_t k = first; k < head; k += step) {
        mine = op(mine, input[k]);
    }
    for (std::uint64_t k = head + vectors * width + first; k < n; k += step) {
        mine = op(mine, input[k]);
    }
    return mine;
}

} // namespace warpfold::ladder::reduce

// SPDX-License-Identifier: MIT
// Values of any trivially copyable type handed from lane to lane, word by word.
#pragma once

#include <cstring>
#include <type_traits>

namespace warpfold::warp {

inline constexpr unsigned lanes = 32;

// This thread's lane in its warp, of a block whose threads are counted along x first.
__device__ inline unsigned lane() {
    unsigned which;
    asm("mov.u32 %0, %%laneid;" : "=r"(which));
    return which;
}

// The value of lane `lane() + distance`; the own one where there is no such lane. The whole warp has to call it.
template <class T>
__device__ T shuffle_down(const T& value, unsigned distance) {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr unsigned words = (sizeof(T) + 3) / 4;
    unsigned held[words] = {};
    std::memcpy(held, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        held[w] = __shfl_down_sync(0xffffffffu, held[w], distance);
    }
    T other = value;
    std::memcpy(&other, held, sizeof(T));
    return other;
}

// The value of lane `from`. The whole warp has to call it.
template <class T>
__device__ T broadcast(const T& value, unsigned from) {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr unsigned words = (sizeof(T) + 3) / 4;
    unsigned held[words] = {};
    std::memcpy(held, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        held[w] = __shfl_sync(0xffffffffu, held[w], from);
    }
    T other = value;
    std::memcpy(&other, held, sizeof(T));
    return other;
}

} // namespace warpfold::warp

// SPDX-License-Identifier: MIT
// Shuffles of trivially copyable types, word by word. The whole warp calls each function.
#pragma once

#include <cstring>
#include <type_traits>

namespace warpfold {

namespace detail {

// `value` with `exchange` applied to each 32-bit word.
template <class T, class Exchange>
__device__ T exchanged(const T& value, const Exchange& exchange) {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr unsigned words = (sizeof(T) + 3) / 4;
    unsigned held[words] = {};
    std::memcpy(held, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        held[w] = exchange(held[w]);
    }
    T other = value;
    std::memcpy(&other, held, sizeof(T));
    return other;
}

} // namespace detail

namespace warp {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

// The value of the lane `distance` after this one; its own if there is none.
template <class T>
__device__ T shuffle_down(const T& value, unsigned distance) {
    return detail::exchanged(value, [=](unsigned word) { return __shfl_down_sync(all_lanes, word, distance); });
}

// The value of the lane `distance` before this one; its own if there is none.
template <class T>
__device__ T shuffle_up(const T& value, unsigned distance) {
    return detail::exchanged(value, [=](unsigned word) { return __shfl_up_sync(all_lanes, word, distance); });
}

// The value of lane `from`.
template <class T>
__device__ T shuffle(const T& value, unsigned from) {
    return detail::exchanged(value, [=](unsigned word) { return __shfl_sync(all_lanes, word, from); });
}

} // namespace warp
} // namespace warpfold

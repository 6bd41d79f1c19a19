// SPDX-License-Identifier: MIT
// Non-temporal stores: memory that is not read soon is written without being read into the cache first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warpfold::detail {

// Outputs smaller than this use ordinary stores.
inline constexpr std::size_t least_non_temporal_bytes = std::size_t{4} << 20;

// memcpy with non-temporal stores. Other threads see the data after non_temporal_fence() and a synchronisation.
inline void copy_non_temporal(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
    auto* at = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(at) % 16) % 16;
    if (bytes < head + 16) {
        std::memcpy(to, from, bytes);
        return;
    }
    std::memcpy(at, source, head);
    at += head;
    source += head;
    bytes -= head;
    for (; bytes >= 16; bytes -= 16, at += 16, source += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(source)));
    }
    std::memcpy(at, source, bytes);
#else
    std::memcpy(to, from, bytes);
#endif
}

inline void non_temporal_fence() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

} // namespace warpfold::detail

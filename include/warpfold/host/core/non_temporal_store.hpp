// SPDX-License-Identifier: MIT
// Non-temporal stores: memory that is not read soon is written without being read into the cache first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "warpfold/host/core/vectors.hpp"

#if defined(WARPFOLD_AVX2) && !defined(__CUDACC__)
#define WARPFOLD_STORES_LINES 1
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warpfold::detail {

// Outputs smaller than this use ordinary stores.
inline constexpr std::size_t least_non_temporal_bytes = std::size_t{4} << 20;

#if defined(WARPFOLD_STORES_LINES)
// Whole cache lines by non-temporal stores.
__attribute__((target("avx2"))) inline void store_lines(unsigned char* to, const unsigned char* from,
                                                        std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += 64) {
        const auto low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k)),
                   high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k + 32));
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + k), low);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + k + 32), high);
    }
}
#endif

// memcpy with non-temporal stores. Other threads see the data after non_temporal_fence() and a synchronisation.
inline void copy_non_temporal(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
    auto* at = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    const auto until = [&](std::size_t alignment) {
        return std::min(bytes, (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment);
    };
    const auto advance = [&](std::size_t done) {
        at += done;
        source += done;
        bytes -= done;
    };
    const std::size_t head = until(16);
    std::memcpy(at, source, head);
    advance(head);
    const auto store = [&](std::size_t count) {
        for (std::size_t k = 0; k + 16 <= count; k += 16) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(at + k),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + k)));
        }
        advance(count / 16 * 16);
    };
#if defined(WARPFOLD_STORES_LINES)
    if (has_avx2()) {
        store(until(64));
        const std::size_t lines = bytes / 64 * 64;
        store_lines(at, source, lines);
        advance(lines);
    }
#endif
    store(bytes);
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

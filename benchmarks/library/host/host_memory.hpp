// SPDX-License-Identifier: MIT
// Ceilings of the host benchmarks: the rates at which the cores read and copy memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/target.hpp"

namespace warpfold::bench {

inline constexpr std::uint64_t piece = std::uint64_t{1} << 18; // bytes

// Reads `bytes` bytes, a multiple of 64, and returns a value that depends on all of them.
inline std::uint64_t read_all(const host& on, const void* memory, std::uint64_t bytes) {
    std::atomic<std::uint64_t> all{0};
    detail::parallel_for(on.threads, (bytes + piece - 1) / piece, [&](std::uint64_t k) {
        const auto* words = static_cast<const std::uint64_t*>(memory) + k * (piece / 8);
        const std::uint64_t count = (bytes - k * piece < piece ? bytes - k * piece : piece) / 8;
        std::uint64_t lane[32] = {};
        for (std::uint64_t w = 0; w + 32 <= count; w += 32) {
            detail::prefetch_behind(words, w);
            for (unsigned j = 0; j < 32; ++j) {
                lane[j] ^= words[w + j];
            }
        }
        for (unsigned j = 1; j < 32; ++j) {
            lane[0] ^= lane[j];
        }
        all += lane[0];
    });
    return all;
}

inline void copy_all(const host& on, void* to, const void* from, std::uint64_t bytes) {
    detail::parallel_for(on.threads, (bytes + piece - 1) / piece, [&](std::uint64_t k) {
        std::memcpy(static_cast<char*>(to) + k * piece, static_cast<const char*>(from) + k * piece,
                    bytes - k * piece < piece ? bytes - k * piece : piece);
    });
}

} // namespace warpfold::bench

// SPDX-License-Identifier: MIT
// A thread's counts of byte values, for histograms of 8-bit samples on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "warpfold/host/histogram/byte_planes.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t histogram_chunk = std::uint64_t{1} << 16; // samples that a thread takes at a time

// Without tables if the processor has AVX-512 (byte_planes.hpp). If few pairs of neighbours are frequent, pairs are
// counted instead: one store per two samples.
class byte_counts {
public:
    explicit byte_counts(bool many) : table_(256 * copies), many_(many) {}

    void count(const unsigned char* bytes, std::uint64_t n) {
        if (many_ && n == histogram_chunk && chunks_++ % 16 == 0) {      // the next chunks are probably similar
            in_pairs_ = kinds_of_pairs(bytes) < (by_planes_ ? 50 : 470); // 470 of 3,300 equally frequent pairs
        }
        if (in_pairs_) {
            pairs_.resize(65536);
            count_pairs(bytes, n & ~std::uint64_t{7});
            bytes += n & ~std::uint64_t{7};
            n &= 7;
        } else if (by_planes_) {
            const std::uint64_t done = planes_.count(bytes, n);
            bytes += done;
            n -= done;
        }
        std::uint32_t* const table = table_.data();
        std::uint64_t k = 0;
        for (; k + 8 <= n; k += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, bytes + k, 8);
            ++table[eight & 0xff];
            ++table[256 + (eight >> 8 & 0xff)];
            ++table[512 + (eight >> 16 & 0xff)];
            ++table[768 + (eight >> 24 & 0xff)];
            ++table[1024 + (eight >> 32 & 0xff)];
            ++table[1280 + (eight >> 40 & 0xff)];
            ++table[1536 + (eight >> 48 & 0xff)];
            ++table[1792 + (eight >> 56)];
        }
        for (; k < n; ++k) {
            ++table[bytes[k]];
        }
    }

    // Calls take(value, number) for all counts and resets them.
    template <class Take>
    void empty(const Take& take) {
        planes_.empty(table_.data());
        for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
            table_[pair & 0xff] += pairs_[pair];
            table_[pair >> 8] += pairs_[pair];
        }
        for (unsigned value = 0; value < 256; ++value) {
            std::uint32_t all = 0;
            for (unsigned copy = 0; copy < copies; ++copy) {
                all += table_[copy * 256 + value];
            }
            take(value, all);
        }
        std::fill(table_.begin(), table_.end(), 0u);
        std::fill(pairs_.begin(), pairs_.end(), 0u);
    }

private:
    static constexpr unsigned copies = 8;

    // The number of different pairs among 512 of a chunk. If it is small, their counters stay in the L1 cache.
    static unsigned kinds_of_pairs(const unsigned char* bytes) {
        constexpr unsigned drawn = 512, apart = histogram_chunk / drawn;
        std::uint64_t seen[1024] = {};
        unsigned kinds = 0;
        for (unsigned k = 0; k < drawn; ++k) {
            const unsigned pair = bytes[k * apart] + 256u * bytes[k * apart + 1];
            const std::uint64_t bit = std::uint64_t{1} << pair % 64;
            kinds += (seen[pair / 64] & bit) == 0 ? 1 : 0;
            seen[pair / 64] |= bit;
        }
        return kinds;
    }
    void count_pairs(const unsigned char* bytes, std::uint64_t n) {
        std::uint32_t* const table = pairs_.data();
        for (std::uint64_t k = 0; k < n; k += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, bytes + k, 8);
            ++table[eight & 0xffff];
            ++table[eight >> 16 & 0xffff];
            ++table[eight >> 32 & 0xffff];
            ++table[eight >> 48];
        }
    }

    std::vector<std::uint32_t> table_;
    std::vector<std::uint32_t> pairs_;
    byte_planes planes_;
    const bool many_, by_planes_ = byte_planes::can();
    bool in_pairs_ = false;
    std::uint64_t chunks_ = 0;
};

} // namespace warpfold::detail

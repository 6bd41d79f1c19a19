// SPDX-License-Identifier: MIT
// The lines of one set of a cache: the least recently used one goes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softgpu::predict {

class lru_set {
public:
    static constexpr std::size_t ways = 16;

    lru_set() noexcept { lines_.fill(nothing); }

    // Its way, or `ways`.
    [[nodiscard]] std::size_t way_of(std::uint64_t line) const noexcept {
        constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
        for (std::size_t half = 0; half < 2; ++half) {
            std::uint64_t tags = 0;
            std::memcpy(&tags, tags_.data() + 8 * half, sizeof tags);
            tags ^= tag_of(line) * ones;
            // The lowest byte that is 0 is among them, and all others that are.
            for (std::uint64_t same = (tags - ones) & ~tags & ones << 7; same != 0; same &= same - 1) {
                const std::size_t way = 8 * half + static_cast<std::size_t>(std::countr_zero(same)) / 8;
                if (lines_[way] == line) {
                    return way;
                }
            }
        }
        return ways;
    }
    [[nodiscard]] bool is_last(std::uint64_t line) const noexcept { return lines_[last()] == line; }
    [[nodiscard]] std::size_t last() const noexcept { return order_ >> 60; } // the most recently used way
    [[nodiscard]] std::size_t oldest() const noexcept { return order_ & 15; }
    // The least recently used way of a mask that has one at least.
    [[nodiscard]] std::size_t oldest_of(unsigned mask) const noexcept {
        std::uint64_t order = order_;
        while ((mask >> (order & 15) & 1) == 0) {
            order >>= 4;
        }
        return order & 15;
    }
    void put(std::size_t way, std::uint64_t line) noexcept {
        lines_[way] = line;
        tags_[way] = tag_of(line);
    }
    void use(std::size_t way) noexcept {
        constexpr std::uint64_t ones = 0x1111'1111'1111'1111;
        const std::uint64_t differs = order_ ^ way * ones; // 0 in its four bits alone
        const int at = std::countr_zero((differs - ones) & ~differs & ones << 3) & 60;
        const std::uint64_t below = (std::uint64_t{1} << at) - 1;
        order_ = (order_ & below) | (order_ >> 4 & ~below) | way << 60;
    }

    // Which of so many sets has a line: a hash, as in hardware, so that strides of powers of two do not meet in one set.
    [[nodiscard]] static std::size_t place_of(std::uint64_t line, std::size_t sets) noexcept {
        const std::uint64_t mixed = (line ^ line >> 17) * 0x9E3779B97F4A7C15ull >> 32;
        return mixed * sets >> 32;
    }

private:
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    static constexpr std::uint8_t tag_of(std::uint64_t line) noexcept {
        return static_cast<std::uint8_t>(line ^ line >> 8 ^ line >> 16 ^ line >> 32);
    }

    std::array<std::uint8_t, ways> tags_{};
    std::uint64_t order_ = 0xFEDC'BA98'7654'3210; // ways, four bits each, the least recently used one lowest
    std::array<std::uint64_t, ways> lines_;
};

} // namespace softgpu::predict

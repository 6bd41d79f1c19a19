// SPDX-License-Identifier: MIT
// A hash table from names to their indices in a list, built at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace softgpu::ptx {

// Open addressing with linear probing; `slots` is a power of two above twice `count`. Names are distinct.
template <std::size_t count, std::size_t slots>
class name_table {
    static_assert((slots & (slots - 1)) == 0 && slots >= 2 * count);

public:
    static constexpr std::uint16_t absent = 0xFFFF;

    constexpr explicit name_table(const std::string_view (&names)[count]) : names_{}, places_{} {
        places_.fill(absent);
        for (std::size_t i = 0; i < count; ++i) {
            names_[i] = names[i];
            std::size_t slot = hash(names[i]) & (slots - 1);
            while (places_[slot] != absent) {
                duplicate_ = duplicate_ || names_[places_[slot]] == names[i];
                slot = (slot + 1) & (slots - 1);
            }
            places_[slot] = static_cast<std::uint16_t>(i);
        }
    }

    [[nodiscard]] constexpr bool has_duplicate() const noexcept { return duplicate_; }

    [[nodiscard]] constexpr std::uint16_t find(std::string_view name) const noexcept {
        std::size_t slot = hash(name) & (slots - 1);
        while (places_[slot] != absent && names_[places_[slot]] != name) {
            slot = (slot + 1) & (slots - 1);
        }
        return places_[slot];
    }

private:
    static constexpr std::uint32_t hash(std::string_view name) noexcept {
        std::uint32_t h = 2166136261u; // FNV-1a
        for (const char c : name) {
            h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
        }
        return h ^ (h >> 15);
    }

    std::array<std::string_view, count> names_;
    std::array<std::uint16_t, slots> places_;
    bool duplicate_ = false;
};

} // namespace softgpu::ptx

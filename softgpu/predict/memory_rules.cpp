// SPDX-License-Identifier: MIT
#include "softgpu/predict/memory_rules.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace softgpu::predict {
namespace {

constexpr unsigned half = 16;
constexpr std::uint64_t line_bytes = 128;

constexpr unsigned sector_at(std::uint64_t address) { return 1u << address / 32 % 4; }

template <class F>
void each_lane(std::uint32_t mask, F tell) {
    for (; mask != 0; mask &= mask - 1) {
        tell(static_cast<unsigned>(std::countr_zero(mask)));
    }
}

// Lanes that are not active do not matter.
void add_in_order(transactions& to, lane_addresses at, std::uint32_t mask, unsigned bytes) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t begin = at[first] - std::uint64_t{first % half} * bytes;
    bool in_order = bytes >= 4 && begin % std::min<std::uint64_t>(half * bytes, line_bytes) == 0;
    each_lane(mask, [&](unsigned l) { in_order = in_order && at[l] == begin + std::uint64_t{l % half} * bytes; });
    if (!in_order) {
        each_lane(mask, [&](unsigned l) { to.add(at[l] / line_bytes, sector_at(at[l])); });
    } else if (bytes == 4) {
        to.add(begin / line_bytes, begin % line_bytes == 0 ? 0b0011 : 0b1100);
    } else {
        for (std::uint64_t line = begin / line_bytes; line * line_bytes < begin + std::uint64_t{half} * bytes; ++line) {
            to.add(line, 0b1111);
        }
    }
}

// Segments of 128 bytes shrink to the half that is used, and this one to its half. Those of 2-byte words have 64 bytes, those
// of 1-byte words 32.
void add_segments(transactions& to, lane_addresses at, std::uint32_t mask, unsigned bytes) {
    while (mask != 0) {
        const std::uint64_t line = at[static_cast<std::size_t>(std::countr_zero(mask))] / line_bytes;
        unsigned sectors = 0;
        each_lane(mask, [&](unsigned l) {
            if (at[l] / line_bytes == line) {
                sectors |= sector_at(at[l]);
                mask &= ~(1u << l);
            }
        });
        const bool whole = bytes >= 4 && (sectors & 0b0011) != 0 && (sectors & 0b1100) != 0;
        to.add(line, whole ? 0b1111 : sectors);
    }
}

// The most different rows that a bank has; `places`: row × banks + bank.
unsigned most_rows(std::span<std::uint64_t> places, unsigned banks) {
    std::sort(places.begin(), places.end());
    const auto end = std::unique(places.begin(), places.end());
    std::array<unsigned, 32> rows{};
    for (auto p = places.begin(); p != end; ++p) {
        ++rows.at(*p % banks);
    }
    return *std::max_element(rows.begin(), rows.end());
}

// Each turn serves all lanes of one word, and a lane of each other bank. Which word, the guide leaves open: here the one that
// most lanes wait for.
unsigned turns_with_one_broadcast(std::span<const std::uint64_t> words) {
    std::array<std::uint64_t, half> left{};
    std::copy(words.begin(), words.end(), left.begin());
    auto end = left.begin() + static_cast<std::ptrdiff_t>(words.size());
    unsigned turns = 0;
    for (; end != left.begin(); ++turns) {
        const auto waiting_for = [&](std::uint64_t word) { return std::count(left.begin(), end, word); };
        const std::uint64_t word = *std::max_element(
            left.begin(), end, [&](std::uint64_t a, std::uint64_t b) { return waiting_for(a) < waiting_for(b); });
        std::uint32_t served = 1u << word % half; // banks
        end = std::remove_if(left.begin(), end, [&](std::uint64_t other) {
            const std::uint32_t bank = 1u << other % half;
            const bool goes = other == word || (served & bank) == 0;
            served |= bank;
            return goes;
        });
    }
    return turns;
}

// An access of more than 4 bytes is one for each of its words. Lanes that store to one word are one store.
shared_turns turns_of_half_warp(lane_addresses at, std::uint32_t mask, unsigned bytes, machine::touch how) {
    shared_turns sum;
    for (unsigned word = 0; word < std::max(bytes / 4, 1u); ++word) {
        std::array<std::uint64_t, half> words{};
        std::size_t n = 0;
        each_lane(mask, [&](unsigned l) { words.at(n++) = at[l] / 4 + word; });
        const std::span<std::uint64_t> all(words.data(), n);
        sum.wavefronts += how == machine::touch::store ? most_rows(all, half) : turns_with_one_broadcast(all);
    }
    sum.reissued = static_cast<double>(sum.wavefronts - 1) / 2;
    return sum;
}

} // namespace

memory_rules rules_of(const card& c) {
    return c.compute_capability < 12                                 ? memory_rules::half_warps_in_order
           : c.compute_capability < 20                               ? memory_rules::half_warps_any_order
           : c.compute_capability >= 30 && c.compute_capability < 40 ? memory_rules::wide_banks
                                                                     : memory_rules::counters;
}

transactions transactions_of(memory_rules r, lane_addresses at, std::uint32_t mask, unsigned bytes) {
    transactions all;
    for (const std::uint32_t own : {mask & 0xFFFFu, mask & 0xFFFF'0000u}) {
        if (own != 0) {
            (r == memory_rules::half_warps_in_order ? add_in_order : add_segments)(all, at, own, bytes);
        }
    }
    return all;
}

// Of 3.x in its mode of 4-byte words: a bank gives two words that are 32 apart in 64 aligned ones.
shared_turns turns_of(memory_rules r, lane_addresses at, std::uint32_t mask, unsigned bytes, machine::touch how) {
    shared_turns sum;
    if (has_half_warps(r)) {
        for (const std::uint32_t own : {mask & 0xFFFFu, mask & 0xFFFF'0000u}) {
            if (own != 0) {
                sum += turns_of_half_warp(at, own, bytes, how);
            }
        }
    } else if (mask != 0) {
        std::array<std::uint64_t, 256> places{}; // of 32 bytes a lane
        std::size_t n = 0;
        each_lane(mask, [&](unsigned l) {
            for (unsigned word = 0; word < std::max(bytes / 4, 1u); ++word) {
                const std::uint64_t here = at[l] / 4 + word;
                places.at(n++) = here / 64 * 32 + here % 32;
            }
        });
        sum.wavefronts = most_rows({places.data(), n}, 32);
        sum.reissued = static_cast<double>(sum.wavefronts - 1);
    }
    return sum;
}

} // namespace softgpu::predict

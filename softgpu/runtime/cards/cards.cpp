// SPDX-License-Identifier: MIT
// The table of cards. H100: read from one, driver 580; the others: NVIDIA's data sheets and the table of compute
// capabilities in the CUDA programming guide. RTX 5090: memory and clocks as deviceQuery prints them
// (github.com/NVIDIA/nccl/issues/1637), the boost clock of the data sheet; persisting L2 in the ratio of the RTX 4090.
#include "softgpu/runtime/cards/cards.hpp"

#include <algorithm>
#include <array>

namespace softgpu::runtime {
namespace {

constexpr texture_limits since_turing{.texture_1d = 131072,
                                      .texture_2d = {131072, 65536},
                                      .texture_3d = 16384,
                                      .texture_3d_alternate = {8192, 8192, 32768},
                                      .layered = 32768,
                                      .gather = 32768,
                                      .cubemap = 32768,
                                      .mipmap = 32768,
                                      .linear_1d = 268435456,
                                      .linear_2d = {131072, 65000, 2097120},
                                      .surface_1d = 32768,
                                      .surface_2d = {131072, 65536},
                                      .surface_3d = {16384, 16384, 16384},
                                      .surface_layered = {32768, 32768}};

constexpr texture_limits kepler{.texture_1d = 65536,
                                .texture_2d = {65536, 65536},
                                .texture_3d = 4096,
                                .texture_3d_alternate = {2048, 2048, 16384},
                                .layered = 16384,
                                .gather = 16384,
                                .cubemap = 16384,
                                .mipmap = 16384,
                                .linear_1d = 134217728,
                                .linear_2d = {65000, 65000, 1048544},
                                .surface_1d = 65536,
                                .surface_2d = {65536, 32768},
                                .surface_3d = {65536, 32768, 2048},
                                .surface_layered = {65536, 32768}};

constexpr std::array<card, 6> cards{{
    {.key = "H100",
     .name = "NVIDIA H100 80GB HBM3",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .clock_khz = 1980000,
     .memory_clock_khz = 2619000,
     .memory_bus_bits = 5120,
     .memory_bytes = 85017493504,
     .l2_bytes = 50 << 20,
     .persisting_l2_bytes = 32768000,
     .access_window_bytes = 128 << 20,
     .shared_per_block_optin = 227 << 10,
     .shared_per_multiprocessor = 228 << 10,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .async_engines = 3,
     .single_to_double_ratio = 2,
     .limits = since_turing},
    {.key = "A100",
     .name = "NVIDIA A100-SXM4-40GB",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .clock_khz = 1410000,
     .memory_clock_khz = 1215000,
     .memory_bus_bits = 5120,
     .memory_bytes = 42505273344,
     .l2_bytes = 40 << 20,
     .persisting_l2_bytes = 30 << 20,
     .access_window_bytes = 134213632,
     .shared_per_block_optin = 163 << 10,
     .shared_per_multiprocessor = 164 << 10,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .async_engines = 3,
     .single_to_double_ratio = 2,
     .limits = since_turing},
    {.key = "RTX5090",
     .name = "NVIDIA GeForce RTX 5090",
     .major = 12,
     .minor = 0,
     .multiprocessors = 170,
     .clock_khz = 2407000,
     .memory_clock_khz = 14001000,
     .memory_bus_bits = 512,
     .memory_bytes = 33680457728,
     .l2_bytes = 96 << 20,
     .persisting_l2_bytes = 66 << 20,
     .access_window_bytes = 134213632,
     .shared_per_block_optin = 99 << 10,
     .shared_per_multiprocessor = 100 << 10,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 24,
     .async_engines = 2,
     .single_to_double_ratio = 64,
     .ecc = 0,
     .limits = since_turing},
    {.key = "RTX4090",
     .name = "NVIDIA GeForce RTX 4090",
     .major = 8,
     .minor = 9,
     .multiprocessors = 128,
     .clock_khz = 2520000,
     .memory_clock_khz = 10501000,
     .memory_bus_bits = 384,
     .memory_bytes = 25393692672,
     .l2_bytes = 72 << 20,
     .persisting_l2_bytes = 51904512,
     .access_window_bytes = 134213632,
     .shared_per_block_optin = 99 << 10,
     .shared_per_multiprocessor = 100 << 10,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 24,
     .async_engines = 2,
     .single_to_double_ratio = 64,
     .ecc = 0,
     .limits = since_turing},
    {.key = "T4",
     .name = "Tesla T4",
     .major = 7,
     .minor = 5,
     .multiprocessors = 40,
     .clock_khz = 1590000,
     .memory_clock_khz = 5001000,
     .memory_bus_bits = 256,
     .memory_bytes = 15843721216,
     .l2_bytes = 4 << 20,
     .shared_per_block_optin = 64 << 10,
     .shared_per_multiprocessor = 64 << 10,
     .reserved_shared_per_block = 0,
     .shared_granularity = 256,
     .threads_per_multiprocessor = 1024,
     .blocks_per_multiprocessor = 16,
     .async_engines = 3,
     .single_to_double_ratio = 32,
     .limits = since_turing},
    {.key = "K40m",
     .name = "Tesla K40m",
     .major = 3,
     .minor = 5,
     .multiprocessors = 15,
     .clock_khz = 745000,
     .memory_clock_khz = 3004000,
     .memory_bus_bits = 384,
     .memory_bytes = 11996954624,
     .l2_bytes = 1536 << 10,
     .shared_per_block_optin = 48 << 10,
     .shared_per_multiprocessor = 48 << 10,
     .reserved_shared_per_block = 0,
     .shared_granularity = 256,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 16,
     .async_engines = 2,
     .single_to_double_ratio = 3,
     .limits = kepler},
}};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

} // namespace

std::span<const card> all_cards() noexcept { return cards; }

const card* find_card(std::string_view key) noexcept {
    const auto same = [&](const card& c) {
        return std::ranges::equal(c.key, key, [](char a, char b) { return lower(a) == lower(b); });
    };
    const auto found = std::ranges::find_if(cards, same);
    return found == cards.end() ? nullptr : &*found;
}

bool device_attribute(const card& c, int number, int& value) noexcept {
    switch (number) {
#define SOFTGPU_ATTRIBUTE(code, name, expression)                                                                      \
    case code:                                                                                                         \
        value = static_cast<int>(expression);                                                                          \
        return true;
#include "softgpu/runtime/abi/device_attributes.def"
#undef SOFTGPU_ATTRIBUTE
    default: break;
    }
    // CUDA's reserved numbers give 0 and no error.
    value = 0;
    return number >= 1 && number <= 147;
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The real cards that the software GPU can pass itself off as: published facts, no timing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace softgpu::runtime {

// Largest textures and surfaces, in elements.
struct texture_limits {
    int texture_1d;
    int texture_2d[2];
    int texture_3d; // each side
    int texture_3d_alternate[3];
    int layered; // width and height
    int gather;
    int cubemap;
    int mipmap;
    int linear_1d;
    int linear_2d[3]; // width, height, bytes of pitch
    int surface_1d;
    int surface_2d[2];
    int surface_3d[3];
    int surface_layered[2];
};

struct card {
    std::string_view key;  // what SOFTGPU_DEVICE says
    std::string_view name; // what cudaGetDeviceProperties says
    int major;
    int minor;
    int multiprocessors;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    std::uint64_t memory_bytes;
    int l2_bytes;
    int persisting_l2_bytes;
    int access_window_bytes;
    int shared_per_block;
    int shared_per_block_optin;
    int shared_per_multiprocessor;
    int reserved_shared_per_block; // by the system, in every block
    int shared_granularity;        // shared memory of a block is a multiple of this
    int registers_per_block;
    int registers_per_multiprocessor;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int async_engines;
    int single_to_double_ratio;
    int ecc;
    texture_limits limits;

    [[nodiscard]] unsigned compute_capability() const noexcept { return static_cast<unsigned>(10 * major + minor); }
    // The newest PTX that kernels may be compiled for. A K40m runs compute_75 too, which no real one would: compilers
    // today emit nothing older.
    [[nodiscard]] unsigned newest_ptx() const noexcept { return compute_capability() < 75 ? 75 : compute_capability(); }
};

[[nodiscard]] std::span<const card> all_cards() noexcept;
// nullptr where there is none of this key; letters' case does not matter.
[[nodiscard]] const card* find_card(std::string_view key) noexcept;
// What cudaDeviceGetAttribute answers; false where there is no such attribute.
[[nodiscard]] bool device_attribute(const card& c, int number, int& value) noexcept;

} // namespace softgpu::runtime

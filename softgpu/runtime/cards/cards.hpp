// SPDX-License-Identifier: MIT
// The real cards that the software GPU can present itself as: published facts, no timing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace softgpu::runtime {

// The largest textures and surfaces, in elements.
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

// With defaults where most cards have the same.
struct card {
    std::string_view key;  // value of SOFTGPU_DEVICE
    std::string_view name; // of cudaGetDeviceProperties
    int major;
    int minor;
    int multiprocessors;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    std::uint64_t memory_bytes;
    int l2_bytes;
    int persisting_l2_bytes = 0;
    int access_window_bytes = 0;
    int shared_per_block = 48 << 10;
    int shared_per_block_optin;
    int shared_per_multiprocessor;
    int reserved_shared_per_block = 1 << 10; // by the system, in every block
    int shared_granularity = 128;            // shared memory of a block is a multiple of this
    int registers_per_block = 65536;
    int registers_per_multiprocessor = 65536;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int async_engines;
    int single_to_double_ratio;
    int ecc = 1;
    texture_limits limits;

    [[nodiscard]] unsigned compute_capability() const noexcept { return static_cast<unsigned>(10 * major + minor); }
    // The newest PTX that the card runs: 75 for compute_75. A K40m runs compute_75 too, unlike a real one, because today's
    // compilers emit nothing older.
    [[nodiscard]] unsigned newest_ptx() const noexcept { return compute_capability() < 75 ? 75 : compute_capability(); }
};

[[nodiscard]] std::span<const card> all_cards() noexcept;
// nullptr for an unknown key. The case of letters does not matter.
[[nodiscard]] const card* find_card(std::string_view key) noexcept;
// The value of cudaDeviceGetAttribute. Returns false for an unknown attribute.
[[nodiscard]] bool device_attribute(const card& c, int number, int& value) noexcept;

} // namespace softgpu::runtime

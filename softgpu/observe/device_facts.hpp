// SPDX-License-Identifier: MIT
// The facts of the device that files of launches and profiles name.
#pragma once

#include <cstdint>
#include <string>

namespace softgpu::observe {

struct device_facts {
    std::string name;
    std::string key; // "H100"
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    int clock_khz = 0;
    int memory_clock_khz = 0;
    int memory_bus_bits = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t l2_bytes = 0;
};

} // namespace softgpu::observe

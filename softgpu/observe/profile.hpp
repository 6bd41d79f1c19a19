// SPDX-License-Identifier: MIT
// What each PTX instruction of a kernel did, summed over its launches, and where it comes from in the source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/observe/counters.hpp"

namespace softgpu::observe {

// A line of the source, from .loc; line 0: the compiler has named none.
struct source_place {
    std::string file; // as the compiler wrote it
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string function; // demangled, of code that was inlined; else empty
};

struct profile_point {
    std::string function;         // demangled: the kernel, or a function that it calls
    std::string ptx;              // the instruction
    std::uint32_t ptx_line = 0;   // of the module
    std::vector<source_place> at; // the place itself, then where it was inlined, and so on outwards; may be empty
};

struct point_counts {
    // warp_instructions: warps that came to the instruction; thread_instructions: lanes active in them.
    counters counts;
    std::uint64_t guarded_off = 0; // of these lanes, those that its guard (@%p) kept from executing it

    void add(const point_counts& other) noexcept {
        counts.add(other.counts);
        guarded_off += other.guarded_off;
    }
};

struct kernel_profile {
    std::string kernel; // demangled
    std::string symbol;
    std::uint64_t launches = 0;
    std::vector<profile_point> points;
    std::vector<point_counts> counts; // of each point
};

} // namespace softgpu::observe

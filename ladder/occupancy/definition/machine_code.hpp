// SPDX-License-Identifier: MIT
// What ptxas makes of loads and stores: a small PTX program with a kernel for each kind, and the instructions of memory that
// are in its cubin, by name. Encodings as nvdisasm prints them for sm_75 to sm_90: 128 bits each, the low nine of them the
// operation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::ladder::occupancy {

struct instruction {
    std::uint64_t low = 0, high = 0;

    // Without what belongs to scheduling: barriers and stalls.
    [[nodiscard]] bool operator==(const instruction& other) const {
        constexpr std::uint64_t meaning = (std::uint64_t{1} << 41) - 1;
        return low == other.low && (high & meaning) == (other.high & meaning);
    }
};

// By kernel, in order. Throws std::runtime_error where this is no cubin.
[[nodiscard]] std::map<std::string, std::vector<instruction>> machine_code(std::string_view cubin);

// "LDG.E.STRONG.GPU" of sm_80 to sm_90, "LDG" elsewhere; empty for what does not touch memory.
[[nodiscard]] std::string name_of(const instruction& one, unsigned target);

// A kernel for each of these: "ld.global" and its operators, other state spaces, stores, atomics, fences.
struct memory_kernel {
    const char* name;
    const char* body; // PTX; %o where to store to, %g where to load from, %i a number
};
[[nodiscard]] const std::vector<memory_kernel>& memory_kernels();
[[nodiscard]] const std::string& memory_program(); // PTX of all of them

} // namespace warpfold::ladder::occupancy

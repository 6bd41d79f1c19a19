// SPDX-License-Identifier: MIT
// Functions that kernels call, and the calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// A function that the program calls and the driver provides (printf, malloc), in C++. Runs for the active lanes of the
// warp. false: a fault was raised.
using builtin = bool (*)(const instruction* i, warp* w, const call_site& site);

// A function that has an address: what device_memory::code_at() gives.
struct function_entry {
    std::string name;
    ptx::function* source = nullptr; // with a body; nullptr: a builtin, or a function that the program lacks
    module::implementation* home = nullptr;
    builtin run = nullptr;
    memory::address address = 0;
};

// A parameter or a result of a function: 32 lanes of `stride` bytes each, one after the other.
struct parameter_area {
    place at = nowhere;
    std::uint32_t stride = 0;
    std::uint32_t local = not_in_memory; // of a function's parameter whose address is taken: where in its local memory

    static constexpr std::uint32_t not_in_memory = 0xFFFFFFFFu;
};

struct call_site {
    const function_entry* to = nullptr; // nullptr: `target` has each lane's address of a function
    place target = nowhere;
    std::vector<parameter_area> arguments; // in the caller's frame
    std::vector<parameter_area> results;
};

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// A load as ptxas makes it of several: see wide_loads.hpp.
#pragma once

#include <cstdint>

namespace softgpu::machine {

// Of one instruction.
struct wide_load {
    std::uint32_t first = 0; // the load that this one is part of, by index into function::instructions; itself: of none
    unsigned bytes = 0;      // of a first one, that are loaded; 0: it stays as it is
    unsigned loads = 1;      // that make it
};

} // namespace softgpu::machine

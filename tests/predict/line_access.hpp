// SPDX-License-Identifier: MIT
// Accesses of warps, as the tests of caches and slices make them.
#pragma once

#include <cstdint>

#include "softgpu/machine/trace.hpp"

namespace softgpu::predict {

// A store fills the line's words.
inline machine::line_access access(std::uint32_t warp, std::uint64_t line, unsigned sectors, unsigned passes,
                                   machine::touch how) {
    return {.line = line, .warp = warp, .words = ~0u, .sectors = sectors, .passes = passes, .how = how};
}

} // namespace softgpu::predict

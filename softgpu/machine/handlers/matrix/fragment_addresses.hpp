// SPDX-License-Identifier: MIT
// Where in memory the elements of a wmma fragment are.
#pragma once

#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// What the instruction's registers say, by lane. A load may write these registers: it reads them first.
struct fragment_base {
    alignas(64) std::uint64_t at[lanes];
    std::uint64_t apart[lanes]; // elements from one row, or column, to the next
};
SOFTGPU_INLINE void find_fragment(fragment_base& base, const instruction* i, warp* w, const fragment_plan& p) {
    addresses(base.at, i, w);
    const std::uint32_t* const stride = i->b == nowhere ? nullptr : read<std::uint32_t>(w, i->b);
    for (unsigned l = 0; l < lanes; ++l) {
        base.apart[l] = stride != nullptr ? stride[l] : p.default_stride;
    }
}

// Of element `part` of register `r`, by lane; of the whole register where its elements lie side by side.
SOFTGPU_INLINE void fragment_addresses(std::uint64_t* at, const fragment_base& base, const fragment_plan& p, unsigned r,
                                       unsigned part) {
    for (unsigned l = 0; l < lanes; ++l) {
        at[l] = base.at[l] + p.offset(r, part, l, base.apart[l]);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET

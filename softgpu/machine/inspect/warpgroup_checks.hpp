// SPDX-License-Identifier: MIT
// Checks of wgmma. From wgmma.mma_async until its warp has waited, writing what it reads or touching its registers is a race.
// What it reads from shared memory by descriptors must have passed fence.proxy.async, unless an asynchronous copy wrote it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/code/warpgroup_check.hpp"

namespace softgpu::machine {

// Of a block.
struct product_checks {
    struct product {
        const ptx::function* function = nullptr;
        std::uint32_t source = 0;
        std::uint32_t group = 0;          // of its warp
        std::vector<std::uint32_t> units; // 16 bytes of shared memory each, that it reads
    };
    std::array<std::vector<product>, 32> by_warp; // under way
    std::array<std::uint32_t, 32> groups{};       // committed
    struct readers {
        std::uint16_t products = 0;
        bool several_warps = false;
    };
    std::vector<readers> of_unit;
};

// Handler, before or behind wgmma (see warpgroup_check). Of a product: a, b, immediate and the low bits of `more` are the
// product's; of a wait, immediate: groups that may still be under way; of touch: program_code::touches; of unfenced: the
// register.
const instruction* check_warpgroup(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine

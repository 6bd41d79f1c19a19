// SPDX-License-Identifier: MIT
// The products of wgmma that a block's warps have started, and what they read from shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "softgpu/check/order/clock.hpp"
#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/state/block.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

inline constexpr std::uint32_t product_unit = 16; // bytes of shared memory that are tracked together

// Of a block.
struct product_checks {
    struct product {
        const ptx::function* function = nullptr;
        std::uint32_t source = 0;
        std::uint32_t group = 0;          // of its warp
        std::uint32_t number = 0;         // of its warp's products, from 1; the same in all warps of the warpgroup
        std::vector<std::uint32_t> units; // 16 bytes of shared memory each, that the warp reads
        std::vector<std::uint32_t> other_units; // that the warpgroup's other warps read
    };
    std::array<std::vector<product>, 32> by_warp; // under way
    std::array<std::uint32_t, 32> groups{};       // committed
    std::array<std::uint32_t, 32> started{};      // products
    // The last product of a warpgroup that reads a unit.
    struct reader {
        std::uint32_t number = 0;                            // 0: none
        std::array<std::uint64_t, warpgroup_warps> waited{}; // by warp: when it did, in the block's time; 0: not yet
    };
    std::array<std::vector<reader>, 32 / warpgroup_warps> by_group; // by unit
};

// The reads of products from a word of shared memory, for who is about to write there.
struct product_reads {
    bool under_way = false;             // no warp of a warpgroup has waited
    std::optional<check::event> waited; // a wait that is not in order with the write
};
// `is_ordered`: whether an event, in the block's time, is known to who writes.
[[nodiscard]] product_reads unordered_products(const block& b, std::uint64_t at,
                                               const std::function<bool(const check::event&)>& is_ordered);
// Whether the stamp of a read of the block's shared memory is that of a product.
[[nodiscard]] bool is_product(const block& b, check::stamp read);

} // namespace softgpu::machine

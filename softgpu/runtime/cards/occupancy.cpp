// SPDX-License-Identifier: MIT
#include "softgpu/runtime/cards/occupancy.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/memory/alignment.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint64_t warp = 32;
constexpr std::uint64_t register_granularity = 256; // per warp
constexpr std::uint64_t partitions = 4;             // of a multiprocessor's registers
constexpr std::uint32_t most_registers = 255;

std::uint64_t unsigned_of(int value) { return static_cast<std::uint64_t>(value); }

} // namespace

std::uint32_t max_dynamic_shared(const card& device, const machine::kernel_facts& facts, int attribute) noexcept {
    const auto limit = static_cast<std::uint32_t>(device.shared_per_block);
    return attribute < 0 ? limit - std::min(limit, facts.static_shared_bytes) : static_cast<std::uint32_t>(attribute);
}

std::uint32_t registers_of(const card& device, const machine::kernel_facts& facts) noexcept {
    std::uint32_t most = facts.maxnreg == 0 ? most_registers : std::min(facts.maxnreg, most_registers);
    if (facts.maxntid != 0) {
        const std::uint64_t warps = (facts.maxntid + warp - 1) / warp;
        const std::uint64_t together =
            std::min(unsigned_of(device.registers_per_block),
                     unsigned_of(device.registers_per_multiprocessor) / std::max(facts.least_blocks, 1u));
        const std::uint64_t each = together / (warps * warp);
        most = std::min(most, static_cast<std::uint32_t>(each / 8 * 8));
    }
    return std::clamp(facts.registers, 1u, std::max(most, 1u));
}

std::uint32_t blocks_per_multiprocessor(const card& device, const machine::kernel_facts& facts, std::uint64_t threads,
                                        std::uint64_t dynamic_shared) noexcept {
    if (threads == 0 || threads > 1024) {
        return 0;
    }
    const std::uint64_t warps = (threads + warp - 1) / warp;
    std::uint64_t blocks = std::min(unsigned_of(device.threads_per_multiprocessor) / warp / warps,
                                    unsigned_of(device.blocks_per_multiprocessor));
    const std::uint64_t registers_per_warp = round_up(warp * registers_of(device, facts), register_granularity);
    const std::uint64_t warps_by_registers =
        unsigned_of(device.registers_per_multiprocessor) / partitions / registers_per_warp * partitions;
    // The registers are an estimate. It may lower the occupancy, but it must not refuse a launch.
    blocks = std::min(blocks, std::max<std::uint64_t>(warps_by_registers / warps, 1));
    const std::uint64_t shared =
        round_up(facts.static_shared_bytes + dynamic_shared + unsigned_of(device.reserved_shared_per_block),
                 unsigned_of(device.shared_granularity));
    if (shared != 0) {
        blocks = std::min(blocks, unsigned_of(device.shared_per_multiprocessor) / shared);
    }
    return static_cast<std::uint32_t>(blocks);
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The adversarial schedule: a seed draws what the programming model leaves open. Converged lanes diverge before accesses to
// memory and other effects that lanes can see; splits, warps and blocks are switched at any point. It is reproducible: one
// thread of the host runs such a launch, with one generator.
#pragma once

#include <cstdint>

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

class adversary {
public:
    explicit adversary(std::uint64_t seed);

    [[nodiscard]] std::uint64_t random() noexcept {
        state_ ^= state_ << 13; // xorshift64: Marsaglia, "Xorshift RNGs", 2003
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545F4914F6CDD1Dull;
    }
    [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
        return static_cast<std::uint32_t>((random() >> 32) * n >> 32);
    }
    [[nodiscard]] bool one_in(std::uint32_t n) noexcept { return n != 0 && below(n) == 0; } // never for 0

    // Each happens once in so many opportunities, on average; the seed draws these too.
    std::uint32_t part = 0;   // converged lanes diverge
    std::uint32_t turn = 0;   // the turn goes to another split of the warp
    std::uint32_t stop = 0;   // the turn goes to another warp
    std::uint32_t let_go = 0; // lanes that wait at a join go on without the others
    std::uint32_t rotate = 0; // after a warp's turn, the turn goes to another block
    std::uint32_t admit = 0;  // then also: one more block starts

    // While it is calm, the schedule is the ordinary one.
    void calm(bool is) noexcept { calm_ = is; }
    [[nodiscard]] bool is_calm() const noexcept { return calm_; }

    // The number of the block that starts as the nth: blocks are permuted within windows of `window` blocks.
    [[nodiscard]] std::uint64_t block_at(std::uint64_t nth, std::uint64_t blocks, std::uint64_t window) const;

private:
    std::uint64_t seed_;
    std::uint64_t state_;
    bool calm_ = false;
};

// The pseudo-instruction before each effect that other lanes can see: the adversary may switch there.
const instruction* schedule_point(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine

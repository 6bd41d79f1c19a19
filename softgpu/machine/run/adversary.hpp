// SPDX-License-Identifier: MIT
// The adversarial schedule: of all that the language leaves open, what a seed draws. Converged lanes part before any access
// to memory and before whatever other lanes can notice; splits, warps and blocks take turns that begin and end anywhere. It is
// reproducible: one thread of the host runs such a launch, with one generator.
#pragma once

#include <cstdint>

#include "softgpu/machine/state/launch_state.hpp"

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

    // How often, on average, at a place where it may be: each seed has its own temper.
    std::uint32_t part = 0;   // converged lanes part
    std::uint32_t turn = 0;   // the turn goes to another split of the warp
    std::uint32_t stop = 0;   // the turn goes to another warp
    std::uint32_t let_go = 0; // lanes that wait for others to meet go on without them
    std::uint32_t rotate = 0; // after a warp's turn, the turn goes to another block
    std::uint32_t admit = 0;  // with it, a block more starts

    // While it is calm it changes nothing.
    void calm(bool is) noexcept { calm_ = is; }
    [[nodiscard]] bool is_calm() const noexcept { return calm_; }

    // The number of the block that starts as the nth: blocks change places within windows of so many.
    [[nodiscard]] std::uint64_t block_at(std::uint64_t nth, std::uint64_t blocks, std::uint64_t window) const;

private:
    std::uint64_t seed_;
    std::uint64_t state_;
    bool calm_ = false;
};

// The pseudo-instruction where the adversary has a choice.
const instruction* perhaps(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// What a launch that is predicted tells while it runs: the memory that its blocks touch, and how long their dependent
// instructions take.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "softgpu/observe/instruction_mix.hpp"

namespace softgpu::machine {

enum class touch : std::uint8_t { load, load_past_l1, store, atomic };

// One block. Its calls come one after the other; those of two blocks may be concurrent.
class block_trace {
public:
    virtual ~block_trace() = default;
    // A warp's access to 128 bytes of global memory: `line` is the address over 128, `sectors` a mask of its four sectors,
    // `lanes` those that take part.
    virtual void touched(std::uint64_t line, unsigned sectors, unsigned lanes, touch how) = 0;
    // The block is over. For each latency table of module::trace(): cycles along its longest chain of dependent
    // instructions, where warps wait for each other at barriers.
    virtual void ended(std::span<const double> cycles) = 0;
};

class launch_trace {
public:
    virtual ~launch_trace() = default;
    // A block begins. Concurrent.
    virtual std::unique_ptr<block_trace> begin() = 0;
};

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// From what a launch did to how long it takes on a card. Formulas: docs/model-rules.md.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/observe/counters.hpp"
#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/observe/prediction.hpp"
#include "softgpu/predict/card.hpp"
#include "softgpu/predict/memory_rules.hpp"
#include "softgpu/predict/traffic.hpp"

namespace softgpu::predict {

struct launch_shape {
    std::uint64_t blocks = 0;
    std::uint64_t threads = 0;      // of a block
    std::uint64_t shared_bytes = 0; // of a block, static and dynamic
    std::uint64_t registers = 0;    // of a thread
    std::uint64_t registers_32 = 0; // of a thread where addresses have 32 bits
    int preferred_carveout = -1;    // per cent of a multiprocessor's shared memory; -1: as much as blocks need
    bool follows_kernel = false;    // in its stream, and the host has not waited between the launches
    bool starts_early = false;      // likewise by programmatic dependent launch, and the kernel before lets it
};

// Sums of machine::meeting over a launch.
struct meetings {
    std::uint64_t constant_words = 0;
    std::uint64_t joined_wavefronts = 0;
    std::uint64_t matches = 0;
    std::uint64_t match_values = 0;
    std::uint64_t shared_counts = 0;
    std::uint64_t shared_counters = 0;
    std::uint64_t loop_rounds = 0;
    std::uint64_t loop_wavefronts = 0; // halves
    std::uint64_t load_turns = 0;
    std::uint64_t texture_turns = 0;

    meetings& operator+=(const meetings& more) noexcept {
        constant_words += more.constant_words;
        joined_wavefronts += more.joined_wavefronts;
        matches += more.matches;
        match_values += more.match_values;
        shared_counts += more.shared_counts;
        shared_counters += more.shared_counters;
        loop_rounds += more.loop_rounds;
        loop_wavefronts += more.loop_wavefronts;
        load_turns += more.load_turns;
        texture_turns += more.texture_turns;
        return *this;
    }
};

// All that the model takes.
struct launch_work {
    launch_shape shape;
    observe::counters total;
    observe::instruction_mix mix;
    // Cycles along the longest chain of a block, on average: with every global load served by L1, and with every one
    // served by DRAM.
    double path_near = 0;
    double path_far = 0;
    // The part of these behind the block's last barrier.
    double last_path_near = 0;
    double last_path_far = 0;
    // Of launches whose blocks are all on the device at once: likewise from the first block's begin to the end of the block
    // that ends last, where blocks begin one after another and wait for each other.
    double end_near = 0;
    double end_far = 0;
    // Likewise of the block that takes longest, from its own begin.
    double longest_near = 0;
    double longest_far = 0;
    traffic warm;
    traffic cold;
    meetings met;
    // Loads and stores of shared memory, where the card has other banks than the counters.
    std::optional<shared_turns> shared;
};

// Blocks of the launch that one multiprocessor holds at once; at least 1.
[[nodiscard]] std::uint64_t resident_blocks(const card& c, const launch_shape& shape);
// The clock that blocks have in common which are all on the device at once, of the block that begins after `before` others.
[[nodiscard]] machine::common_clock clock_of(const card& c, std::uint64_t before);
// Where the block is that begins after `before` others; `places`: as many are on the device at once.
[[nodiscard]] block_place place_of(const card& c, std::uint64_t places, std::uint64_t before);
// What these blocks have of L1.
[[nodiscard]] l1_sizes l1_of(const card& c, const launch_shape& shape);
[[nodiscard]] observe::prediction predict(const card& c, const launch_work& work);

} // namespace softgpu::predict

// SPDX-License-Identifier: MIT
// A reduction as data, and the engine's step that is made of it: rounds of launches, each of which leaves as many values as
// it has blocks, until one value is left.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/definition/integers.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::reduce {

using engine::divide_up;
using engine::log2_up;

inline constexpr std::size_t type_count = element_types.size();
inline constexpr std::size_t operation_count = operations.size();
inline constexpr std::uint64_t most_blocks = 0x7fffffff; // of grid.x

// What the number of blocks may depend on besides n.
struct shape {
    unsigned block = 256;
    unsigned multiprocessors = 1;
    unsigned resident_blocks = 1; // of this many threads, on the whole device at once
};

// Where a round launches, and the memory that it may use besides its input and output.
struct launch_context {
    const engine::stage& on;
    shape device;
    std::uint64_t blocks = 1;  // of this launch, from reduction::blocks
    void* workspace = nullptr; // zeroed before the first use
    std::size_t workspace_bytes = 0;
};

// One round: reduces n elements at `in` to `context.blocks` values at `out` (one, for a reduction in one launch).
using round_function = void (*)(const launch_context& context, const void* in, std::uint64_t n, void* out);
using round_table = std::array<std::array<round_function, operation_count>, type_count>;
using workspace_function = std::size_t (*)(const shape& device, std::uint64_t n); // bytes
using workspace_table = std::array<std::array<workspace_function, operation_count>, type_count>;

struct reduction {
    step_description about{};
    std::string luck{}; // why it is right only by luck; empty: it is right
    bool on_device = true;
    bool one_launch = false;            // one round leaves one value, however many blocks it takes
    bool delivers_on_host = false;      // `out` is host memory
    bool accumulates_in_double = false; // float32 too; `height` is then of roundings to double
    // Blocks that a round over n elements takes; round 0 is the first.
    std::uint64_t (*blocks)(const shape& device, std::uint64_t n, unsigned round) = nullptr;
    // Most roundings between an element and the value that it ends in, of one round.
    std::uint64_t (*height)(const shape& device, std::uint64_t n, unsigned round) = nullptr;
    round_table rounds{};
    workspace_table workspace{}; // nullptr: none
    std::vector<engine::claim_check> claims{};
};

[[nodiscard]] engine::step_definition as_step(reduction from);
// The blocks and rounds of `from` in the step's place, `what` in words.
[[nodiscard]] engine::counterexample mutant_of(std::string what, reduction from);

} // namespace warpfold::ladder::reduce

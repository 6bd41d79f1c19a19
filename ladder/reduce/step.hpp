// SPDX-License-Identifier: MIT
// What a step of the ladder of reductions is to the code that runs it: a description, how many blocks it takes, how it
// rounds, one launching function for each type and operation, and its claims. Plain C++ but for the stream's type.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ladder/claim.hpp"
#include "ladder/ladder.hpp"

namespace warpfold::ladder::reduce {

inline constexpr std::size_t type_count = 4;
inline constexpr std::size_t operation_count = 5;
inline constexpr std::uint64_t most_blocks = 0x7fffffff; // of grid.x

// What the number of blocks may depend on besides n.
struct shape {
    unsigned block = 256;
    unsigned multiprocessors = 1;
    unsigned resident_blocks = 1; // of this many threads, on the whole device at once
};

// Where a step launches, and what it may use meanwhile.
struct launch_context {
    cudaStream_t stream = nullptr;
    shape device;
    std::uint64_t blocks = 1;  // of this launch, from step_definition::blocks
    void* workspace = nullptr; // step_definition::workspace_bytes of them, zeroed before the first use
    std::size_t workspace_bytes = 0;
    std::vector<softgpu::observe::launch_record>* launches = nullptr; // where to note launches; may be nullptr
};

// One round: reduces n elements at `in` to `context.blocks` values at `out` (one, for a step of one_launch).
using round_function = void (*)(const launch_context& context, const void* in, std::uint64_t n, void* out);
using round_table = std::array<std::array<round_function, operation_count>, type_count>;
using workspace_function = std::size_t (*)(const shape& device, std::uint64_t n);
using workspace_table = std::array<std::array<workspace_function, operation_count>, type_count>;

struct step_definition {
    step_description about{};
    std::string caution{};
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
    std::vector<claim_check> claims{};
};

// ceil(a / b).
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// ceil(log2(n)); 0 for n < 2.
[[nodiscard]] constexpr unsigned log2_up(std::uint64_t n) {
    return n < 2 ? 0u : static_cast<unsigned>(std::bit_width(n - 1));
}

// The whole ladder, in its order.
[[nodiscard]] const std::vector<step_definition>& steps();

} // namespace warpfold::ladder::reduce

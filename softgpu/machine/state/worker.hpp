// SPDX-License-Identifier: MIT
// One thread of the host with the blocks that it runs: its counters, and what it remembers of earlier accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/state/block.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/observe/counters.hpp"

namespace softgpu::machine {

struct launch_state;
struct function_entry;
class adversary;
class profile_store;

struct known_allocation {
    memory::address base = 1;
    std::uint64_t bytes = 0;
};

struct strided_cost {
    std::uint32_t step = 0; // bytes from lane to lane
    lane_mask mask = 0;
    std::uint32_t wavefronts = 0;
    std::uint32_t conflicts = 0;
};

// How the addresses of an access lie to each other: what the next access with the same pattern need not find out again.
enum class pattern_shape : std::uint8_t {
    scattered,
    run,              // each lane's bytes behind those of the lane before
    uniform,          // one address
    quarter_runs,     // all lanes active; eight lanes together make a run
    quarter_uniforms, // all lanes active; eight lanes together have one address
};

struct alignas(64) address_pattern {
    std::uint32_t offset[lanes];       // from the address of the first active lane; active lanes only
    std::uint64_t key = 0;             // active lanes, bytes and space; 0: nothing is known
    std::uint32_t low = 0;             // offset of the lowest address
    std::uint32_t span = 0;            // bytes from there to the end of the highest
    std::uint16_t load_wavefronts = 0; // in shared memory
    std::uint16_t load_conflicts = 0;
    std::uint16_t store_wavefronts = 0;
    std::uint16_t store_conflicts = 0;
    pattern_shape shape = pattern_shape::scattered;
    // In global memory, by the first lane's address mod 32; 0: not known. In shared memory, of elements of less than 4 bytes:
    // wavefronts, by that address mod 4.
    std::uint8_t sectors[32] = {};
};

struct execution_count {
    std::uint64_t warps = 0;
    std::uint64_t lanes = 0;
};

inline constexpr std::size_t intervals = 64; // barrier intervals that are counted apart

// A function as a worker runs it.
struct worker_function {
    const program_code* code = nullptr;
    std::byte* constants = nullptr;
    std::vector<std::byte> constant_storage;
    std::vector<execution_count> executions;
    std::vector<call_frame*> free;

    struct release {
        void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{64}); }
    };
    std::vector<std::unique_ptr<std::byte, release>> storage;
};

struct worker {
    launch_state* launch = nullptr;
    unsigned index = 0;
    std::array<known_allocation, 4> known; // allocations met last
    unsigned known_next = 0;
    bool count = true;
    std::unordered_map<const function_entry*, std::unique_ptr<worker_function>> functions; // that were called here
    adversary* against = nullptr;     // draws the schedule, where it is adversarial
    const block* entered = nullptr;   // whose values stand in the constants
    profile_store* profile = nullptr; // where counters are kept by instruction
    std::array<observe::counters, intervals> counts;
    std::size_t intervals_used = 1;
    std::array<strided_cost, 64> strided; // bank conflicts of strided patterns met before
    address_pattern* patterns = nullptr;  // patterns_last + 1 of them, a power of two
    std::uint32_t patterns_last = 0;
};

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// What runs: decoded instructions, warps with their splits, blocks, and the worker threads that hold them. Plain data:
// the instruction files are compiled once per instruction set of the host, and all of them share this.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/observe/counters.hpp"

namespace softgpu::machine {

using lane_mask = std::uint32_t;
inline constexpr unsigned lanes = 32;
inline constexpr lane_mask all_lanes = 0xFFFFFFFFu;

struct instruction;
struct warp;
struct block;
struct worker;
struct launch_state;

// Executes one instruction for the active lanes of a warp and says what comes next: the following instruction as a
// rule; nullptr when the warp has nothing to run now (it waits, gives way, or has ended).
using handler = const instruction* (*)(const instruction* i, std::byte* frame, warp* w);

// Where an operand's 32 lanes stand: bytes from the start of the warp's frame, or, with this bit, of the worker's
// constants. A lane takes `width` bytes (1 bit for a predicate, whose place is one 32-bit mask).
using place = std::uint32_t;
inline constexpr place in_constants = 0x80000000u;
inline constexpr place nowhere = 0x7FFFFFFFu;

struct alignas(64) instruction {
    handler run = nullptr;
    place d = nowhere;                      // destination
    place a = nowhere, b = nowhere, c = nowhere;
    place e = nowhere;                      // second destination (p|q), guard of a branch, or further operand
    std::uint8_t width[4] = {0, 0, 0, 0};   // bytes of a lane of d, a, b, c
    std::int64_t immediate = 0;             // address offset, table, or what the instruction's file says
    const instruction* target = nullptr;    // of a branch
    union {
        const instruction* meeting = nullptr; // of a branch: where its lanes meet again; nullptr: at the end
        const place* places;                  // of vector accesses: one per element
        const instruction* const* targets;    // of an indexed branch
    };
    std::uint32_t source = 0;               // index into ptx::function::instructions
    std::uint32_t more = 0;                 // what the instruction's file says: a block's number, flags, a count
};

enum class waiting : std::uint8_t { no, barrier, others };

// Lanes of a warp that run together, apart from the others of their warp.
struct split {
    const instruction* pc = nullptr;
    lane_mask mask = 0;
    std::uint16_t join = 0;     // index into warp::joins; 0: none, lanes meet only in their end
    waiting why = waiting::no;
    std::uint8_t barrier = 0;   // while waiting at one
    lane_mask members = 0;      // while waiting for lanes
};

// Where lanes that a branch parted meet again.
struct join {
    const instruction* pc = nullptr;
    lane_mask expected = 0;     // lanes that will come, or have come
    lane_mask arrived = 0;
    std::uint16_t parent = 0;
    bool used = false;
};

struct warp {
    // The split that runs.
    lane_mask mask = 0;
    std::uint16_t join_index = 0;
    const instruction* pc = nullptr;        // where it goes on after a pause
    const instruction* meeting = nullptr;   // pc of its join
    lane_mask guarded_from = 0;             // mask outside a guarded instruction
    lane_mask carry = 0;                    // the condition code of add.cc and its kin
    int budget = 0;                         // backward branches left before others get their turn

    std::byte* frame = nullptr;
    std::byte* constants = nullptr;         // of the worker
    observe::counters* counts = nullptr;    // of the barrier interval
    block* owner = nullptr;
    worker* host = nullptr;
    std::uint32_t index = 0;                // within the block
    std::uint32_t interval = 0;             // barriers of the block passed
    lane_mask live = 0;                     // lanes that have not ended
    bool running = false;                   // the split above exists
    bool gave_way = false;                  // it stopped because its budget ran out

    std::uint32_t parked = 0;
    std::uint16_t joins_used = 0;           // highest index in use since the start
    std::array<split, lanes + 1> splits;    // the others, [0, parked)
    std::array<join, 2 * lanes + 2> joins;  // [0] is unused
};

struct barrier_state {
    std::uint32_t arrived = 0;      // threads
    std::uint32_t wanted = 0;       // 0: all that live
    std::uint32_t count = 0;        // lanes whose predicate held, for bar.red
    std::uint32_t result_count = 0; // of the last completed use
    std::uint32_t result_threads = 0;
};

struct block {
    extent id;
    std::uint64_t linear = 0;
    std::uint32_t threads_live = 0;
    std::uint32_t at_barriers = 0;  // threads that have arrived and wait
    std::uint32_t warps = 0;
    std::byte* shared = nullptr;
    std::byte* local = nullptr;     // local_bytes of each thread, threads in order
    std::array<barrier_state, 16> barriers;
    std::vector<warp> members;
    std::vector<std::byte> storage; // frames, shared and local memory
    bool resident = false;
};

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
    std::uint32_t offset[lanes];    // from the address of the first active lane; active lanes only
    std::uint64_t key = 0;          // active lanes, bytes and space; 0: nothing is known
    std::uint32_t low = 0;          // offset of the lowest address
    std::uint32_t span = 0;         // bytes from there to the end of the highest
    std::uint32_t wavefronts = 0;   // in shared memory
    std::uint32_t conflicts = 0;
    pattern_shape shape = pattern_shape::scattered;
    std::uint8_t sectors[32] = {};  // in global memory, by the first lane's address mod 32; 0: not known
};

struct execution_count {
    std::uint64_t warps = 0;
    std::uint64_t lanes = 0;
};

inline constexpr std::size_t intervals = 64;
inline constexpr int turn_budget = 20000;

// One thread of the host with the blocks that it runs.
struct worker {
    launch_state* launch = nullptr;
    std::byte* constants = nullptr;         // immediates, parameters, block indices: 32 lanes each
    unsigned index = 0;
    std::array<known_allocation, 4> known;  // allocations met last
    unsigned known_next = 0;
    bool count = true;
    execution_count* executions = nullptr;  // by basic block
    std::array<observe::counters, intervals> counts;
    std::size_t intervals_used = 1;
    std::array<strided_cost, 64> strided;   // bank conflicts of strided patterns met before
    address_pattern* patterns = nullptr;    // patterns_last + 1 of them, a power of two
    std::uint32_t patterns_last = 0;
};

struct launch_state {
    const launch_request* request = nullptr;
    memory::device_memory* memory = nullptr;
    std::uint32_t shared_bytes = 0;         // static and dynamic
    std::uint32_t dynamic_shared_offset = 0;
    std::uint32_t local_bytes = 0;          // per thread
    std::uint32_t parameter_bytes = 0;
    memory::address constant_base = 0;      // of the parameters, where their address is taken
    memory::address grid_workspace = 0;
    std::atomic<std::uint64_t> next_block{0};
    std::uint64_t blocks = 0;
    std::atomic<bool> stop{false};
    std::mutex fault_mutex;
    fault first_fault;
    std::string kernel_name;
    const void* code = nullptr;             // program_code, for messages
};

// Whether [at, at + bytes) is in one allocation, by the table; remembers the allocation.
bool look_up_allocation(worker* host, std::uint64_t at, std::uint64_t bytes);

// Ends the launch with a fault found by an instruction; returns nullptr, for a handler to return.
const instruction* raise(warp* w, const instruction* i, fault_kind kind, const char* what, lane_mask by);
// The same for an access: says address, size, space, and the allocation next to it.
const instruction* raise_access(warp* w, const instruction* i, const char* verb, const char* space, std::uint64_t at,
                                std::uint32_t bytes, bool misaligned, unsigned lane);

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// A warp: its splits, the joins where they reconverge, and the frames of the functions that they are in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/machine/state/pending_bulk.hpp"
#include "softgpu/observe/counters.hpp"

namespace softgpu::machine {

struct block;
struct worker;
struct program_code;
struct execution_count;
struct worker_function;

enum class waiting : std::uint8_t { no, barrier, others };

// Lanes of a warp that run together, apart from the others of their warp.
struct split {
    const instruction* pc = nullptr;
    lane_mask mask = 0;
    std::uint32_t join = 0;     // index into warp::joins; 0: none, lanes meet at their end only
    std::byte* frame = nullptr; // registers of the function that they are in
    waiting why = waiting::no;
    std::uint8_t barrier = 0; // while waiting at one
    lane_mask members = 0;    // while waiting for lanes
};

// Where lanes reconverge that diverged at a branch, or that entered a function together.
struct join {
    const instruction* pc = nullptr;
    std::byte* frame = nullptr; // of the function that `pc` is in
    lane_mask expected = 0;     // lanes that will come, or have come
    lane_mask arrived = 0;
    std::uint32_t parent = 0; // of a free one: the next free one
    bool used = false;
};

// One call of a function by lanes of a warp, or the kernel itself. Its registers follow it in memory: a split's frame leads
// to its call, and from there to its callers.
struct alignas(64) call_frame {
    const program_code* code = nullptr;
    std::byte* constants = nullptr;
    execution_count* executions = nullptr; // by basic block
    call_frame* caller = nullptr;          // nullptr: the kernel
    const instruction* from = nullptr;     // the call, in the caller's code
    worker_function* home = nullptr;       // takes it back at the last return; nullptr: the kernel's
    lane_mask inside = 0;                  // lanes that have not returned
    std::uint32_t depth = 0;               // 0: the kernel
    std::uint32_t local_base = 0;          // bytes of local memory that belong to the callers
    std::array<std::uint32_t, lanes> top;  // end of the local memory that each lane uses

    [[nodiscard]] std::byte* registers() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
inline call_frame* frame_of(std::byte* registers) { return reinterpret_cast<call_frame*>(registers) - 1; }

// A cp.async that a lane has started and that has not been carried out.
struct pending_copy {
    std::uint64_t from = 0;  // global memory
    std::uint32_t to = 0;    // shared memory
    std::uint32_t group = 0; // of its lane, counted from the lane's first
    std::uint8_t lane = 0;
    std::uint8_t bytes = 0;  // written
    std::uint8_t filled = 0; // of these, copied; the rest becomes zero
};

struct warp {
    // The split that runs.
    lane_mask mask = 0;
    std::uint32_t join_index = 0;
    const instruction* pc = nullptr;       // where it goes on after a pause
    const instruction* meeting = nullptr;  // pc of its join
    std::byte* frame = nullptr;            // registers of the function that it is in
    std::byte* constants = nullptr;        // the worker's, of that function; must follow `frame`
    execution_count* executions = nullptr; // of that function, by basic block
    lane_mask guarded_from = 0;            // mask outside a guarded instruction
    lane_mask carry = 0;                   // the condition code of add.cc, sub.cc, mad.cc
    int budget = 0;                        // backward branches left until others get their turn

    observe::counters* counts = nullptr; // of the barrier interval
    block* owner = nullptr;
    worker* host = nullptr;
    std::uint32_t index = 0;    // within the block
    std::uint32_t interval = 0; // barriers of the block passed
    lane_mask live = 0;         // lanes that have not ended
    bool running = false;       // the split above exists
    bool gave_way = false;      // it stopped because its budget ran out
    bool switched = false;      // it stopped because it continues in another frame
    std::uint8_t held = 0;      // 1 + the barrier that the split above waits at, with no others parked

    std::vector<pending_copy> copies;                 // in the order of their start
    std::array<std::uint32_t, lanes> copy_groups{};   // groups that each lane has committed
    std::vector<outgoing_copy> outgoing;              // from its block's shared memory, likewise
    std::array<std::uint32_t, lanes> bulk_groups{};   // groups of these that each lane has committed
    lane_mask at_cluster = 0;                         // lanes that have arrived at the cluster's barrier and not waited
    std::array<std::uint32_t, lanes> cluster_phase{}; // ... in this phase
    lane_mask passed = 0;    // under checks: lanes that went past a place where others wait for them
    bool waits = false;      // it has given way, and lanes that wait at joins still wait
    std::uint32_t quiet = 0; // turns that ended in a state seen before; see run/schedule/deadlock.hpp
    std::uint32_t history_next = 0;
    std::array<std::uint64_t, 8> history{}; // hashes of its last states

    std::uint32_t parked = 0;
    std::uint32_t joins_used = 0;        // highest index in use since the start
    std::uint32_t free_joins = 0;        // the first of those below that are free; 0: none
    std::array<split, lanes + 1> splits; // the others, [0, parked)
    std::vector<join> joins;             // [0] is unused
    std::byte* kernel_frame = nullptr;   // where the kernel's own registers are
};

// Where an operand's lanes are.
inline const std::byte* lanes_at(std::byte* frame, const warp* w, place p) {
    return ((p & in_constants) != 0 ? w->constants : frame) + (p & ~in_constants);
}

} // namespace softgpu::machine

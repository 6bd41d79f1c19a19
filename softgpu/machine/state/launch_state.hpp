// SPDX-License-Identifier: MIT
// What runs: decoded instructions, warps with their splits, blocks, and the worker threads that hold them. Plain data:
// the instruction files are compiled once per instruction set of the host, and all of them share this.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "softgpu/check/view.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/state/lazy_memory.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/observe/counters.hpp"

namespace softgpu::check {
class launch_checks;
class session;
} // namespace softgpu::check

namespace softgpu::machine {

using lane_mask = std::uint32_t;
inline constexpr unsigned lanes = 32;
inline constexpr lane_mask all_lanes = 0xFFFFFFFFu;

struct instruction;
struct warp;
struct block;
struct worker;
struct launch_state;
struct program_code;
struct execution_count;
struct call_site;
struct worker_function;
class adversary;
struct function_entry;
class profile_store;
struct access_site; // these: softgpu/machine/inspect/block_checks.hpp
struct block_checks;

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
    place d = nowhere; // destination
    place a = nowhere, b = nowhere, c = nowhere;
    place e = nowhere;                    // second destination (p|q), guard of a branch, or further operand
    std::uint8_t width[4] = {0, 0, 0, 0}; // bytes of a lane of d, a, b, c
    std::int64_t immediate = 0;           // address offset, table, or what the instruction's file says
    const instruction* target = nullptr;  // of a branch
    union {
        const instruction* meeting = nullptr; // of a branch: where its lanes meet again; nullptr: at the end
        const place* places;                  // of vector accesses: one per element
        const instruction* const* targets;    // of an indexed branch
        const call_site* site;                // of a call
        const access_site* access;            // of what looks at the access that follows
    };
    std::uint32_t source = 0; // index into ptx::function::instructions
    std::uint32_t more = 0;   // what the instruction's file says: a block's number, flags, a count
};

enum class waiting : std::uint8_t { no, barrier, others };

// Lanes of a warp that run together, apart from the others of their warp.
struct split {
    const instruction* pc = nullptr;
    lane_mask mask = 0;
    std::uint32_t join = 0;     // index into warp::joins; 0: none, lanes meet only in their end
    std::byte* frame = nullptr; // registers of the function that they are in
    waiting why = waiting::no;
    std::uint8_t barrier = 0; // while waiting at one
    lane_mask members = 0;    // while waiting for lanes
};

// Where lanes that a branch parted, or that went into a function together, meet again.
struct join {
    const instruction* pc = nullptr;
    std::byte* frame = nullptr; // of the function that `pc` is in
    lane_mask expected = 0;     // lanes that will come, or have come
    lane_mask arrived = 0;
    std::uint32_t parent = 0; // of a free one: the next free one
    bool used = false;
};

// One call of a function by lanes of a warp, or the kernel itself. Its registers stand right behind it: a split's frame
// leads to its call, and from there to its callers.
struct alignas(64) call_frame {
    const program_code* code = nullptr;
    std::byte* constants = nullptr;
    execution_count* executions = nullptr; // by basic block
    call_frame* caller = nullptr;          // nullptr: the kernel
    const instruction* from = nullptr;     // the call, in the caller's code
    worker_function* home = nullptr;       // where it goes when it is done; nullptr: the kernel's
    lane_mask inside = 0;                  // lanes that have not returned
    std::uint32_t depth = 0;               // 0: the kernel
    std::uint32_t local_base = 0;          // bytes of local memory that belong to the callers
    std::array<std::uint32_t, lanes> top;  // first byte of local memory behind what each lane uses

    [[nodiscard]] std::byte* registers() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
inline call_frame* frame_of(std::byte* registers) { return reinterpret_cast<call_frame*>(registers) - 1; }

// A copy that a lane has started and that has not been carried out.
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
    std::byte* constants = nullptr;        // of that function, as the worker has them; stands behind `frame`
    execution_count* executions = nullptr; // of that function, by basic block
    lane_mask guarded_from = 0;            // mask outside a guarded instruction
    lane_mask carry = 0;                   // the condition code of add.cc and its kin
    int budget = 0;                        // backward branches left before others get their turn

    observe::counters* counts = nullptr; // of the barrier interval
    block* owner = nullptr;
    worker* host = nullptr;
    std::uint32_t index = 0;    // within the block
    std::uint32_t interval = 0; // barriers of the block passed
    lane_mask live = 0;         // lanes that have not ended
    bool running = false;       // the split above exists
    bool gave_way = false;      // it stopped because its budget ran out
    bool switched = false;      // it stopped because it goes on in another frame
    std::uint8_t held = 0;      // 1 + the barrier that the split above waits at, all by itself and unparked

    std::vector<pending_copy> copies;               // in the order of their start
    std::array<std::uint32_t, lanes> copy_groups{}; // groups that each lane has committed
    lane_mask passed = 0;    // under checks: lanes that went past a place where others wait for them
    bool waits = false;      // it has given way, and kept together the lanes that wait for others
    std::uint32_t quiet = 0; // turns at whose end it stood where it had stood; see waits.hpp
    std::uint32_t history_next = 0;
    std::array<std::uint64_t, 8> history{}; // hashes of its last states

    std::uint32_t parked = 0;
    std::uint32_t joins_used = 0;        // highest index in use since the start
    std::uint32_t free_joins = 0;        // the first of those below that are free; 0: none
    std::array<split, lanes + 1> splits; // the others, [0, parked)
    std::vector<join> joins;             // [0] is unused
    std::byte* kernel_frame = nullptr;   // where the kernel's own registers are
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
    std::uint32_t at_barriers = 0; // threads that have arrived and wait
    std::uint32_t warps = 0;
    std::byte* shared = nullptr;
    std::byte* local = nullptr; // local_bytes of each thread, threads in order
    std::array<barrier_state, 16> barriers;
    std::vector<warp> members;
    std::vector<std::byte> storage; // frames, shared and local memory
    lazy_memory stack;              // local memory of kernels whose functions need much
    std::string printed;            // by printf
    bool resident = false;
    launch_state* launch = nullptr; // where the launch is checked, and the next two
    check::block_view* view = nullptr;
    std::shared_ptr<block_checks> checks;
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
    std::uint32_t offset[lanes];       // from the address of the first active lane; active lanes only
    std::uint64_t key = 0;             // active lanes, bytes and space; 0: nothing is known
    std::uint32_t low = 0;             // offset of the lowest address
    std::uint32_t span = 0;            // bytes from there to the end of the highest
    std::uint16_t load_wavefronts = 0; // in shared memory
    std::uint16_t load_conflicts = 0;
    std::uint16_t store_wavefronts = 0;
    std::uint16_t store_conflicts = 0;
    pattern_shape shape = pattern_shape::scattered;
    std::uint8_t sectors[32] = {}; // in global memory, by the first lane's address mod 32; 0: not known
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

struct launch_state {
    const launch_request* request = nullptr;
    memory::device_memory* memory = nullptr;
    std::uint32_t shared_bytes = 0; // static and dynamic
    std::uint32_t dynamic_shared_offset = 0;
    std::uint32_t local_bytes = 0; // per thread
    std::uint32_t parameter_bytes = 0;
    memory::address constant_base = 0; // of the parameters, where their address is taken
    memory::address grid_workspace = 0;
    std::atomic<std::uint64_t> next_block{0};
    std::uint64_t blocks = 0;
    std::atomic<bool> stop{false};
    int turn = turn_budget;                // backward branches until others get their turn
    std::atomic<unsigned> restless{0};     // workers that do not only wait; see waits.hpp
    std::atomic<std::uint64_t> changes{0}; // how often one of them came to do something again
    std::mutex fault_mutex;
    fault first_fault;
    std::string kernel_name;
    kernel* of = nullptr;
    module::implementation* home = nullptr;                     // of its module
    const program_code* code = nullptr;                         // of the kernel
    std::vector<std::pair<std::uint64_t, std::string>> printed; // what blocks have printed, with their numbers
    check::launch_checks* checks = nullptr;                     // where the launch is checked
    const check::shadow_view* shadow = nullptr;
    bool check_races = false;
    bool check_init = false;
};

// One line to stand in a fault, without the kernel, the block and the thread, which are put before it.
const instruction* raise_text(warp* w, const instruction* i, fault_kind kind, const std::string& what, unsigned lane);
// The same where the message is the whole of what is to be said.
const instruction* raise_verbatim(warp* w, fault_kind kind, std::string message);

// Whether [at, at + bytes) is in one allocation, by the table; remembers the allocation.
bool look_up_allocation(worker* host, std::uint64_t at, std::uint64_t bytes);

// Ends the launch with a fault found by an instruction; returns nullptr, for a handler to return.
const instruction* raise(warp* w, const instruction* i, fault_kind kind, const char* what, lane_mask by);
// The same for an access: says address, size, space, and the allocation next to it.
const instruction* raise_access(warp* w, const instruction* i, const char* verb, const char* space, std::uint64_t at,
                                std::uint32_t bytes, bool misaligned, unsigned lane);

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// What a program asked of the device, in the order in which it asked, and when each piece of it runs: on a GPU as it was
// measured, on the software GPU by a model of one compute engine and copy engines for both directions.
//
// The model's rules, with several devices for each of them:
// - Each piece of work has one engine, which does one thing at a time: kernels, fills and copies on the device the compute
//   engine; copies from and to the host a copy engine for each direction (or one for both); host functions the thread of
//   the host that runs them. Marks (events, waits) need none and take no time.
// - It begins when the host has issued it, all that it waits for is over (its stream's last operation, events, what the
//   default streams' rules add: as the runtime knows them), and its engine is free. An engine takes, of what is ready, what
//   has the highest priority, then what has been ready longest, then what was issued first. An engine with `in_order` works
//   on what it was given strictly in the order of issue, and waits where the next is not ready: the GPUs before 2013.
// - A thread of the host takes `call_seconds` for each operation that it issues, and no time for anything else. It stands
//   still until what it waits for is over: synchronisations, synchronous copies, copies of pageable memory. A thread's first
//   call comes after all that the program has called before.
// - A copy takes its latency and its bytes over the link's rate; one of pageable memory goes by a slower rate, and one that
//   is small enough to be copied aside keeps the host for that long and is like a pinned one then.
// - A kernel takes its latency and the longer of two times: its warp instructions over the rate of the multiprocessors that
//   its blocks fill, the bytes of the sectors that it asks global memory for over the memory's rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace softgpu::observe {

enum class engine : std::uint8_t { none, compute, to_device, to_host, host };
inline constexpr std::size_t engines = 5;
[[nodiscard]] const char* name_of(engine e) noexcept; // "compute", "to device", "to host", "host functions"

struct operation_record {
    engine on = engine::none;
    int device = 0;       // each has engines of its own
    std::string name{};   // "copy of 4096 bytes from host to device", the kernel's name, "host function"
    std::string stream{}; // "stream 1", in the order in which they were first used; "default stream"; of a mark none
    int priority = 0;     // smaller goes first
    std::vector<std::size_t> after{}; // places in the log of what has to be over before it begins
    std::uint64_t bytes = 0;          // that a copy or fill moves
    bool pageable = false;            // a copy of host memory that is not page-locked
    bool staged = false;              // and whose source was copied aside at the call
    std::uint64_t blocks = 0;         // of a kernel, as what follows
    std::uint64_t warp_instructions = 0;
    std::uint64_t memory_bytes = 0;
};

// What a thread of the host did: issue an operation, or go on only after one was over, or after all issued before.
struct host_step {
    enum class kind : std::uint8_t { issues, waits, waits_for_all };
    kind what = kind::issues;
    std::uint32_t thread = 0;
    std::size_t operation = 0; // its place in the log; of waits_for_all: how many there were
    int device = -1;           // waits_for_all: those of this device; -1: of every one
};

struct operation_log {
    std::vector<operation_record> operations; // in the order of issue
    std::vector<host_step> host;
};

struct timeline_machine {
    std::string name;
    double call_seconds = 2e-6;
    double copy_latency = 2e-6;
    double pinned_bytes_per_s = 55e9;
    double pageable_bytes_per_s = 10e9;
    double kernel_latency = 2e-6;
    unsigned multiprocessors = 1;
    double warp_instructions_per_s = 1e9; // of one multiprocessor
    double memory_bytes_per_s = 1e12;     // of all of them
    double host_function_seconds = 10e-6;
    unsigned copy_engines = 2; // 1: both directions share it
    bool in_order = false;
};

struct timeline_event {
    std::string name;
    engine on = engine::compute;
    int device = 0;
    std::string stream;
    double issued = 0; // seconds from the beginning, as all times
    double start = 0;
    double end = 0;
    std::uint64_t bytes = 0;
    bool pageable = false;
    std::vector<std::size_t> after{}; // places in the timeline, through marks: what has to be over before it begins
};

struct timeline {
    std::vector<timeline_event> events; // in the order of issue
    bool modelled = false;
    std::string machine; // what was modelled or measured on, in words

    [[nodiscard]] int devices() const noexcept;    // up to the last that has an event; at least 1
    [[nodiscard]] double seconds() const noexcept; // from the beginning to the last end
};

// Seconds that an operation keeps its engine.
[[nodiscard]] double duration_of(const operation_record& o, const timeline_machine& m) noexcept;

// Throws std::invalid_argument where the log is none: an operation waits for a later one or for itself, one is issued
// never or twice, a step names no operation.
[[nodiscard]] timeline model_of(const operation_log& log, const timeline_machine& machine);

} // namespace softgpu::observe

// Exported by the drop-in libcudart beside CUDA's own calls; find it with dlsym. Waits for all work, then operations that are
// issued are added to `to`; nullptr stops it, again after all work is over, and completes what was recorded. Not for use
// across compilers or versions: the log is C++.
extern "C" void softgpu_record_operations(softgpu::observe::operation_log* to);

// SPDX-License-Identifier: MIT
// What the laboratory measures in clock cycles of a multiprocessor: how long an operation takes that the next one waits
// for, and how many a cycle are done where enough of them wait for nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/definition/claims.hpp"

namespace warpfold::ladder::occupancy {

// Cycles from one operation to the next that needs its result, one warp on the device.
struct arithmetic_latencies {
    double float32 = 0, float64 = 0, int32 = 0; // multiply-adds
    double modulo = 0;                          // of 32-bit integers
    double special = 0;                         // 1 / sqrt(x), approximate
    double shuffle = 0;
};
[[nodiscard]] const arithmetic_latencies& measured_arithmetic();

enum class cache_operator { ca, cg, cs, lu, cv, nc };
constexpr std::array cache_operator_names{"ld.ca", "ld.cg", "ld.cs", "ld.lu", "ld.cv", "ld.nc"};

// Of memory that was copied from the host just before, and of the same once the L2 cache was emptied.
struct copied_latencies {
    double copied = 0, flushed = 0;
};

struct memory_latencies {
    double l1 = 0, l2 = 0, dram = 0;
    std::array<double, cache_operator_names.size()> again{}; // by each operator, a line that was read before
    copied_latencies after_a_copy;
    double large_l1 = 0, small_l1 = 0; // 128 KiB, where L1 has the most and where shared memory has
    double large_read_only = 0;        // 128 KiB by ld.nc, where L1 has the most
    double written = 0;                // lines that were read, and then written, before they are read again
    double mapped = 0;                 // of the host, read again
    double kept_ca = 0, kept_cs = 0;   // read between lines that fill the L1 cache, by either operator
    struct point {
        std::size_t bytes;
        double cycles;
    };
    std::vector<point> by_footprint; // by ld.ca, lines of 128 bytes in no order
};
// `l2_bytes` of the device: by it a footprint is known to be larger than the cache.
[[nodiscard]] const memory_latencies& measured_memory(std::uint64_t l2_bytes);

struct on_chip_latencies {
    double shared = 0, shared_two_way = 0, shared_worst = 0; // no conflict; two and 32 lanes at each bank
    double constant = 0;
    double shared_atomic = 0, global_atomic = 0;
    double shared_atomic_rate = 0, global_atomic_rate = 0; // additions a second of the device, each block its own words
};
[[nodiscard]] const on_chip_latencies& measured_on_chip();

// Multiply-adds a cycle on one multiprocessor, by warps on it and by chains of each thread that do not wait for each other.
struct throughput {
    std::vector<unsigned> warps;
    std::vector<unsigned> chains;
    std::vector<std::vector<double>> float32;                // [warps][chains], operations of lanes a cycle
    double int32 = 0, float64 = 0, special = 0, shuffle = 0; // the best
    double shared_bytes = 0;                                 // a cycle, loads of 4 bytes without conflicts

    [[nodiscard]] double best() const;
    [[nodiscard]] double at(unsigned warps_there, unsigned chains_there) const;
};
[[nodiscard]] const throughput& measured_throughput();

// Seconds from one empty kernel to the next, and of the host for each.
struct launch_overhead {
    double device = 0, host = 0;
};
[[nodiscard]] const launch_overhead& measured_launch();

// All of the above, as counter-examples give them.
struct figures {
    arithmetic_latencies arithmetic;
    memory_latencies memory;
    on_chip_latencies on_chip;
    throughput rate;
    launch_overhead launch;
    double clock_hz = 0;
};

// What a check looks at: the figures of its counter-example, or those that are measured here.
[[nodiscard]] const arithmetic_latencies& arithmetic_of(const engine::evidence& e);
[[nodiscard]] const memory_latencies& memory_of(const engine::evidence& e);
[[nodiscard]] const on_chip_latencies& on_chip_of(const engine::evidence& e);
[[nodiscard]] const throughput& rate_of(const engine::evidence& e);
[[nodiscard]] const launch_overhead& launch_of(const engine::evidence& e);
[[nodiscard]] double clock_of(const engine::evidence& e); // Hz

// The figures of an H200 (2026-11-22) with a change, and its read ceiling and multiprocessors.
[[nodiscard]] engine::counterexample h200_with(std::string what, void (*change)(figures&));
// Those figures as they are, where they refute the lecture.
[[nodiscard]] engine::counterexample an_h200();

} // namespace warpfold::ladder::occupancy

// SPDX-License-Identifier: MIT
#include "tool/explain/bounds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/number.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace warpfold::tool {
namespace {

using softgpu::observe::counters;
using softgpu::observe::launch_record;
using softgpu::runtime::card;

// A clock of one multiprocessor, compute capability 5.0 and later: four schedulers, each with an instruction of a warp; one
// pass over the 32 banks; two sectors from L2 (CUDA programming guide; the laboratory `occupancy`).
constexpr double issued_per_clock = 4;
constexpr double wavefronts_per_clock = 1;
constexpr double l2_bytes_per_clock = 64;

// Resident on one multiprocessor, as far as threads and shared memory decide.
double resident_blocks(const launch_record& launch, const card& c) {
    const auto shared = launch.dynamic_shared_bytes + launch.static_shared_bytes +
                        static_cast<std::uint64_t>(c.reserved_shared_per_block);
    const auto warps = std::max(1U, static_cast<unsigned>(launch.warps_per_block()));
    const auto by_threads = static_cast<unsigned>(c.threads_per_multiprocessor) / (warps * 32);
    const auto by_shared =
        shared == 0 ? by_threads : static_cast<unsigned>(static_cast<unsigned>(c.shared_per_multiprocessor) / shared);
    return std::max(1U, std::min({by_threads, by_shared, static_cast<unsigned>(c.blocks_per_multiprocessor)}));
}

// Each warp has one instruction or access under way at a time, so that only other warps hide what it waits for (Little's
// law): on each multiprocessor in use, what all its warps wait for, over the warps that are there at once.
double clocks_waited(const launch_record& launch, double scale, const card& c, const latencies& l) {
    const double blocks = std::max(1.0, scale * static_cast<double>(launch.blocks()));
    const double multiprocessors = std::min(blocks, static_cast<double>(c.multiprocessors));
    const double blocks_at_once = std::min(resident_blocks(launch, c), blocks / multiprocessors);
    const auto warps = static_cast<double>(launch.warps_per_block());
    return scale * l.clocks(launch.total) / (multiprocessors * blocks_at_once * warps);
}

std::string counted(double value, const char* what) { return fmt::format("{} {}", report::figure(value, 3), what); }

} // namespace

const char* name_of(resource r) {
    switch (r) {
    case resource::issue: return "instruction issue";
    case resource::shared_memory: return "shared-memory wavefronts";
    case resource::l2: return "sectors from L2";
    case resource::dram: return "DRAM";
    case resource::latency: return "latency";
    default: return "launches";
    }
}

bounds_of_step bounds_of(const ladder::ladder_report& report, const ladder::step_result& step,
                         const std::vector<launch_record>& launches) {
    bounds_of_step out;
    const auto cards = softgpu::runtime::all_cards();
    const auto at =
        std::find_if(cards.begin(), cards.end(), [&](const card& c) { return c.name == report.device.name; });
    counters all;
    for (const launch_record& launch : launches) {
        all.add(launch.total);
    }
    if (at == cards.end() || at->major < 5 || all.warp_instructions == 0) {
        return out;
    }
    const card& c = *at;
    const bool whole = step.n == report.n && report.n_timed != 0;
    out.card = std::string(c.name);
    out.n = whole ? report.n_timed : step.n;
    const double scale = static_cast<double>(out.n) / static_cast<double>(std::max<std::uint64_t>(step.n, 1));
    const double clock = c.clock_khz * 1e3;
    const double clocks_at_once = clock * c.multiprocessors;
    const auto add = [&](resource r, double seconds, std::string figure) {
        out.all.push_back({r, seconds, std::move(figure)});
    };

    const double instructions = scale * static_cast<double>(all.warp_instructions);
    add(resource::issue, instructions / (issued_per_clock * clocks_at_once),
        fmt::format("{}, {} a clock and multiprocessor", counted(instructions, "instructions of warps"),
                    issued_per_clock));
    const double wavefronts = scale * static_cast<double>(all.shared_load_wavefronts + all.shared_store_wavefronts +
                                                          all.shared_atomic_wavefronts);
    if (wavefronts > 0) {
        add(resource::shared_memory, wavefronts / (wavefronts_per_clock * clocks_at_once),
            fmt::format("{}, 1 a clock and multiprocessor", counted(wavefronts, "passes over the banks")));
    }
    const double sectors =
        scale * static_cast<double>(all.global_load_sectors + all.global_store_sectors + all.local_load_sectors +
                                    all.local_store_sectors + all.atomic_sectors);
    if (sectors > 0) {
        add(resource::l2, 32 * sectors / (l2_bytes_per_clock * clocks_at_once),
            fmt::format("{} if L1 holds none of them, 2 a clock and multiprocessor", counted(sectors, "sectors")));
    }
    const double least = std::min(32 * sectors, scale * static_cast<double>(step.least_bytes));
    if (least > 0) {
        const double rate = 2.0 * c.memory_clock_khz * 1e3 * c.memory_bus_bits / 8;
        add(resource::dram, least / rate,
            fmt::format("{} that have to be read or written, {} GB/s", report::bytes(static_cast<std::uint64_t>(least)),
                        report::figure(rate / 1e9, 4)));
    }
    if (c.major == 9) {
        const latencies l;
        double clocks = 0;
        for (const launch_record& launch : launches) {
            clocks += clocks_waited(launch, launch.blocks() > 1 ? scale : 1, c, l);
        }
        add(resource::latency, clocks / clock,
            fmt::format(
                "if a warp has one load or instruction under way: {} clocks for DRAM, {} for shared memory, {} for "
                "an instruction, hidden by the other warps of the multiprocessor",
                l.dram_clocks, l.shared_clocks, l.instruction_clocks));
        add(resource::launches, static_cast<double>(launches.size()) * l.launch_seconds,
            fmt::format("{} of {} µs{}", launches.size(), l.launch_seconds * 1e6,
                        out.n == step.n ? "" : ", as many as at n = " + report::group_digits(step.n)));
    }
    std::stable_sort(out.all.begin(), out.all.end(),
                     [](const bound& a, const bound& b) { return a.seconds > b.seconds; });
    return out;
}

} // namespace warpfold::tool

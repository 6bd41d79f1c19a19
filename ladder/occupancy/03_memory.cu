// SPDX-License-Identifier: MIT
// Latency of memory: chains of addresses, each read from where the one before points to, over more and more bytes and by every
// cache operator. (Parallel patterns "Latency Vs Throughput"; 380 "PTX Cache Operators", "GPU Memory System", "L1 Sizing",
// "Read-Only Cache".)
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "ladder/occupancy/cycles.hpp"
#include "ladder/occupancy/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"
#include "measure/flush.hpp"

namespace warpfold::ladder::occupancy {

namespace {

__global__ void link(std::byte* chain, std::uint64_t lines) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < lines) {
        *reinterpret_cast<const void**>(chain + i * line_bytes) = chain + next_line(i, lines) * line_bytes;
    }
}

template <cache_operator Operator>
__device__ const std::byte* follow(const std::byte* at) {
    const std::byte* next = nullptr;
    if constexpr (Operator == cache_operator::ca) {
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    } else if constexpr (Operator == cache_operator::cg) {
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    } else if constexpr (Operator == cache_operator::cs) {
        asm volatile("ld.global.cs.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    } else if constexpr (Operator == cache_operator::lu) {
        asm volatile("ld.global.lu.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    } else if constexpr (Operator == cache_operator::cv) {
        asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    } else {
        asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    }
    return next;
}

// One thread, from line `start`: `warm` hops, then 8 x rounds that are timed; leaves the number of the line where it ends.
template <cache_operator Operator>
__global__ void chase(std::int32_t* out, const std::byte* chain, std::uint64_t start, std::uint64_t warm,
                      unsigned rounds, std::int64_t* cycles) {
    const std::byte* at = chain + start * line_bytes;
#pragma unroll 1
    for (std::uint64_t k = 0; k < warm; ++k) {
        at = follow<Operator>(at);
    }
    const std::int64_t begin = clock64();
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < hops_at_once; ++u) {
            at = follow<Operator>(at);
        }
    }
    const std::int64_t end = clock64();
    *out = static_cast<std::int32_t>((at - chain) / static_cast<std::int64_t>(line_bytes));
    if (cycles != nullptr) {
        *cycles = end - begin;
    }
}

// Through all lines of the chain, so that they are in the cache; the same addresses stored there again; and once more, timed.
__global__ void chase_what_was_written(std::int32_t* out, std::byte* chain, std::uint64_t lines, unsigned rounds,
                                       std::int64_t* cycles) {
    const std::byte* at = chain;
#pragma unroll 1
    for (std::uint64_t k = 0; k < lines; ++k) {
        at = follow<cache_operator::ca>(at);
    }
#pragma unroll 1
    for (std::uint64_t k = 0; k < lines; ++k) {
        *reinterpret_cast<const void* volatile*>(chain + k * line_bytes) = chain + next_line(k, lines) * line_bytes;
    }
    const std::int64_t begin = clock64();
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < hops_at_once; ++u) {
            at = follow<cache_operator::ca>(at);
        }
    }
    const std::int64_t end = clock64();
    *out = static_cast<std::int32_t>((at - chain) / static_cast<std::int64_t>(line_bytes));
    if (cycles != nullptr) {
        *cycles = end - begin;
    }
}

void make_chain(cudaStream_t on, std::byte* chain, std::uint64_t lines) {
    link<<<static_cast<unsigned>(engine::divide_up(lines, 256)), 256, 0, on>>>(chain, lines);
    WARPFOLD_CUDA_CHECK(cudaGetLastError());
}

template <cache_operator Operator>
double chain_latency(stopwatch_in_cycles& watch, std::byte* chain, std::uint64_t bytes, bool warm,
                     unsigned rounds = 256) {
    const std::uint64_t lines = bytes / line_bytes;
    make_chain(watch.stream().handle(), chain, lines);
    std::uint64_t start = 0; // each time other lines: those of the last time are in a cache
    return watch.each(rounds, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
        start = (start + lines / 5 + 7) % lines;
        chase<Operator><<<1, 1, 0, on>>>(out, chain, start, warm ? lines : 0, rounds, cycles);
    });
}

constexpr unsigned in_l1 = 16 * 1024; // bytes

// What a chain that was just copied from the host takes, and the same after the cache was emptied.
void measure_copied(stopwatch_in_cycles& watch, std::byte* chain, std::uint64_t l2_bytes, copied_latencies& to) {
    constexpr std::uint64_t lines = 4096;
    std::vector<std::byte> host(lines * line_bytes);
    for (std::uint64_t i = 0; i < lines; ++i) {
        const std::byte* const next = chain + next_line(i, lines) * line_bytes;
        std::memcpy(host.data() + i * line_bytes, &next, sizeof next);
    }
    measure::l2_flush flush(l2_bytes);
    for (const bool flushed : {false, true}) {
        double& out = flushed ? to.flushed : to.copied;
        out = watch.each(64, [&](cudaStream_t on, std::int32_t* result, std::int64_t* cycles) {
            WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(chain, host.data(), host.size(), cudaMemcpyHostToDevice, on));
            if (flushed) {
                flush.run(watch.stream());
            }
            chase<cache_operator::cg><<<1, 1, 0, on>>>(result, chain, 0, 0, 64, cycles);
        });
    }
}

memory_latencies measure_all(std::uint64_t l2_bytes) {
    memory_latencies all;
    stopwatch_in_cycles watch;
    constexpr std::size_t largest = std::size_t{1} << 30;
    const measure::device_memory memory(largest);
    auto* const chain = static_cast<std::byte*>(memory.data());
    for (std::size_t bytes = 4096; bytes <= largest; bytes *= 2) {
        const bool warm = bytes <= std::max<std::size_t>(l2_bytes, 64u << 20);
        all.by_footprint.push_back({bytes, chain_latency<cache_operator::ca>(watch, chain, bytes, warm)});
    }
    const auto at = [&](std::size_t bytes) {
        return std::find_if(all.by_footprint.begin(), all.by_footprint.end(),
                            [&](const auto& p) { return p.bytes == bytes; })
            ->cycles;
    };
    all.l1 = at(in_l1);
    all.l2 = at(2u << 20);
    all.dram = all.by_footprint.back().cycles;
    all.again = {chain_latency<cache_operator::ca>(watch, chain, in_l1, true),
                 chain_latency<cache_operator::cg>(watch, chain, in_l1, true),
                 chain_latency<cache_operator::cs>(watch, chain, in_l1, true),
                 chain_latency<cache_operator::lu>(watch, chain, in_l1, true),
                 chain_latency<cache_operator::cv>(watch, chain, in_l1, true),
                 chain_latency<cache_operator::nc>(watch, chain, in_l1, true)};
    measure_copied(watch, chain, l2_bytes, all.after_a_copy);
    // All of the memory that L1 and shared memory have in common for the one, or for the other.
    for (const int share : {0, 100}) {
        WARPFOLD_CUDA_CHECK(
            cudaFuncSetAttribute(chase<cache_operator::ca>, cudaFuncAttributePreferredSharedMemoryCarveout, share));
        (share == 0 ? all.large_l1 : all.small_l1) = chain_latency<cache_operator::ca>(watch, chain, 128 * 1024, true);
    }
    WARPFOLD_CUDA_CHECK(cudaFuncSetAttribute(chase<cache_operator::ca>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                             cudaSharedmemCarveoutDefault));
    WARPFOLD_CUDA_CHECK(
        cudaFuncSetAttribute(chase<cache_operator::nc>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    all.large_read_only = chain_latency<cache_operator::nc>(watch, chain, 128 * 1024, true);
    WARPFOLD_CUDA_CHECK(cudaFuncSetAttribute(chase<cache_operator::nc>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                             cudaSharedmemCarveoutDefault));
    make_chain(watch.stream().handle(), chain, in_l1 / line_bytes);
    // Each line once: a line that a load has brought back into the cache says nothing.
    all.written =
        watch.each(in_l1 / line_bytes / hops_at_once, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            chase_what_was_written<<<1, 1, 0, on>>>(out, chain, in_l1 / line_bytes, in_l1 / line_bytes / hops_at_once,
                                                    cycles);
        });
    void* host = nullptr;
    void* mapped = nullptr;
    WARPFOLD_CUDA_CHECK(cudaHostAlloc(&host, in_l1, cudaHostAllocMapped));
    const std::unique_ptr<void, void (*)(void*)> owner(host, [](void* p) { (void)cudaFreeHost(p); });
    WARPFOLD_CUDA_CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    all.mapped = chain_latency<cache_operator::ca>(watch, static_cast<std::byte*>(mapped), in_l1, true, 16);
    return all;
}

} // namespace

const memory_latencies& measured_memory(std::uint64_t l2_bytes) {
    static const memory_latencies all = measure_all(l2_bytes);
    return all;
}

namespace {

engine::sample ends_in_memory(std::uint64_t lines, std::uint64_t /*seed*/) {
    if (lines == 0) {
        return {};
    }
    std::uint64_t at = 0;
    for (unsigned k = 0; k < hops_of_a_step; ++k) {
        at = next_line(at, lines);
    }
    return {
        lines,
        {},
        engine::bytes_of(std::vector<std::int32_t>(cache_operator_names.size() + 1, static_cast<std::int32_t>(at)))};
}

void run_memory(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    auto* const chain = on.temporary<std::byte>();
    engine::launch(on, "link", link, static_cast<unsigned>(engine::divide_up(on.n, 256)), 256, 0, chain, on.n);
    const auto one = [&](auto kernel, unsigned place) {
        engine::launch(on, "chase", kernel, 1, 1, 0, on.output<std::int32_t>() + place, chain, 0, 0,
                       hops_of_a_step / hops_at_once, nullptr);
    };
    one(chase<cache_operator::ca>, 0);
    one(chase<cache_operator::cg>, 1);
    one(chase<cache_operator::cs>, 2);
    one(chase<cache_operator::lu>, 3);
    one(chase<cache_operator::cv>, 4);
    one(chase<cache_operator::nc>, 5);
    engine::launch(on, "chase_what_was_written", chase_what_was_written, 1, 1, 0, on.output<std::int32_t>() + 6, chain,
                   on.n, hops_of_a_step / hops_at_once, nullptr);
}

const memory_latencies& here(const engine::evidence& e) { return measured_memory(e.report.device.l2_bytes); }

verdict four_hundred(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(std::abs(t.dram - 400) < 100, number(t.dram, 0) + " cycles from DRAM, " + number(t.l2, 0) +
                                                  " from the L2 cache, " + number(t.l1, 0) + " from the L1 cache");
}

verdict loads_a_cycle(const engine::evidence& e) {
    if (!e.report.device.read_gb_per_s) {
        return unseen("needs the read ceiling");
    }
    int khz = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device));
    const double words = *e.report.device.read_gb_per_s * 1e9 / (khz * 1e3) / 4;
    return seen(std::abs(words - 32) < 4, number(*e.report.device.read_gb_per_s, 0) + " GB/s at " +
                                              number(khz * 1e-3, 0) + " MHz: " + number(words, 0) +
                                              " loads of 32 bits a cycle");
}

verdict bytes_needed(const engine::evidence& e) {
    if (!e.report.device.read_gb_per_s) {
        return unseen("needs the read ceiling");
    }
    int khz = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device));
    const double seconds = here(e).dram / (khz * 1e3);
    const double needed = seconds * *e.report.device.read_gb_per_s * 1e9;
    return seen(needed > 50e3 && needed < 200e3,
                number(seconds * 1e9, 0) + " ns x " + number(*e.report.device.read_gb_per_s, 0) +
                    " GB/s = " + number(needed * 1e-3, 0) + " KB in flight, " +
                    number(needed * 1e-3 / e.report.device.multiprocessors, 1) + " KB on each multiprocessor");
}

verdict through_l2(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(t.after_a_copy.copied < (t.l2 + t.after_a_copy.flushed) / 2,
                number(t.after_a_copy.copied, 0) + " cycles a read of what was just copied from the host, " +
                    number(t.after_a_copy.flushed, 0) + " once the L2 cache was emptied");
}

verdict split(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(t.small_l1 > 1.5 * t.large_l1, "128 KiB: " + number(t.large_l1, 0) +
                                                   " cycles a read with the memory given to the L1 cache, " +
                                                   number(t.small_l1, 0) + " with it given to shared memory");
}

// What a second read of a line takes, against a first level that kept it and a second that did.
engine::check kept_in(cache_operator which, bool in_l1_cache) {
    return timed([which, in_l1_cache](const engine::evidence& e) {
        const auto& t = here(e);
        const double again = t.again[static_cast<std::size_t>(which)];
        const bool first = std::abs(again - t.l1) < std::abs(again - t.l2);
        return seen(first == in_l1_cache, number(again, 0) + " cycles to read a line again by " +
                                              cache_operator_names[static_cast<std::size_t>(which)] + "; L1 " +
                                              number(t.l1, 0) + ", L2 " + number(t.l2, 0));
    });
}

verdict read_only_latency(const engine::evidence& e) {
    const auto& t = here(e);
    const double nc = t.again[static_cast<std::size_t>(cache_operator::nc)];
    const double ca = t.again[static_cast<std::size_t>(cache_operator::ca)];
    return seen(nc > 1.05 * ca,
                number(nc, 0) + " cycles through the read-only path, " + number(ca, 0) + " by an ordinary load");
}

verdict stores_leave_l1(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(std::abs(t.written - t.l2) < std::abs(t.written - t.l1),
                number(t.written, 0) + " cycles to read a line that was read and then written; L1 " + number(t.l1, 0) +
                    ", L2 " + number(t.l2, 0));
}

verdict small_read_only_cache(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(t.large_read_only > 1.5 * t.l1, number(t.large_read_only, 0) +
                                                    " cycles a read by ld.nc of 128 KiB, again and again; L1 " +
                                                    number(t.l1, 0) + ": the two are one cache");
}

verdict mapped_in_l1(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(std::abs(t.mapped - t.l1) < std::abs(t.mapped - t.l2),
                number(t.mapped, 0) + " cycles to read memory of the host again; L1 " + number(t.l1, 0) + ", L2 " +
                    number(t.l2, 0));
}

constexpr const char* source = "ladder/occupancy/03_memory.cu";
constexpr const char* slide = "Parallel patterns, Latency Vs Throughput";
constexpr const char* operators = "380, PTX Cache Operators";

} // namespace

engine::step_definition memory_chains() {
    return {.about = {"chains", "latency of memory", source,
                      "every load needs the address that the one before has read", slide},
            .data = ends_in_memory,
            .run = run_memory,
            .size = [](std::uint64_t n) { return std::bit_floor(std::min<std::uint64_t>(n, 1u << 14)); },
            .scratch_bytes = [](std::uint64_t n) { return n * line_bytes; },
            .claims = {{"memory takes 400 cycles", slide, timed(four_hundred)},
                       {"memory: 177 GB/s, 32 loads of 32 bits a cycle", slide, timed(loads_a_cycle)},
                       {"bytes in flight needed = latency x throughput: 100 KB", "Parallel patterns, How about memory?",
                        timed(bytes_needed)},
                       {"all DRAM accesses go through L2, including copies between CPU and GPU",
                        "380, GPU Memory System", timed(through_l2)},
                       {"the programmer can choose the split of L1 cache and shared memory", "380, L1 Sizing",
                        timed(split)}}};
}

engine::step_definition reload() {
    auto step = memory_chains();
    step.about = {"reload", "a line read again, by operator", source,
                  "what ld.ca, ld.cg, ld.cs, ld.lu, ld.cv and ld.nc leave where", operators};
    step.claims = {
        {".ca: cache at all levels, the default", operators, kept_in(cache_operator::ca, true)},
        {".cg: cache in L2, bypassing the L1 cache", operators, kept_in(cache_operator::cg, false)},
        {".cs: allocates with an evict-first policy in L1 and L2", operators, kept_in(cache_operator::cs, true)},
        {".lu: a cached streaming operation (ld.cs) on global addresses", operators, kept_in(cache_operator::lu, true)},
        {".cv: don't cache and fetch again", operators, kept_in(cache_operator::cv, false)},
        {"the read-only cache always attempts to hit", "380, Read-Only Cache Operation",
         kept_in(cache_operator::nc, true)},
        {"and has a higher latency than L1 reads", "380, Read-Only Cache", timed(read_only_latency)},
        {"aggregate 48 KB per SM: 4 12-KB caches", "380, Read-Only Cache", timed(small_read_only_cache)},
        {"stores are not cached in the SM: invalidate the line in L1, go to L2", "380, GMEM Writes",
         timed(stores_leave_l1)},
        {"mapped CPU memory takes the L1 path", "380, Access Path", timed(mapped_in_l1)}};
    return step;
}

} // namespace warpfold::ladder::occupancy

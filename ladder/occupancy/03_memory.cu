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

#include "ladder/occupancy/definition/cycles.hpp"
#include "ladder/occupancy/definition/figures.hpp"
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

// Through three chains, which one L1 cache cannot hold together: the second by Operator, the others by ld.ca; then the second
// once more, timed. The oldest lines are those of the first chain.
template <cache_operator Operator>
__global__ void chase_between(std::int32_t* out, const std::byte* first, std::uint64_t lines_of_first,
                              const std::byte* second, std::uint64_t lines, const std::byte* third,
                              std::uint64_t lines_of_third, std::int64_t* cycles) {
    const auto through = [](auto follow_one, const std::byte* at, std::uint64_t hops) {
#pragma unroll 1
        for (std::uint64_t k = 0; k < hops; ++k) {
            at = follow_one(at);
        }
        return at;
    };
    const auto by_ca = [](const std::byte* at) { return follow<cache_operator::ca>(at); };
    const std::byte* const end_of_first = through(by_ca, first, lines_of_first);
    const std::byte* const again = through([](const std::byte* at) { return follow<Operator>(at); }, second, lines);
    const std::byte* const end_of_third = through(by_ca, third, lines_of_third);
    const std::int64_t begin = clock64();
    const std::byte* const end_of_second = through(by_ca, again, lines);
    *cycles = clock64() - begin;
    *out = static_cast<std::int32_t>((end_of_first - first) + (end_of_second - second) + (end_of_third - third));
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

// 128, 64 and 128 KiB, all memory given to the L1 cache: more than its 256 KiB at most, and without the first chain less.
template <cache_operator Operator>
double latency_between(stopwatch_in_cycles& watch, std::byte* memory) {
    constexpr std::uint64_t lines[] = {1024, 512, 1024};
    std::byte* const chains[] = {memory, memory + (1u << 20), memory + (2u << 20)};
    for (std::size_t k = 0; k < std::size(lines); ++k) {
        make_chain(watch.stream().handle(), chains[k], lines[k]);
    }
    const auto kernel = chase_between<Operator>;
    WARPFOLD_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    return watch.each(
        static_cast<unsigned>(lines[1]) / hops_at_once, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            kernel<<<1, 1, 0, on>>>(out, chains[0], lines[0], chains[1], lines[1], chains[2], lines[2], cycles);
        });
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
    all.kept_ca = latency_between<cache_operator::ca>(watch, chain);
    all.kept_cs = latency_between<cache_operator::cs>(watch, chain);
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

const memory_latencies& here(const engine::evidence& e) { return memory_of(e); }

verdict four_hundred(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(std::abs(t.dram - 400) < 100, number(t.dram, 0) + " cycles from DRAM, " + number(t.l2, 0) +
                                                  " from the L2 cache, " + number(t.l1, 0) + " from the L1 cache");
}

verdict loads_a_cycle(const engine::evidence& e) {
    if (!e.report.device.read_gb_per_s) {
        return unseen("needs the read ceiling");
    }
    const double words = *e.report.device.read_gb_per_s * 1e9 / clock_of(e) / 4;
    return seen(std::abs(words - 32) < 4, number(*e.report.device.read_gb_per_s, 0) + " GB/s at " +
                                              number(clock_of(e) * 1e-6, 0) + " MHz: " + number(words, 0) +
                                              " loads of 32 bits a cycle");
}

verdict bytes_needed(const engine::evidence& e) {
    if (!e.report.device.read_gb_per_s) {
        return unseen("needs the read ceiling");
    }
    const double seconds = here(e).dram / clock_of(e);
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

// What a second read of a line takes, against a first level that kept it and a second that did. Refuted by the other level's.
template <cache_operator Which, bool InL1>
engine::check kept_in() {
    const engine::check closer = [](const engine::evidence& e) {
        const auto& t = here(e);
        const double again = t.again[static_cast<std::size_t>(Which)];
        const bool first = std::abs(again - t.l1) < std::abs(again - t.l2);
        return seen(first == InL1, number(again, 0) + " cycles to read a line again by " +
                                       cache_operator_names[static_cast<std::size_t>(Which)] + "; L1 " +
                                       number(t.l1, 0) + ", L2 " + number(t.l2, 0));
    };
    return timed(closer.refuted_by(h200_with(InL1 ? "a line found in L2" : "a line found in L1", [](figures& f) {
        f.memory.again[static_cast<std::size_t>(Which)] = InL1 ? f.memory.l2 : f.memory.l1;
    })));
}

verdict evict_first(const engine::evidence& e) {
    const auto& t = here(e);
    return seen(t.kept_cs > 1.5 * t.kept_ca,
                number(t.kept_cs, 0) +
                    " cycles to read lines again that were read by ld.cs between others that fill L1, " +
                    number(t.kept_ca, 0) + " by ld.ca");
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
    return {
        .about = {"chains", "latency of memory", source, "every load needs the address that the one before has read",
                  slide},
        .data = ends_in_memory,
        .run = run_memory,
        .size = [](std::uint64_t n) { return std::bit_floor(std::min<std::uint64_t>(n, 1u << 14)); },
        .scratch_bytes = [](std::uint64_t n) { return n * line_bytes; },
        .claims = {{"memory takes 400 cycles", slide, timed(engine::check(four_hundred).refuted_by(an_h200()))},
                   {"memory: 177 GB/s, 32 loads of 32 bits a cycle", slide,
                    timed(engine::check(loads_a_cycle).refuted_by(an_h200()))},
                   {"bytes in flight needed = latency x throughput: 100 KB", "Parallel patterns, How about memory?",
                    timed(engine::check(bytes_needed).refuted_by(an_h200()))},
                   {"all DRAM accesses go through L2, including copies between CPU and GPU", "380, GPU Memory System",
                    timed(engine::check(through_l2)
                              .refuted_by(h200_with(
                                  "as slow as from DRAM",
                                  [](figures& f) { f.memory.after_a_copy.copied = f.memory.after_a_copy.flushed; })))},
                   {"the programmer can choose the split of L1 cache and shared memory", "380, L1 Sizing",
                    timed(engine::check(split).refuted_by(
                        h200_with("one split for both", [](figures& f) { f.memory.small_l1 = f.memory.large_l1; })))}}};
}

engine::step_definition reload() {
    auto step = memory_chains();
    step.about = {"reload", "a line read again, by operator", source,
                  "what ld.ca, ld.cg, ld.cs, ld.lu, ld.cv and ld.nc leave where", operators};
    step.claims = {
        {".ca: cache at all levels, the default", operators, kept_in<cache_operator::ca, true>()},
        {".cg: cache in L2, bypassing the L1 cache", operators, kept_in<cache_operator::cg, false>()},
        {".cs: allocates global lines in L1", operators, kept_in<cache_operator::cs, true>()},
        {".cs: with evict-first policy in L1", operators,
         timed(engine::check(evict_first)
                   .refuted_by(h200_with("as long kept as by ld.ca",
                                         [](figures& f) { f.memory.kept_cs = f.memory.kept_ca = f.memory.l1; })))},
        {".lu: a cached streaming operation (ld.cs) on global addresses", operators,
         kept_in<cache_operator::lu, true>()},
        {".cv: don't cache and fetch again", operators, kept_in<cache_operator::cv, false>()},
        {"the read-only cache always attempts to hit", "380, Read-Only Cache Operation",
         kept_in<cache_operator::nc, true>()},
        {"and has a higher latency than L1 reads", "380, Read-Only Cache",
         timed(engine::check(read_only_latency).refuted_by(an_h200()))},
        {"aggregate 48 KB per SM: 4 12-KB caches", "380, Read-Only Cache",
         timed(engine::check(small_read_only_cache).refuted_by(an_h200()))},
        {"stores are not cached in the SM: invalidate the line in L1, go to L2", "380, GMEM Writes",
         timed(engine::check(stores_leave_l1).refuted_by(an_h200()))},
        {"mapped CPU memory takes the L1 path", "380, Access Path",
         timed(engine::check(mapped_in_l1).refuted_by(h200_with("as slow as from L2", [](figures& f) {
             f.memory.mapped = f.memory.l2;
         })))}};
    return step;
}

} // namespace warpfold::ladder::occupancy

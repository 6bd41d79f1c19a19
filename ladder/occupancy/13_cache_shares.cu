// SPDX-License-Identifier: MIT
// What caches give: bytes a second from each level, a thread's share of them, and whether a multiprocessor's warps have one
// cache or four. (380 "Compute Capab. 3.x (Kepler, Part 2)", "Caching vs Non-caching Loads", "Blocking for L1, Read-only, L2
// Caches", "Read-Only Cache"; 759 "What is Our Optimization Goal?".)
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/cycles.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned block = 1024;
constexpr unsigned words_of_a_block = 8192; // 32 KiB: they stay in an L1 cache

// Each block sums its part of `words` words, `rounds` times over; parts begin where the blocks before end, and start again
// behind the last.
template <bool InL1>
__global__ void read_again_and_again(int* sums, const int* data, std::uint64_t words, unsigned rounds) {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * words_of_a_block % words;
    int sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned k = 0; k < words_of_a_block / block; ++k) {
            // Each round begins elsewhere: ptxas makes one load of two that it knows to be of one address.
            const int* const at = data + first + (k * block + threadIdx.x + 32 * round) % words_of_a_block;
            int value = 0;
            if constexpr (InL1) {
                asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(value) : "l"(at));
            } else {
                asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value) : "l"(at));
            }
            sum += value;
        }
    }
#pragma unroll
    for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, lanes);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums + blockIdx.x, sum);
    }
}

constexpr unsigned rounds_of_the_step = 2;

engine::sample sums_of_parts(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    for (std::uint64_t first = 0; first < n; first += words_of_a_block) {
        std::int32_t sum = 0;
        for (unsigned k = 0; k < words_of_a_block; ++k) {
            sum += in[first + k];
        }
        right.push_back(static_cast<std::int32_t>(rounds_of_the_step) * sum);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_parts(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto blocks = static_cast<unsigned>(on.n / words_of_a_block);
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, blocks * sizeof(int), on.stream));
    engine::launch(on, "read_again_and_again", read_again_and_again<true>, blocks, block, 0, on.output<int>(),
                   on.input<int>(), on.n, rounds_of_the_step);
}

int attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

// Bytes a second of all multiprocessors: of 32 KiB each, and of 16 MiB that all of them read.
struct rates {
    double l1 = 0, l2 = 0;
};
const rates& measured_rates(unsigned multiprocessors) {
    static const rates all = [multiprocessors] {
        const unsigned blocks = 2 * multiprocessors;
        const std::uint64_t words = 512 * std::uint64_t{words_of_a_block}; // 16 MiB
        const measure::device_memory data(words * sizeof(int));
        const measure::device_memory sums(16384 * sizeof(int));
        const measure::stream on;
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(data.data(), 0, data.bytes(), on.handle()));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(sums.data(), 0, sums.bytes(), on.handle()));
        const auto rate = [&](auto kernel, unsigned grid, unsigned rounds) {
            const measure::event begin;
            const measure::event end;
            double best = std::numeric_limits<double>::max();
            for (int sample = 0; sample < 5; ++sample) {
                begin.record(on.handle());
                kernel<<<grid, block, 0, on.handle()>>>(static_cast<int*>(sums.data()),
                                                        static_cast<const int*>(data.data()), words, rounds);
                end.record(on.handle());
                end.synchronize();
                WARPFOLD_CUDA_CHECK(cudaGetLastError());
                best = std::min(best, end.seconds_since(begin));
            }
            return double{words_of_a_block} * sizeof(int) * grid * rounds / best;
        };
        return rates{rate(read_again_and_again<true>, blocks, 2000), rate(read_again_and_again<false>, 16384, 1)};
    }();
    return all;
}

unsigned multiprocessors_of(const engine::evidence& e) {
    return static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
}

// Bytes a second of each level; bytes a cycle and multiprocessor of L1 and of shared memory.
struct level_rates {
    rates cached;
    double dram = 0;
    double l1_a_cycle = 0, shared_a_cycle = 0;
};
level_rates measure_levels(const engine::evidence& e) {
    const auto& r = measured_rates(multiprocessors_of(e));
    return {r, e.report.device.read_gb_per_s.value_or(0) * 1e9, r.l1 / clock_of(e) / multiprocessors_of(e),
            rate_of(e).shared_bytes};
}
constexpr level_rates of_an_h200{{13232e9, 4520e9}, 4558e9, 51, 127};

verdict throughput_by_level(const engine::evidence& /*e*/, const level_rates& r) {
    return seen(r.cached.l1 > 1.2 * r.cached.l2 && r.cached.l2 > 1.2 * r.dram,
                number(r.cached.l1 * 1e-9, 0) + " GB/s where all loads hit in L1, " + number(r.cached.l2 * 1e-9, 0) +
                    " where they hit in L2, " + number(r.dram * 1e-9, 0) + " from DRAM");
}

verdict shared_is_as_fast(const engine::evidence& /*e*/, const level_rates& r) {
    return seen(r.shared_a_cycle > 0.95 * r.l1_a_cycle, number(r.shared_a_cycle, 0) +
                                                            " bytes a cycle and multiprocessor from shared memory, " +
                                                            number(r.l1_a_cycle, 0) + " from the L1 cache");
}

struct sharing_threads {
    std::uint64_t of_l1 = 0, of_l2 = 0;
};
verdict many_share(const engine::evidence& e) {
    sharing_threads t;
    if (const auto* const given = e.given<sharing_threads>()) {
        t = *given;
    } else {
        t.of_l1 = static_cast<std::uint64_t>(attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
        t.of_l2 = t.of_l1 * multiprocessors_of(e);
    }
    return seen(t.of_l1 >= 100 && t.of_l2 >= 1000,
                std::to_string(t.of_l1) + " threads share an L1 cache, " + std::to_string(t.of_l2) + " the L2 cache: " +
                    number(static_cast<double>(e.report.device.l2_bytes) / static_cast<double>(t.of_l2), 0) +
                    " bytes of it for each");
}

struct memory_bus {
    double bits = 0, megahertz = 0, reached = 0; // bytes a second that a kernel reads
};
memory_bus measure_bus(const engine::evidence& e) {
    return {static_cast<double>(attribute(cudaDevAttrGlobalMemoryBusWidth)),
            attribute(cudaDevAttrMemoryClockRate) * 1e-3, e.report.device.read_gb_per_s.value_or(0) * 1e9};
}
verdict peak_by_clock(const engine::evidence& /*e*/, const memory_bus& b) {
    const double peak = b.bits * b.megahertz * 1e6 * 2 / 8;
    return seen(b.reached > 0.8 * peak && b.reached <= peak,
                number(b.bits, 0) + " bits x " + number(b.megahertz, 0) + " MHz x 2 / 8 = " + number(peak * 1e-9, 0) +
                    " GB/s; the best that a kernel reads is " + number(b.reached * 1e-9, 0) + ", " +
                    number(100 * b.reached / peak, 0) + " %");
}

// Four warps, one for each scheduler: the first goes through a chain by ld.nc, then each other, alone, and timed.
constexpr unsigned lines = 64; // 8 KiB
__global__ void after_another_warp(const std::byte* chain, std::int64_t* cycles) {
    const unsigned warp = threadIdx.x / 32;
    for (unsigned turn = 0; turn < blockDim.x / 32; ++turn) {
        if (warp == turn && threadIdx.x % 32 == 0) {
            const std::byte* at = chain;
            const std::int64_t begin = clock64();
#pragma unroll 1
            for (unsigned k = 0; k < lines; ++k) {
                asm volatile("ld.global.nc.u64 %0, [%0];" : "+l"(at) : : "memory");
            }
            cycles[warp] = clock64() - begin + (at == chain ? 0 : 1);
        }
        __syncthreads();
    }
}
__global__ void link_lines(std::byte* chain) {
    *reinterpret_cast<const void**>(chain + threadIdx.x * line_bytes) =
        chain + next_line(threadIdx.x, lines) * line_bytes;
}

struct warps_in_turn {
    std::vector<double> cycles; // a read of each warp
    double l1 = 0, l2 = 0;
};
warps_in_turn measure_warps(const engine::evidence& e) {
    const measure::device_memory chain(lines * line_bytes);
    const measure::device_memory cycles(4 * sizeof(std::int64_t));
    auto* const at = static_cast<std::byte*>(chain.data());
    link_lines<<<1, lines>>>(at);
    after_another_warp<<<1, 128>>>(at, static_cast<std::int64_t*>(cycles.data()));
    std::int64_t taken[4] = {};
    WARPFOLD_CUDA_CHECK(cudaMemcpy(taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
    std::vector<double> each;
    for (const std::int64_t t : taken) {
        each.push_back(static_cast<double>(t) / lines);
    }
    return {each, memory_of(e).l1, memory_of(e).l2};
}

verdict cache_of_a_scheduler(const engine::evidence& /*e*/, const warps_in_turn& t) {
    const double others = *std::max_element(t.cycles.begin() + 1, t.cycles.end());
    const bool own = std::abs(others - t.l2) < std::abs(others - t.l1);
    return seen(own, "cycles a read by ld.nc of four warps, one after the other: " + list(t.cycles, 0) +
                         (own ? "" : ": what one has fetched the others find"));
}

constexpr const char* blocking = "380, Blocking for L1, Read-only, L2 Caches";

} // namespace

engine::step_definition cache_shares() {
    return {
        .about = {"caches", "what caches give", "ladder/occupancy/13_cache_shares.cu",
                  "words read again and again, from L1, from L2, from DRAM", blocking, false, "reload"},
        .data = sums_of_parts,
        .run = run_parts,
        .size =
            [](std::uint64_t n) { return std::clamp<std::uint64_t>(n / words_of_a_block, 1, 64) * words_of_a_block; },
        .claims = {{"a cache line request is serviced at the throughput of L1 or L2 in case of a hit, or at the "
                    "throughput "
                    "of device memory",
                    "380, Compute Capab. 3.x (Kepler, Part 2)",
                    engine::measured(measure_levels, throughput_by_level)
                        .refuted_by(engine::figures_in_place("the rates of an H200", of_an_h200))},
                   {"if it is possible to block for L1 then it is possible to block for SMEM: same or higher bandwidth",
                    blocking,
                    engine::measured(measure_levels, shared_is_as_fast)
                        .refuted_by(engine::figures_in_place("half the rate of L1",
                                                             level_rates{{13232e9, 4520e9}, 4558e9, 127, 64}))},
                   {"100s of threads sharing the same L1, 1000s of threads sharing the same L2",
                    "380, Caching vs Non-caching Loads",
                    engine::check(many_share)
                        .refuted_by(engine::figures_in_place("threads of a host", sharing_threads{2, 64}))},
                   {"one 12-KB cache per scheduler: warps assigned to a scheduler refer to only that cache",
                    "380, Read-Only Cache",
                    engine::measured(measure_warps, cache_of_a_scheduler)
                        .refuted_by(engine::figures_in_place("the cycles of an H200",
                                                             warps_in_turn{{405, 39, 39, 39}, 32, 280}))},
                   {"peak bandwidth: 384 bits x 900 MHz x 2 / 8 = 86.4 GB/s", "759, What is Our Optimization Goal?",
                    engine::measured(measure_bus, peak_by_clock)
                        .refuted_by(engine::figures_in_place("half of the formula", memory_bus{6016, 3201, 2407e9}))}}};
}

} // namespace warpfold::ladder::occupancy

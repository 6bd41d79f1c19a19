// SPDX-License-Identifier: MIT
// Latency of memory: chains of addresses, each read from where the one before points to, in every memory and by every cache
// operator. (Parallel patterns "Latency Vs Throughput", "Constant Memory"; 759 "Shared Memory Bank Conflicts"; 587 "Shared
// Memory Bank Conflicts"; 380 "PTX Cache Operators", "GPU Memory System", "L1 Sizing", "Read-Only Cache".)
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "ladder/occupancy/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"
#include "measure/flush.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr unsigned hops_of_a_step = 64;
constexpr unsigned hops_at_once = 8; // written out in the loop

// Line i points to line 1,664,525 i + 1,013,904,223 of `lines`, a power of two: one cycle through all of them.
__host__ __device__ std::uint64_t next_line(std::uint64_t i, std::uint64_t lines) {
    return (1664525 * i + 1013904223) & (lines - 1);
}

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

// A warp in shared memory, where each word holds its own place: `ways` lanes meet at each bank that is used.
constexpr unsigned shared_words = 1024;
__global__ void chase_shared(std::int32_t* out, unsigned lanes, unsigned ways, unsigned rounds, std::int64_t* cycles) {
    __shared__ unsigned words[shared_words];
    for (unsigned k = threadIdx.x; k < shared_words; k += blockDim.x) {
        words[k] = k * static_cast<unsigned>(sizeof(unsigned));
    }
    __syncthreads();
    const auto* const begin_of_words = reinterpret_cast<const volatile std::byte*>(words);
    unsigned at = ways * threadIdx.x % shared_words * static_cast<unsigned>(sizeof(unsigned));
    const std::int64_t begin = clock64();
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < hops_at_once; ++u) {
            at = *reinterpret_cast<const volatile unsigned*>(begin_of_words + at);
        }
    }
    const std::int64_t end = clock64();
    if (threadIdx.x < lanes) {
        out[threadIdx.x] = static_cast<std::int32_t>(at / sizeof(unsigned));
    }
    if (cycles != nullptr && threadIdx.x == 0) {
        *cycles = end - begin;
    }
}

// The same in constant memory, all lanes at one word, which points to another: 1 KiB of them.
constexpr unsigned constant_words = 256;
__constant__ unsigned constants[constant_words];
__global__ void chase_constant(std::int32_t* out, unsigned lanes, unsigned rounds, std::int64_t* cycles) {
    unsigned at = 0;
    const auto* const words = reinterpret_cast<const std::byte*>(constants);
    std::int64_t begin = 0;
#pragma unroll 1
    for (unsigned pass = 0; pass < 2; ++pass) { // the first brings them into the cache
        begin = clock64();
#pragma unroll 1
        for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
            for (unsigned u = 0; u < hops_at_once; ++u) {
                at = *reinterpret_cast<const unsigned*>(words + at);
            }
        }
    }
    const std::int64_t end = clock64();
    if (threadIdx.x < lanes) {
        out[threadIdx.x] = static_cast<std::int32_t>(at / sizeof(unsigned));
    }
    if (cycles != nullptr && threadIdx.x == 0) {
        *cycles = end - begin;
    }
}

std::vector<std::uint32_t> constant_links() {
    std::vector<std::uint32_t> words;
    for (std::uint64_t k = 0; k < constant_words; ++k) {
        words.push_back(static_cast<std::uint32_t>(next_line(k, constant_words) * sizeof(unsigned)));
    }
    return words;
}

// One thread adds 1 and waits for what was there before: in global memory, or in shared memory.
template <bool Shared>
__global__ void chase_atomics(std::int32_t* out, int* global, unsigned none, unsigned rounds, std::int64_t* cycles) {
    __shared__ int word;
    int* const target = Shared ? &word : global;
    *target = 0;
    __threadfence();
    int seen_before = 0;
    const std::int64_t begin = clock64();
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < hops_at_once; ++u) {
            seen_before = atomicAdd(target + (static_cast<unsigned>(seen_before) & none), 1);
        }
    }
    const std::int64_t end = clock64();
    *out = seen_before;
    if (cycles != nullptr) {
        *cycles = end - begin;
    }
}

// Runs what leaves its cycles, three times; cycles of the fastest for each hop.
class stopwatch_in_cycles {
public:
    template <class Launch>
    double each(unsigned rounds, Launch launch) {
        std::int64_t best = 0;
        for (int sample = 0; sample < 3; ++sample) {
            launch(on_.handle(), static_cast<std::int32_t*>(out_.data()), static_cast<std::int64_t*>(cycles_.data()));
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            on_.synchronize();
            std::int64_t taken = 0;
            WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles_.data(), sizeof taken, cudaMemcpyDeviceToHost));
            best = best == 0 ? taken : std::min(best, taken);
        }
        return static_cast<double>(best) / (static_cast<double>(rounds) * hops_at_once);
    }
    [[nodiscard]] const measure::stream& stream() const { return on_; }

private:
    measure::stream on_;
    measure::device_memory out_{1024}, cycles_{sizeof(std::int64_t)};
};

void make_chain(cudaStream_t on, std::byte* chain, std::uint64_t lines) {
    link<<<static_cast<unsigned>(frame::divide_up(lines, 256)), 256, 0, on>>>(chain, lines);
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
    const auto shared = [&](unsigned ways) {
        return watch.each(128, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            chase_shared<<<1, 32, 0, on>>>(out, 32, ways, 128, cycles);
        });
    };
    all.shared = shared(1);
    all.shared_two_way = shared(2);
    all.shared_worst = shared(32);
    const auto links = constant_links();
    WARPFOLD_CUDA_CHECK(cudaMemcpyToSymbol(constants, links.data(), sizeof constants));
    all.constant = watch.each(128, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
        chase_constant<<<1, 32, 0, on>>>(out, 32, 128, cycles);
    });
    const auto atomics = [&](auto kernel) {
        return watch.each(32, [&](cudaStream_t on, std::int32_t* out, std::int64_t* cycles) {
            kernel<<<1, 1, 0, on>>>(out, static_cast<int*>(memory.data()), 0, 32, cycles);
        });
    };
    all.shared_atomic = atomics(chase_atomics<true>);
    all.global_atomic = atomics(chase_atomics<false>);
    measure_copied(watch, chain, l2_bytes, all.after_a_copy);
    // All of the memory that L1 and shared memory have in common for the one, or for the other.
    for (const int share : {0, 100}) {
        WARPFOLD_CUDA_CHECK(
            cudaFuncSetAttribute(chase<cache_operator::ca>, cudaFuncAttributePreferredSharedMemoryCarveout, share));
        (share == 0 ? all.large_l1 : all.small_l1) = chain_latency<cache_operator::ca>(watch, chain, 128 * 1024, true);
    }
    WARPFOLD_CUDA_CHECK(cudaFuncSetAttribute(chase<cache_operator::ca>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                             cudaSharedmemCarveoutDefault));
    return all;
}

} // namespace

const memory_latencies& measured_memory(std::uint64_t l2_bytes) {
    static const memory_latencies all = measure_all(l2_bytes);
    return all;
}

namespace {

frame::sample ends_in_memory(std::uint64_t lines, std::uint64_t /*seed*/) {
    if (lines == 0) {
        return {};
    }
    std::uint64_t at = 0;
    for (unsigned k = 0; k < hops_of_a_step; ++k) {
        at = next_line(at, lines);
    }
    return {lines,
            {},
            frame::bytes_of(std::vector<std::int32_t>(cache_operator_names.size(), static_cast<std::int32_t>(at)))};
}

void run_memory(const frame::stage& on) {
    if (on.n == 0) {
        return;
    }
    auto* const chain = on.temporary<std::byte>();
    frame::launch(on, "link", link, static_cast<unsigned>(frame::divide_up(on.n, 256)), 256, 0, chain, on.n);
    const auto one = [&](auto kernel, unsigned place) {
        frame::launch(on, "chase", kernel, 1, 1, 0, on.output<std::int32_t>() + place, chain, 0, 0,
                      hops_of_a_step / hops_at_once, nullptr);
    };
    one(chase<cache_operator::ca>, 0);
    one(chase<cache_operator::cg>, 1);
    one(chase<cache_operator::cs>, 2);
    one(chase<cache_operator::lu>, 3);
    one(chase<cache_operator::cv>, 4);
    one(chase<cache_operator::nc>, 5);
}

// Three chains in shared memory, with 1, 2 and 32 lanes at each bank, and one in constant memory, for n lanes.
constexpr unsigned ways_tried[] = {1, 2, 32};
frame::sample ends_on_chip(std::uint64_t lanes, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right;
    for (const unsigned ways : ways_tried) {
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
            right.push_back(static_cast<std::int32_t>(ways * lane % shared_words));
        }
    }
    std::uint64_t at = 0;
    for (unsigned k = 0; k < 2 * hops_of_a_step; ++k) {
        at = next_line(at, constant_words);
    }
    right.insert(right.end(), lanes, static_cast<std::int32_t>(at));
    return {lanes, {frame::bytes_of(constant_links())}, frame::bytes_of(right)};
}

void run_on_chip(const frame::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto lanes = static_cast<unsigned>(on.n);
    std::int32_t* out = on.output<std::int32_t>();
    for (const unsigned ways : ways_tried) {
        frame::launch(on, "chase_shared", chase_shared, 1, 32, 0, out, lanes, ways, hops_of_a_step / hops_at_once,
                      nullptr);
        out += lanes;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(constants, on.in[0], sizeof constants, 0, cudaMemcpyDeviceToDevice, on.stream));
    frame::launch(on, "chase_constant", chase_constant, 1, 32, 0, out, lanes, hops_of_a_step / hops_at_once, nullptr);
}

frame::sample counted_twice(std::uint64_t n, std::uint64_t /*seed*/) {
    if (n == 0) {
        return {};
    }
    const auto last = static_cast<std::int32_t>(hops_of_a_step - 1);
    return {n, {}, frame::bytes_of(std::vector<std::int32_t>{last, last})};
}

void run_atomics(const frame::stage& on) {
    if (on.n == 0) {
        return;
    }
    std::int32_t* const out = on.output<std::int32_t>();
    int* const word = on.temporary<int>();
    frame::launch(on, "chase_atomics", chase_atomics<true>, 1, 1, 0, out, word, 0, hops_of_a_step / hops_at_once,
                  nullptr);
    frame::launch(on, "chase_atomics", chase_atomics<false>, 1, 1, 0, out + 1, word, 0, hops_of_a_step / hops_at_once,
                  nullptr);
}

const memory_latencies& here(const frame::evidence& e) { return measured_memory(e.report.device.l2_bytes); }

verdict four_hundred(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(std::abs(t.dram - 400) < 100, number(t.dram, 0) + " cycles from DRAM, " + number(t.l2, 0) +
                                                  " from the L2 cache, " + number(t.l1, 0) + " from the L1 cache");
}

verdict loads_a_cycle(const frame::evidence& e) {
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

verdict bytes_needed(const frame::evidence& e) {
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

verdict through_l2(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.after_a_copy.copied < (t.l2 + t.after_a_copy.flushed) / 2,
                number(t.after_a_copy.copied, 0) + " cycles a read of what was just copied from the host, " +
                    number(t.after_a_copy.flushed, 0) + " once the L2 cache was emptied");
}

verdict split(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.small_l1 > 1.5 * t.large_l1, "128 KiB: " + number(t.large_l1, 0) +
                                                   " cycles a read with the memory given to the L1 cache, " +
                                                   number(t.small_l1, 0) + " with it given to shared memory");
}

verdict hundred_times(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.dram > 50 * t.shared, number(t.shared, 0) + " cycles from shared memory, " + number(t.dram, 0) +
                                            " from DRAM: " + number(t.dram / t.shared, 0) + "x");
}

verdict slower_than_registers(const frame::evidence& e) {
    return seen(here(e).shared > measured_arithmetic().float32,
                number(here(e).shared, 0) + " cycles a load from shared memory; an operation on registers takes " +
                    number(measured_arithmetic().float32, 0));
}

verdict doubled(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.shared_two_way >= 2 * t.shared, number(t.shared, 1) + " cycles without a conflict, " +
                                                      number(t.shared_two_way, 1) + " with two lanes at each bank, " +
                                                      number(t.shared_worst, 1) + " with 32: each more costs " +
                                                      number((t.shared_worst - t.shared) / 31, 1));
}

verdict constant_is_cached(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.constant < t.l1 && t.constant < t.dram / 4,
                number(t.constant, 0) + " cycles from constant memory once it is in its cache; global memory " +
                    number(t.l1, 0) + " from the L1 cache, " + number(t.dram, 0) + " from DRAM");
}

verdict constant_size(const frame::evidence& /*e*/) {
    int bytes = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrTotalConstantMemory, device));
    return seen(bytes > 0, std::to_string(bytes / 1024) + " KiB of constant memory on this device");
}

// What a second read of a line takes, against a first level that kept it and a second that did.
frame::check kept_in(cache_operator which, bool in_l1_cache) {
    return timed([which, in_l1_cache](const frame::evidence& e) {
        const auto& t = here(e);
        const double again = t.again[static_cast<std::size_t>(which)];
        const bool first = std::abs(again - t.l1) < std::abs(again - t.l2);
        return seen(first == in_l1_cache, number(again, 0) + " cycles to read a line again by " +
                                              cache_operator_names[static_cast<std::size_t>(which)] + "; L1 " +
                                              number(t.l1, 0) + ", L2 " + number(t.l2, 0));
    });
}

verdict read_only_latency(const frame::evidence& e) {
    const auto& t = here(e);
    const double nc = t.again[static_cast<std::size_t>(cache_operator::nc)];
    const double ca = t.again[static_cast<std::size_t>(cache_operator::ca)];
    return seen(nc > 1.05 * ca,
                number(nc, 0) + " cycles through the read-only path, " + number(ca, 0) + " by an ordinary load");
}

verdict few_hundred(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.global_atomic > 200 && t.global_atomic < 2 * t.dram,
                number(t.global_atomic, 0) +
                    " cycles an atomic addition to global memory that waits for the one before");
}

verdict atomics_from_l2(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.global_atomic < t.dram + t.l2, number(t.global_atomic, 0) + " cycles, a read from DRAM alone " +
                                                     number(t.dram, 0) + ", from L2 " + number(t.l2, 0));
}

verdict atomics_in_shared(const frame::evidence& e) {
    const auto& t = here(e);
    return seen(t.shared_atomic < t.global_atomic / 2,
                number(t.shared_atomic, 0) + " cycles in shared memory, " + number(t.global_atomic, 0) +
                    " in global memory: " + number(t.global_atomic / t.shared_atomic, 1) + "x");
}

constexpr const char* source = "ladder/occupancy/03_memory.cu";
constexpr const char* slide = "Parallel patterns, Latency Vs Throughput";
constexpr const char* operators = "380, PTX Cache Operators";

} // namespace

frame::step_definition memory_chains() {
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

frame::step_definition shared_chains() {
    return {.about = {"on chip", "latency of shared and constant memory", source,
                      "the same in shared memory, with conflicts and without, and in constant memory",
                      "759, Shared Memory Bank Conflicts"},
            .data = ends_on_chip,
            .run = run_on_chip,
            .size = frame::at_most(32),
            .claims = {{"latency is roughly 100x lower than global memory latency", "759, Shared Memory Bank Conflicts",
                        timed(hundred_times)},
                       {"fast, but not as fast as register access", "759, Shared Memory Bank Conflicts",
                        timed(slower_than_registers)},
                       {"a bank conflict at least doubles the shared memory latency",
                        "587, Shared Memory Bank Conflicts", timed(doubled)},
                       {"constant memory is aggressively cached, and assumed faster than global memory",
                        "Parallel patterns, Mask M and Constant Memory", timed(constant_is_cached)},
                       {"the size of constant memory can vary from device to device",
                        "Parallel patterns, Constant Memory", constant_size}}};
}

frame::step_definition reload() {
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
        {"and has a higher latency than L1 reads", "380, Read-Only Cache", timed(read_only_latency)}};
    return step;
}

frame::step_definition atomics() {
    return {.about = {"atomics", "latency of atomic operations", source,
                      "each addition waits for what the last one saw", "Parallel patterns, About Atomic Operations"},
            .data = counted_twice,
            .run = run_atomics,
            .size = frame::at_most(1),
            .scratch_bytes = [](std::uint64_t) { return sizeof(int); },
            .claims = {{"a latency of a few hundred cycles, during which no one else can access the location",
                        "Parallel patterns, About Atomic Operations", timed(few_hundred)},
                       {"shorter latency if serviced from the L2 cache", "Parallel patterns, About Atomic Operations",
                        timed(atomics_from_l2)},
                       {"much shorter latency if the operation is on shared memory",
                        "Parallel patterns, About Atomic Operations", timed(atomics_in_shared)}}};
}

} // namespace warpfold::ladder::occupancy

// SPDX-License-Identifier: MIT
// Latency of shared and of constant memory, with bank conflicts and without, and of atomic operations. (759 and 587 "Shared
// Memory Bank Conflicts"; parallel patterns "Mask M and Constant Memory", "About Atomic Operations".)
#include <algorithm>
#include <vector>

#include "ladder/occupancy/cycles.hpp"
#include "ladder/occupancy/figures.hpp"
#include "ladder/occupancy/steps.hpp"

namespace warpfold::ladder::occupancy {

namespace {

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

// Every thread adds `times` times to the word of its lane, each block to words of its own: in global memory, or in shared memory
// and once to global memory at the end.
constexpr unsigned adding_threads = 256;
template <bool Shared>
__global__ void add_atomically(int* global, unsigned times) {
    __shared__ int words[32];
    if (threadIdx.x < 32) {
        words[threadIdx.x] = 0;
    }
    __syncthreads();
    int* const own = global + 32 * blockIdx.x + threadIdx.x % 32;
#pragma unroll 1
    for (unsigned k = 0; k < times; ++k) {
        atomicAdd(Shared ? words + threadIdx.x % 32 : own, 1);
    }
    __syncthreads();
    if (Shared && threadIdx.x < 32) {
        atomicAdd(own, words[threadIdx.x]);
    }
}

// Additions a second of a whole device.
template <bool Shared>
double atomic_rate(const measure::stream& on, int* memory) {
    constexpr unsigned times = 256;
    constexpr unsigned blocks = 1024;
    const measure::event begin;
    const measure::event end;
    double best = 0;
    for (int sample = 0; sample < 3; ++sample) {
        begin.record(on.handle());
        add_atomically<Shared><<<blocks, adding_threads, 0, on.handle()>>>(memory, times);
        end.record(on.handle());
        end.synchronize();
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        best = std::max(best, double{blocks} * adding_threads * times / end.seconds_since(begin));
    }
    return best;
}

on_chip_latencies measure_all() {
    on_chip_latencies all;
    stopwatch_in_cycles watch;
    const measure::device_memory memory(std::size_t{1} << 20);
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
    all.shared_atomic_rate = atomic_rate<true>(watch.stream(), static_cast<int*>(memory.data()));
    all.global_atomic_rate = atomic_rate<false>(watch.stream(), static_cast<int*>(memory.data()));
    return all;
}

} // namespace

const on_chip_latencies& measured_on_chip() {
    static const on_chip_latencies all = measure_all();
    return all;
}

namespace {

// Three chains in shared memory, with 1, 2 and 32 lanes at each bank, and one in constant memory, for n lanes.
constexpr unsigned ways_tried[] = {1, 2, 32};
engine::sample ends_on_chip(std::uint64_t lanes, std::uint64_t /*seed*/) {
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
    return {lanes, {engine::bytes_of(constant_links())}, engine::bytes_of(right)};
}

void run_on_chip(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto lanes = static_cast<unsigned>(on.n);
    std::int32_t* out = on.output<std::int32_t>();
    for (const unsigned ways : ways_tried) {
        engine::launch(on, "chase_shared", chase_shared, 1, 32, 0, out, lanes, ways, hops_of_a_step / hops_at_once,
                       nullptr);
        out += lanes;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(constants, on.in[0], sizeof constants, 0, cudaMemcpyDeviceToDevice, on.stream));
    engine::launch(on, "chase_constant", chase_constant, 1, 32, 0, out, lanes, hops_of_a_step / hops_at_once, nullptr);
}

// What the last addition of either chain saw; then the words of n blocks that add in global memory, and in shared memory.
constexpr unsigned additions = 4;
engine::sample counted_twice(std::uint64_t n, std::uint64_t /*seed*/) {
    if (n == 0) {
        return {};
    }
    const auto last = static_cast<std::int32_t>(hops_of_a_step - 1);
    std::vector<std::int32_t> right(2 + 2 * 32 * n, static_cast<std::int32_t>(adding_threads / 32 * additions));
    right[0] = right[1] = last;
    return {n, {}, engine::bytes_of(right)};
}

void run_atomics(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    std::int32_t* const out = on.output<std::int32_t>();
    int* const word = on.temporary<int>();
    engine::launch(on, "chase_atomics", chase_atomics<true>, 1, 1, 0, out, word, 0, hops_of_a_step / hops_at_once,
                   nullptr);
    engine::launch(on, "chase_atomics", chase_atomics<false>, 1, 1, 0, out + 1, word, 0, hops_of_a_step / hops_at_once,
                   nullptr);
    const auto blocks = static_cast<unsigned>(on.n);
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(out + 2, 0, 2 * 32 * on.n * sizeof(int), on.stream));
    engine::launch(on, "add_atomically", add_atomically<false>, blocks, adding_threads, 0, out + 2, additions);
    engine::launch(on, "add_atomically", add_atomically<true>, blocks, adding_threads, 0, out + 2 + 32 * on.n,
                   additions);
}

const memory_latencies& in_memory(const engine::evidence& e) { return measured_memory(e.report.device.l2_bytes); }

verdict hundred_times(const engine::evidence& e) {
    const auto& t = measured_on_chip();
    return seen(in_memory(e).dram > 50 * t.shared, number(t.shared, 0) + " cycles from shared memory, " +
                                                       number(in_memory(e).dram, 0) +
                                                       " from DRAM: " + number(in_memory(e).dram / t.shared, 0) + "x");
}

verdict slower_than_registers(const engine::evidence& /*e*/) {
    return seen(measured_on_chip().shared > measured_arithmetic().float32,
                number(measured_on_chip().shared, 0) +
                    " cycles a load from shared memory; an operation on registers takes " +
                    number(measured_arithmetic().float32, 0));
}

verdict doubled(const engine::evidence& /*e*/) {
    const auto& t = measured_on_chip();
    return seen(t.shared_two_way >= 2 * t.shared, number(t.shared, 1) + " cycles without a conflict, " +
                                                      number(t.shared_two_way, 1) + " with two lanes at each bank, " +
                                                      number(t.shared_worst, 1) + " with 32: each more costs " +
                                                      number((t.shared_worst - t.shared) / 31, 1));
}

verdict constant_is_cached(const engine::evidence& e) {
    const auto& t = measured_on_chip();
    return seen(t.constant < in_memory(e).l1 && t.constant < in_memory(e).dram / 4,
                number(t.constant, 0) + " cycles from constant memory once it is in its cache; global memory " +
                    number(in_memory(e).l1, 0) + " from the L1 cache, " + number(in_memory(e).dram, 0) + " from DRAM");
}

verdict constant_size(const engine::evidence& /*e*/) {
    int bytes = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrTotalConstantMemory, device));
    return seen(bytes > 0, std::to_string(bytes / 1024) + " KiB of constant memory on this device");
}

verdict few_hundred(const engine::evidence& e) {
    const auto& t = measured_on_chip();
    return seen(t.global_atomic > 200 && t.global_atomic < 2 * in_memory(e).dram,
                number(t.global_atomic, 0) +
                    " cycles an atomic addition to global memory that waits for the one before");
}

verdict atomics_from_l2(const engine::evidence& e) {
    const auto& t = measured_on_chip();
    return seen(t.global_atomic < in_memory(e).dram + in_memory(e).l2,
                number(t.global_atomic, 0) + " cycles, a read from DRAM alone " + number(in_memory(e).dram, 0) +
                    ", from L2 " + number(in_memory(e).l2, 0));
}

verdict atomics_in_shared(const engine::evidence& /*e*/) {
    const auto& t = measured_on_chip();
    return seen(t.shared_atomic < t.global_atomic / 2,
                number(t.shared_atomic, 0) + " cycles in shared memory, " + number(t.global_atomic, 0) +
                    " in global memory: " + number(t.global_atomic / t.shared_atomic, 1) + "x");
}

verdict atomic_rates(const engine::evidence& /*e*/) {
    const auto& t = measured_on_chip();
    return seen(t.shared_atomic_rate > 10 * t.global_atomic_rate,
                number(t.shared_atomic_rate * 1e-9, 0) + " additions a nanosecond in shared memory, " +
                    number(t.global_atomic_rate * 1e-9, 0) + " in global memory, which the L2 cache serves: " +
                    number(t.shared_atomic_rate / t.global_atomic_rate, 1) + "x");
}

constexpr const char* source = "ladder/occupancy/06_on_chip.cu";

} // namespace

engine::step_definition shared_chains() {
    return {.about = {"on chip", "latency of shared and constant memory", source,
                      "the same in shared memory, with conflicts and without, and in constant memory",
                      "759, Shared Memory Bank Conflicts"},
            .data = ends_on_chip,
            .run = run_on_chip,
            .size = engine::at_most(32),
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

engine::step_definition atomics() {
    return {.about = {"atomics", "latency of atomic operations", source,
                      "each addition waits for what the last one saw", "Parallel patterns, About Atomic Operations"},
            .data = counted_twice,
            .run = run_atomics,
            .size = engine::at_most(256),
            .scratch_bytes = [](std::uint64_t) { return sizeof(int); },
            .claims = {{"a latency of a few hundred cycles, during which no one else can access the location",
                        "Parallel patterns, About Atomic Operations", timed(few_hundred)},
                       {"shorter latency if serviced from the L2 cache", "Parallel patterns, About Atomic Operations",
                        timed(atomics_from_l2)},
                       {"much shorter latency if the operation is on shared memory",
                        "Parallel patterns, About Atomic Operations", timed(atomics_in_shared)},
                       {"in shared memory 100x higher throughput than global and 10x than L2",
                        "Parallel patterns, About Atomic Operations", timed(atomic_rates)}}};
}

} // namespace warpfold::ladder::occupancy

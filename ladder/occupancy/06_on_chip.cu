// SPDX-License-Identifier: MIT
// Latency of shared and of constant memory, with bank conflicts and without, and of atomic operations. (759 and 587 "Shared
// Memory Bank Conflicts"; parallel patterns "Mask M and Constant Memory", "About Atomic Operations".)
#include <algorithm>
#include <vector>

#include "ladder/occupancy/definition/cycles.hpp"
#include "ladder/occupancy/definition/figures.hpp"
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

verdict hundred_times(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(memory_of(e).dram > 50 * t.shared, number(t.shared, 0) + " cycles from shared memory, " +
                                                       number(memory_of(e).dram, 0) +
                                                       " from DRAM: " + number(memory_of(e).dram / t.shared, 0) + "x");
}

verdict slower_than_registers(const engine::evidence& e) {
    return seen(on_chip_of(e).shared > arithmetic_of(e).float32,
                number(on_chip_of(e).shared, 0) +
                    " cycles a load from shared memory; an operation on registers takes " +
                    number(arithmetic_of(e).float32, 0));
}

verdict doubled(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.shared_two_way >= 2 * t.shared, number(t.shared, 1) + " cycles without a conflict, " +
                                                      number(t.shared_two_way, 1) + " with two lanes at each bank, " +
                                                      number(t.shared_worst, 1) + " with 32: each more costs " +
                                                      number((t.shared_worst - t.shared) / 31, 1));
}

verdict constant_is_cached(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.constant < memory_of(e).l1 && t.constant < memory_of(e).dram / 4,
                number(t.constant, 0) + " cycles from constant memory once it is in its cache; global memory " +
                    number(memory_of(e).l1, 0) + " from the L1 cache, " + number(memory_of(e).dram, 0) + " from DRAM");
}

// Bytes, by device.
using constant_sizes = std::vector<int>;
constant_sizes measure_sizes() {
    constant_sizes all;
    int devices = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDeviceCount(&devices));
    for (int device = 0; device < devices; ++device) {
        WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&all.emplace_back(), cudaDevAttrTotalConstantMemory, device));
    }
    return all;
}

verdict constant_size(const engine::evidence& e) {
    const auto* const given = e.given<constant_sizes>();
    const auto sizes = given != nullptr ? *given : measure_sizes();
    const std::string figure = number(sizes.front() / 1024.0, 0) + " KiB of constant memory on ";
    if (sizes.size() < 2) {
        return unseen(figure + "this device; needs devices of several kinds");
    }
    const bool same = std::all_of(sizes.begin(), sizes.end(), [&](int bytes) { return bytes == sizes.front(); });
    return seen(!same, figure + (same ? "each" : "the first") + " of " + std::to_string(sizes.size()) + " devices");
}

verdict few_hundred(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.global_atomic > 200 && t.global_atomic < 2 * memory_of(e).dram,
                number(t.global_atomic, 0) +
                    " cycles an atomic addition to global memory that waits for the one before");
}

verdict atomics_from_l2(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.global_atomic < memory_of(e).dram, number(t.global_atomic, 0) + " cycles, a read from DRAM alone " +
                                                         number(memory_of(e).dram, 0) + ", from L2 " +
                                                         number(memory_of(e).l2, 0));
}

verdict atomics_in_shared(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.shared_atomic < t.global_atomic / 2,
                number(t.shared_atomic, 0) + " cycles in shared memory, " + number(t.global_atomic, 0) +
                    " in global memory: " + number(t.global_atomic / t.shared_atomic, 1) + "x");
}

// `times` as many additions a second in shared memory as in global memory, which the L2 cache serves.
template <unsigned Times>
verdict atomic_rates(const engine::evidence& e) {
    const auto& t = on_chip_of(e);
    return seen(t.shared_atomic_rate >= Times * t.global_atomic_rate,
                number(t.shared_atomic_rate * 1e-9, 0) + " additions a nanosecond in shared memory, " +
                    number(t.global_atomic_rate * 1e-9, 0) + " in global memory, which the L2 cache serves: " +
                    number(t.shared_atomic_rate / t.global_atomic_rate, 1) + "x");
}

constexpr const char* banks = "759, Shared Memory Bank Conflicts";
constexpr const char* about_atomics = "Parallel patterns, About Atomic Operations";
constexpr const char* source = "ladder/occupancy/06_on_chip.cu";

} // namespace

engine::step_definition shared_chains() {
    return {
        .about = {"on chip", "latency of shared and constant memory", source,
                  "the same in shared memory, with conflicts and without, and in constant memory",
                  "759, Shared Memory Bank Conflicts"},
        .data = ends_on_chip,
        .run = run_on_chip,
        .size = engine::at_most(32),
        .claims = {{"latency is roughly 100x lower than global memory latency", banks,
                    timed(engine::check(hundred_times).refuted_by(an_h200()))},
                   {"fast, but not as fast as register access", banks,
                    timed(engine::check(slower_than_registers)
                              .refuted_by(h200_with("a load in 4 cycles", [](figures& f) { f.on_chip.shared = 4; })))},
                   {"a bank conflict at least doubles the shared memory latency", "587, Shared Memory Bank Conflicts",
                    timed(engine::check(doubled).refuted_by(an_h200()))},
                   {"constant memory is aggressively cached, and assumed faster than global memory",
                    "Parallel patterns, Question: Isn't the constant memory also in DRAM?",
                    timed(engine::check(constant_is_cached)
                              .refuted_by(h200_with("as slow as DRAM",
                                                    [](figures& f) { f.on_chip.constant = f.memory.dram; })))},
                   {"size of constant memory can vary from device to device", "Parallel patterns, Constant Memory",
                    engine::check(constant_size)
                        .refuted_by(engine::figures_in_place("two devices with 64 KiB",
                                                             constant_sizes{64 * 1024, 64 * 1024}))}}};
}

engine::step_definition atomics() {
    return {
        .about = {"atomics", "latency of atomic operations", source, "each addition waits for what the last one saw",
                  "Parallel patterns, About Atomic Operations"},
        .data = counted_twice,
        .run = run_atomics,
        .size = engine::at_most(256),
        .scratch_bytes = [](std::uint64_t) { return sizeof(int); },
        .claims = {
            {"atomic operation on a DRAM location: a latency of a few hundred cycles", about_atomics,
             timed(engine::check(few_hundred)
                       .refuted_by(h200_with("50 cycles", [](figures& f) { f.on_chip.global_atomic = 50; })))},
            {"shorter latency if serviced from the L2 cache", about_atomics,
             timed(engine::check(atomics_from_l2)
                       .refuted_by(h200_with("twice as long as DRAM",
                                             [](figures& f) { f.on_chip.global_atomic = 2 * f.memory.dram; })))},
            {"much shorter latency if the operation is on shared memory", about_atomics,
             timed(engine::check(atomics_in_shared)
                       .refuted_by(h200_with("as long as in global memory",
                                             [](figures& f) { f.on_chip.shared_atomic = f.on_chip.global_atomic; })))},
            {"shared memory: 100x higher throughput than global", about_atomics,
             timed(engine::check(atomic_rates<100>).refuted_by(an_h200()))},
            {"and 10x than L2", about_atomics,
             timed(engine::check(atomic_rates<10>).refuted_by(h200_with("an equal rate", [](figures& f) {
                 f.on_chip.shared_atomic_rate = f.on_chip.global_atomic_rate;
             })))}}};
}

} // namespace warpfold::ladder::occupancy

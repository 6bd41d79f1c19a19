// SPDX-License-Identifier: MIT
// Latency and throughput of arithmetic: chains of operations that wait for each other, in one warp and in many, one chain a
// thread and several. (Parallel patterns "Latency Vs Throughput", "Little's Law", "Examples from GPU", "So ..."; 759
// "Reduction #1".)
#include <algorithm>
#include <cmath>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/device/chains.cuh"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned rounds = 2;           // of the steps
constexpr unsigned rounds_measured = 32; // 2,048 operations
constexpr unsigned most_threads = 1024;

// One block of `warps` warps; operations of lanes for each cycle, of one warp and one chain the inverse of the latency.
template <class Chain, unsigned Chains>
double operations_a_cycle(unsigned warps) {
    const measure::stream on;
    const measure::device_memory out(most_threads * sizeof(std::int32_t));
    const measure::device_memory cycles(sizeof(std::int64_t));
    std::int64_t best = 0;
    for (int sample = 0; sample < 5; ++sample) { // the first brings the instructions into their cache
        go_through<Chain, Chains><<<1, 32 * warps, 0, on.handle()>>>(static_cast<std::int32_t*>(out.data()), nullptr,
                                                                     most_threads, rounds_measured, 1, 1,
                                                                     static_cast<std::int64_t*>(cycles.data()));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        on.synchronize();
        std::int64_t taken = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
        best = best == 0 ? taken : std::min(best, taken);
    }
    return 32.0 * warps * Chains * unrolled * rounds_measured / static_cast<double>(std::max<std::int64_t>(best, 1));
}

template <class Chain>
double latency() {
    return 32 / operations_a_cycle<Chain, 1>(1);
}

// Reads shared memory as fast as it goes: each lane its own bank, four loads under way.
__global__ void read_shared(std::int32_t* out, unsigned times, std::int64_t* cycles) {
    __shared__ std::int32_t words[4 * most_threads];
    for (unsigned k = threadIdx.x; k < 4 * most_threads; k += blockDim.x) {
        words[k] = static_cast<std::int32_t>(k);
    }
    __shared__ std::int64_t first_begin;
    __shared__ std::int64_t last_end;
    if (threadIdx.x == 0) {
        first_begin = clock64();
        last_end = 0;
    }
    __syncthreads();
    std::int32_t sum[4] = {};
#pragma unroll 1
    for (unsigned k = 0; k < times; ++k) {
#pragma unroll
        for (unsigned u = 0; u < 4; ++u) {
            sum[u] += reinterpret_cast<volatile std::int32_t*>(words)[u * most_threads + threadIdx.x];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        last_end = clock64();
    }
    out[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
    if (threadIdx.x == 0) {
        *cycles = last_end - first_begin; // with the barriers, which are little of it
    }
}

double shared_bytes_a_cycle() {
    constexpr unsigned times = 256;
    const measure::stream on;
    const measure::device_memory out(most_threads * sizeof(std::int32_t));
    const measure::device_memory cycles(sizeof(std::int64_t));
    std::int64_t best = 0;
    for (int sample = 0; sample < 5; ++sample) {
        read_shared<<<1, most_threads, 0, on.handle()>>>(static_cast<std::int32_t*>(out.data()), times,
                                                         static_cast<std::int64_t*>(cycles.data()));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        on.synchronize();
        std::int64_t taken = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
        best = best == 0 ? taken : std::min(best, taken);
    }
    return 4.0 * 4 * most_threads * times / static_cast<double>(std::max<std::int64_t>(best, 1));
}

} // namespace

const arithmetic_latencies& measured_arithmetic() {
    static const arithmetic_latencies all{latency<float32_chain>(), latency<float64_chain>(), latency<int32_chain>(),
                                          latency<modulo_chain>(),  latency<special_chain>(), latency<shuffle_chain>()};
    return all;
}

const throughput& measured_throughput() {
    static const throughput all = [] {
        throughput t;
        t.warps = {1, 2, 4, 8, 12, 16, 24, 32};
        t.chains = {1, 2, 4};
        for (const unsigned warps : t.warps) {
            t.float32.push_back({operations_a_cycle<float32_chain, 1>(warps),
                                 operations_a_cycle<float32_chain, 2>(warps),
                                 operations_a_cycle<float32_chain, 4>(warps)});
        }
        t.int32 = operations_a_cycle<int32_chain, 4>(32);
        t.float64 = operations_a_cycle<float64_chain, 4>(32);
        t.special = operations_a_cycle<special_chain, 4>(32);
        t.shuffle = operations_a_cycle<shuffle_chain, 4>(32);
        t.shared_bytes = shared_bytes_a_cycle();
        return t;
    }();
    return all;
}

double throughput::best() const {
    double most = 0;
    for (const auto& row : float32) {
        most = std::max(most, *std::max_element(row.begin(), row.end()));
    }
    return most;
}

double throughput::at(unsigned warps_there, unsigned chains_there) const {
    const auto row = std::find(warps.begin(), warps.end(), warps_there) - warps.begin();
    const auto column = std::find(chains.begin(), chains.end(), chains_there) - chains.begin();
    return float32.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
}

namespace {

// What the six chains leave of n numbers.
engine::sample ends_of_chains(std::uint64_t n, std::uint64_t seed) {
    auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    right.insert(right.end(), 2 * n, 2); // of floating-point multiply-adds
    for (const std::int32_t x : in) {
        right.push_back(x + static_cast<std::int32_t>(unrolled * rounds));
    }
    for (const std::int32_t x : in) {
        right.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(x) % 7u));
    }
    right.insert(right.end(), n, 1);
    right.insert(right.end(), in.begin(), in.end()); // an even number of exchanges
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

template <class Chain>
void run_chain(const engine::stage& on, const char* name, unsigned place, bool with_input) {
    engine::launch(on, name, go_through<Chain, 1>, static_cast<unsigned>(engine::divide_up(on.n, 128)), 128, 0,
                   on.output<std::int32_t>() + place * on.n, with_input ? on.input<std::int32_t>() : nullptr, on.n,
                   rounds, 1, 1, nullptr);
}

void run_chains(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    run_chain<float32_chain>(on, "float32_chain", 0, true);
    run_chain<float64_chain>(on, "float64_chain", 1, true);
    run_chain<int32_chain>(on, "int32_chain", 2, true);
    run_chain<modulo_chain>(on, "modulo_chain", 3, true);
    run_chain<special_chain>(on, "special_chain", 4, false);
    run_chain<shuffle_chain>(on, "shuffle_chain", 5, true);
}

// Four chains a thread, float32.
constexpr unsigned chains_at_once = 4;
engine::sample ends_of_four(std::uint64_t n, std::uint64_t seed) {
    auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    right.insert(right.end(), n, 2);
    right.insert(right.end(), n, 2 * static_cast<std::int32_t>(chains_at_once));
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_four(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto blocks = static_cast<unsigned>(engine::divide_up(on.n, 128));
    engine::launch(on, "one_chain", go_through<float32_chain, 1>, blocks, 128, 0, on.output<std::int32_t>(),
                   on.input<std::int32_t>(), on.n, rounds, 1, 1, nullptr);
    engine::launch(on, "four_chains", go_through<float32_chain, chains_at_once>, blocks, 128, 0,
                   on.output<std::int32_t>() + on.n, on.input<std::int32_t>(), on.n, rounds, 1, 1, nullptr);
}

verdict four_cycles(const engine::evidence& e) {
    const auto& t = arithmetic_of(e);
    return seen(std::abs(t.float32 - 4) < 0.5,
                number(t.float32, 1) + " cycles for a multiply-add that waits for the one before it; int32 " +
                    number(t.int32, 1) + ", float64 " + number(t.float64, 1) + ", 1/sqrt(x) " + number(t.special, 1) +
                    ", shuffle " + number(t.shuffle, 1));
}

verdict modulo_is_slow(const engine::evidence& e) {
    const auto& t = arithmetic_of(e);
    return seen(t.modulo > 5 * t.int32,
                number(t.modulo, 1) + " cycles for a % b, " + number(t.int32, 1) + " for a multiply-add of integers");
}

verdict operations_of_the_device(const engine::evidence& e) {
    const double here = rate_of(e).best();
    const double all = here * e.report.device.multiprocessors;
    return seen(std::abs(all - 480) < 48, number(here, 0) + " multiply-adds a cycle on each of " +
                                              std::to_string(e.report.device.multiprocessors) +
                                              " multiprocessors: " + number(all, 0));
}

verdict needed_parallelism(const engine::evidence& e) {
    const auto& t = rate_of(e);
    const double needed = arithmetic_of(e).float32 * t.best() / 32;
    const auto enough =
        std::find_if(t.warps.begin(), t.warps.end(), [&](unsigned warps) { return warps >= needed * 0.95; });
    const unsigned at = enough == t.warps.end() ? t.warps.back() : *enough;
    const double share = t.at(at, 1) / t.best();
    const double half = t.at(at / 2, 1) / t.best();
    return seen(share > 0.85 && half < 0.7, number(arithmetic_of(e).float32, 1) + " cycles x " + number(t.best(), 0) +
                                                " a cycle: " + number(needed, 1) + " warps needed; " +
                                                std::to_string(at) + " warps reach " + number(100 * share, 0) + " %, " +
                                                std::to_string(at / 2) + " reach " + number(100 * half, 0) + " %");
}

verdict idle_cycles(const engine::evidence& e) {
    const auto& t = rate_of(e);
    const double share = t.at(1, 1) / t.best();
    return seen(share < 0.5, "one warp with one chain: " + number(100 * share, 1) + " % of the operations a cycle");
}

verdict by_instructions(const engine::evidence& e) {
    const auto& t = rate_of(e);
    return seen(t.at(4, 4) > 2.5 * t.at(4, 1), "4 warps: " + number(t.at(4, 1), 1) +
                                                   " operations a cycle with one chain, " + number(t.at(4, 2), 1) +
                                                   " with two, " + number(t.at(4, 4), 1) + " with four");
}

verdict by_threads(const engine::evidence& e) {
    const auto& t = rate_of(e);
    return seen(t.at(16, 1) > 2.5 * t.at(4, 1), "one chain: " + number(t.at(4, 1), 1) +
                                                    " operations a cycle with 4 warps, " + number(t.at(8, 1), 1) +
                                                    " with 8, " + number(t.at(16, 1), 1) + " with 16");
}

verdict not_utilization(const engine::evidence& e) {
    const auto& t = rate_of(e);
    int most = 0;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const double share = t.at(8, 4) / t.best();
    return seen(share > 0.85 && t.at(8, 1) < 0.7 * t.at(8, 4),
                "8 warps, an occupancy of " + number(8 * 32 * 100.0 / most, 1) +
                    " %, with four chains: " + number(100 * share, 0) + " % of the peak; " +
                    number(100 * t.at(8, 1) / t.best(), 0) + " % with one");
}

verdict other_units(const engine::evidence& e) {
    const auto& t = rate_of(e);
    return seen(t.special < t.best() / 2, "a cycle and multiprocessor: float32 " + number(t.best(), 0) + ", int32 " +
                                              number(t.int32, 0) + ", float64 " + number(t.float64, 0) +
                                              ", 1/sqrt(x) " + number(t.special, 0) + ", shuffles " +
                                              number(t.shuffle, 0));
}

verdict bank_width(const engine::evidence& e) {
    const double here = rate_of(e).shared_bytes;
    return seen(std::abs(here - 64) < 8, number(here, 0) + " bytes a cycle from 32 banks: " + number(here / 4, 0) +
                                             " words, so that a bank gives " + number(here * 8 / 32, 0) +
                                             " bits a cycle");
}

constexpr const char* source = "ladder/occupancy/02_arithmetic.cu";
constexpr const char* slide = "Parallel patterns, Latency Vs Throughput";

} // namespace

engine::step_definition arithmetic() {
    return {
        .about = {"arithmetic", "latency of arithmetic", source, "operations that wait for each other", slide},
        .data = ends_of_chains,
        .run = run_chains,
        .size = engine::at_most(1024),
        .claims = {{"latency is time: an instruction takes 4 cycles per warp", slide,
                    timed(engine::check(four_cycles)
                              .refuted_by(h200_with("8 cycles", [](figures& f) { f.arithmetic.float32 = 8; })))},
                   {"the % operator is very slow", "759, Reduction #1: Interleaved Addressing",
                    timed(engine::check(modulo_is_slow)
                              .refuted_by(h200_with("% in 8 cycles", [](figures& f) { f.arithmetic.modulo = 8; })))},
                   {"less operations means idle cycles", "Parallel patterns, Examples from GPU",
                    timed(engine::check(idle_cycles).refuted_by(h200_with("the peak by one warp", [](figures& f) {
                        f.rate.float32[0][0] = f.rate.best();
                    })))}}};
}

engine::step_definition parallelism() {
    return {
        .about = {"parallelism", "throughput of arithmetic", source,
                  "more warps, or more operations of a thread that do not wait for each other",
                  "Parallel patterns, Little's Law"},
        .data = ends_of_four,
        .run = run_four,
        .size = engine::at_most(1024),
        .claims = {{"throughput is rate: 480 arithmetic operations a cycle (a multiply-add each)", slide,
                    timed(engine::check(operations_of_the_device).refuted_by(an_h200()))},
                   {"parallelism needed = latency x throughput", "Parallel patterns, Little's Law",
                    timed(engine::check(needed_parallelism)
                              .refuted_by(h200_with("the peak by 8 warps",
                                                    [](figures& f) { f.rate.float32[3][0] = f.rate.best(); })))},
                   {"we can increase utilization by instruction level parallelism", "Parallel patterns, So ...",
                    timed(engine::check(by_instructions)
                              .refuted_by(h200_with("four chains as slow as one",
                                                    [](figures& f) { f.rate.float32[2][2] = f.rate.float32[2][0]; })))},
                   {"and by thread level parallelism", "Parallel patterns, So ...",
                    timed(engine::check(by_threads)
                              .refuted_by(h200_with("16 warps as slow as 4",
                                                    [](figures& f) { f.rate.float32[5][0] = f.rate.float32[2][0]; })))},
                   {"occupancy is not utilization, but one of the contributing factors", "Parallel patterns, So ...",
                    timed(engine::check(not_utilization)
                              .refuted_by(h200_with("four chains as slow as one",
                                                    [](figures& f) { f.rate.float32[3][2] = f.rate.float32[3][0]; })))},
                   {"one multiprocessor has fewer units for special functions", "beyond the lectures",
                    timed(engine::check(other_units)
                              .refuted_by(h200_with("as many of 1/sqrt(x)",
                                                    [](figures& f) { f.rate.special = f.rate.best(); })))},
                   {"each bank of shared memory has a bandwidth of 32 bits per two clock cycles",
                    "759, Shared Memory Architecture [2/2]", timed(engine::check(bank_width).refuted_by(an_h200()))}}};
}

} // namespace warpfold::ladder::occupancy

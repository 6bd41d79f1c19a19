// SPDX-License-Identifier: MIT
// Occupancy and Little's law: bytes in flight = latency x throughput. A copy with few bytes in flight, and three ways to
// have more. (Parallel patterns "Occupancy Calculator API", "Little's Law", "How Can You Get 100KB From Threads?".)
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/sweep.hpp"
#include "ladder/occupancy/device/copies.cuh"
#include "ladder/occupancy/steps.hpp"

namespace warpfold::ladder::occupancy {

namespace {

__global__ void my_kernel(int* d, const int* a, const int* b, std::uint64_t n) { // the slide's MyKernel
    const std::uint64_t idx = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (idx < n) {
        d[idx] = a[idx] * b[idx];
    }
}

engine::sample products(std::uint64_t n, std::uint64_t seed) {
    const auto a = engine::numbers(n, seed);
    const auto b = engine::numbers(n, seed + 1);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = a[i] * b[i];
    }
    return {n, {engine::bytes_of(a), engine::bytes_of(b)}, engine::bytes_of(right)};
}

engine::sample copied(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    return {n, {in}, in};
}

struct shape {
    unsigned blocks_a_multiprocessor, threads, loads, bytes;
    [[nodiscard]] std::uint64_t in_flight() const {
        return std::uint64_t{blocks_a_multiprocessor} * threads * loads * bytes;
    }
};
constexpr shape few{1, 128, 1, 4};
constexpr shape many_threads{2, 1024, 1, 4};
constexpr shape many_loads{1, 128, 16, 4};
constexpr shape wide_loads{1, 128, 4, 16};

template <class Vector, unsigned Loads>
void run_copy(const engine::stage& on, const shape& s) {
    if (on.n != 0) {
        engine::launch(on, "copy_in_flight", copy_in_flight<Vector, Loads>,
                       on.multiprocessors * s.blocks_a_multiprocessor, s.threads, 0, reinterpret_cast<Vector*>(on.out),
                       static_cast<const Vector*>(on.in[0]), on.n * sizeof(int) / sizeof(Vector));
    }
}

constexpr unsigned block = 32; // as on the slide

struct prediction {
    int blocks = 0, most_threads = 0, most_blocks = 0, shared = 0, reserved = 0;
};
prediction predict(unsigned threads, std::size_t shared_bytes) {
    prediction p;
    int device = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&p.most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&p.most_blocks, cudaDevAttrMaxBlocksPerMultiprocessor, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&p.shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&p.reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
    WARPFOLD_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&p.blocks, my_kernel, static_cast<int>(threads), shared_bytes));
    return p;
}

// What a counter-example gives in the place of the API's answers.
using predictions = std::vector<prediction>;
predictions answers(const engine::evidence& e, const std::vector<std::pair<unsigned, std::size_t>>& questions) {
    if (const auto* const given = e.given<predictions>()) {
        return *given;
    }
    predictions all;
    for (const auto& [threads, shared_bytes] : questions) {
        all.push_back(predict(threads, shared_bytes));
    }
    return all;
}

verdict concurrent_blocks(const engine::evidence& e) {
    const prediction p = answers(e, {{block, 0}}).front();
    const int warps = p.blocks * static_cast<int>(block) / 32;
    const int most = p.most_threads / 32;
    return seen(p.blocks == std::min(p.most_blocks, p.most_threads / static_cast<int>(block)),
                std::to_string(p.blocks) + " blocks of 32 threads on a multiprocessor: " + std::to_string(warps) +
                    " of " + std::to_string(most) + " warps, " + number(100.0 * warps / most, 0) + " %");
}

// Of both limits, blocks and threads, that of the block size decides.
verdict by_block_size(const engine::evidence& e) {
    constexpr unsigned sizes[] = {32, 64, 128, 256, 512, 1024};
    std::vector<std::pair<unsigned, std::size_t>> questions;
    for (const unsigned threads : sizes) {
        questions.emplace_back(threads, 0);
    }
    const auto all = answers(e, questions);
    bool holds = true;
    std::vector<std::uint64_t> blocks;
    for (std::size_t k = 0; k < all.size(); ++k) {
        holds =
            holds && all[k].blocks == std::min(all[k].most_blocks, all[k].most_threads / static_cast<int>(sizes[k]));
        blocks.push_back(static_cast<std::uint64_t>(all[k].blocks));
    }
    return seen(holds && blocks.front() > blocks.back(),
                "blocks on a multiprocessor of 32, 64, 128, 256, 512, 1024 threads: " + list(blocks));
}

verdict by_shared_memory(const engine::evidence& e) {
    const auto all = answers(e, {{256, 0}, {256, 40 * 1024}});
    const int without = all[0].blocks;
    const prediction& with = all[1];
    const int fit = with.shared / (40 * 1024 + with.reserved);
    return seen(with.blocks == std::min(fit, without) && with.blocks < without,
                std::to_string(with.blocks) + " blocks of 256 threads with 40 KiB of shared memory each, " +
                    std::to_string(without) + " without");
}

constexpr prediction eight_blocks{8, 2048, 32, 228 * 1024, 1024};

// Bytes that the copy has under way on a multiprocessor, by its shape. Refuted by equal times.
engine::check more_in_flight(const shape& s, std::string what) {
    const engine::check faster = [s, what = std::move(what)](const engine::evidence& e) {
        const step_result* const other = e.other("few");
        const std::string figure = std::to_string(s.in_flight()) + " bytes in flight on a multiprocessor, " +
                                   std::to_string(few.in_flight()) + " in step few (" + what + ")";
        if (!e.step.cold || other == nullptr || !other->cold) {
            return unseen("needs times, so a GPU; " + figure);
        }
        const double times = other->cold->median / e.step.cold->median;
        return engine::shorter(*e.step.cold, *other->cold,
                               number(times, 2) + "x as fast as step few, " +
                                   number(static_cast<double>(e.step.least_bytes) / e.step.cold->median * 1e-9, 0) +
                                   " GB/s; " + figure);
    };
    return faster.refuted_by(engine::planted("the time of step few", [](engine::altered_evidence& e) {
        e.other("few").cold = e.step.cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
    }));
}

verdict loads_are_wide(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    const double bytes = static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_requests);
    return e.n() < 4096 ? unseen("needs full warps: 4096 elements at least")
                        : seen(bytes > 500, number(bytes, 0) + " bytes a load of a warp");
}

// Latency from the copy with few bytes in flight: each thread waits for its one load, then stores.
verdict hundred_kilobytes(const engine::evidence& e) {
    if (!e.step.cold || !e.report.device.read_gb_per_s) {
        return unseen("needs times, so a GPU");
    }
    const double rounds = static_cast<double>(e.n()) / (static_cast<double>(e.report.device.multiprocessors) *
                                                        few.blocks_a_multiprocessor * few.threads);
    const double latency = e.step.cold->median / rounds;
    const double needed = latency * *e.report.device.read_gb_per_s * 1e9;
    return seen(needed > 50e3 && needed < 200e3,
                number(latency * 1e9, 0) + " ns a load and its store, times " +
                    number(*e.report.device.read_gb_per_s, 0) + " GB/s: " + number(needed / 1000, 0) +
                    " KB in flight are needed on this device, " +
                    number(needed / 1000 / e.report.device.multiprocessors, 1) + " KB on a multiprocessor");
}

const auto time_of_an_h200 = engine::planted("the time of an H200", [](engine::altered_evidence& e) {
    e.step.n = 1u << 24;
    e.step.cold = timing{.median = 386e-6, .low = 385e-6, .high = 387e-6, .samples = 31};
    e.report.device.read_gb_per_s = 4558;
    e.report.device.multiprocessors = 132;
});

std::uint64_t of_fours(std::uint64_t n) { return std::max<std::uint64_t>(n / 4, 1) * 4; }

constexpr const char* source = "ladder/occupancy/occupancy.cu";
constexpr const char* section = "Parallel patterns, How Can You Get 100KB From Threads?";

std::vector<extra_table> tables(const ladder_report& report, const engine::stopwatch& /*seconds_of*/) {
    std::vector<extra_table> all;
    if (report.request.time && !report.device.software) {
        all = latency_tables(report.device);
        for (auto& table : sweep_tables(report.device)) {
            all.push_back(std::move(table));
        }
        all.push_back(grid_table(report.device));
    }
    all.push_back(kernel_table());
    return all;
}

} // namespace

engine::step_definition calculator() {
    return {
        .about = {"calculator", "the occupancy calculator", source, "how many blocks a multiprocessor holds at once",
                  "Parallel patterns, Occupancy Calculator API"},
        .data = products,
        .run =
            [](const engine::stage& on) {
                if (on.n != 0) {
                    engine::launch(on, "my_kernel", my_kernel, static_cast<unsigned>(engine::divide_up(on.n, block)),
                                   block, 0, on.output<int>(), on.input<int>(0), on.input<int>(1), on.n);
                }
            },
        .least_bytes = [](std::uint64_t n) { return 3 * n * sizeof(int); },
        .claims = {{"reports occupancy in terms of the number of concurrent thread blocks per multiprocessor",
                    "Parallel patterns, cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                    engine::check(concurrent_blocks)
                        .refuted_by(engine::figures_in_place("8 blocks of 32 threads", predictions{eight_blocks}))},
                   {"an occupancy prediction based on the block size",
                    "Parallel patterns, cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                    engine::check(by_block_size)
                        .refuted_by(engine::figures_in_place("8 blocks of every size", predictions(6, eight_blocks)))},
                   {"and on the shared memory usage of a kernel",
                    "Parallel patterns, cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                    engine::check(by_shared_memory)
                        .refuted_by(
                            engine::figures_in_place("8 blocks with and without", predictions(2, eight_blocks)))}}};
}

engine::step_definition few_threads() {
    return {
        .about = {"few", "few bytes in flight", source, "a block of 128 threads on each multiprocessor, a word each",
                  "Parallel patterns, Little's Law"},
        .data = copied,
        .run = [](const engine::stage& on) { run_copy<int, 1>(on, few); },
        .least_bytes = engine::read_and_written,
        .claims = {{"to hide memory latency you need to keep 100 KB in flight", "Parallel patterns, How about memory?",
                    engine::check(hundred_kilobytes).refuted_by(time_of_an_h200)}}};
}

engine::step_definition more_threads() {
    return {.about = {"threads", "more threads", source, "2048 threads on each multiprocessor, a word each", section},
            .data = copied,
            .run = [](const engine::stage& on) { run_copy<int, 1>(on, many_threads); },
            .least_bytes = engine::read_and_written,
            .claims = {{"use more threads", section, more_in_flight(many_threads, "16 times the threads")}}};
}

engine::step_definition more_instructions() {
    return {.about = {"instructions", "more instructions per thread", source, "128 threads, 16 words each at once",
                      section},
            .data = copied,
            .run = [](const engine::stage& on) { run_copy<int, 16>(on, many_loads); },
            .least_bytes = engine::read_and_written,
            .claims = {{"use more instructions per thread", section, more_in_flight(many_loads, "as few threads")},
                       {"higher performance does not mean more threads", "Parallel patterns, So ...",
                        more_in_flight(many_loads, "as few threads")}}};
}

engine::step_definition more_data() {
    return {
        .about = {"data", "more data per thread", source, "128 threads, four loads of 16 bytes each at once", section},
        .data = copied,
        .run = [](const engine::stage& on) { run_copy<int4, 4>(on, wide_loads); },
        .size = of_fours,
        .least_bytes = engine::read_and_written,
        .claims = {{"use more data per thread", section, more_in_flight(wide_loads, "as few threads")},
                   {"LD.E.128: 512 bytes a load of a warp", "380, Vectorized Memory Access",
                    engine::counted(loads_are_wide).refuted_by(engine::step_in_place("few"))}}};
}

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{
        .name = "occupancy",
        .data = "copies with few and with many bytes in flight",
        .n_counted = 1u << 18,
        .n_timed = 1u << 24,
        .most = 1u << 28,
        .steps =
            {calculator(),    residents(), arithmetic(),  parallelism(),         memory_chains(),     shared_chains(),
             reload(),        by_option(), stale_lines(), fresh_lines(),         dependent_grids(),   cache_shares(),
             peer_memory(),   atomics(),   few_threads(), more_threads(),        more_instructions(), more_data(),
             compute_bound(), launches(),  last_levels(), barrier_of_the_grid(), best_grid()},
        .tables = tables};
    return all;
}

} // namespace warpfold::ladder::occupancy

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::occupancy::laboratory();
}

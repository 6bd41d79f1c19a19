// SPDX-License-Identifier: MIT
// Stores: aligned, misaligned, strided; of some lanes, to one segment and more; and many lanes to one word, where an unspecified one wins. (380
// "GMEM Writes", "Some Store Pattern Examples", "Compute Capab. 3.x".)
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

constexpr unsigned wide = 8; // a stride of one segment

// Stores in[i] to out[stride i + offset].
__global__ void scatter(int* out, const int* in, std::uint64_t n, unsigned stride, unsigned offset) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[stride * i + offset] = in[i];
    }
}

// Of each warp the first `lanes` store, side by side or each to a segment of its own.
__global__ void store_some(int* out, const int* in, std::uint64_t n, unsigned lanes, bool apart) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    const unsigned lane = threadIdx.x % 32;
    if (i < n && lane < lanes) {
        out[apart ? i - lane + wide * lane : i] = in[i];
    }
}

// Every lane stores its number to its warp's one word.
__global__ void collide(int* out, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i / 32] = static_cast<int>(i % 32);
    }
}

// The output: n in order, n + 8 shifted by one, 8 n strided; zero where no thread stores.
engine::sample three_patterns(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n + n + 8 + wide * n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = right[n + i + 1] = right[2 * n + 8 + wide * i] = in[i];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_patterns(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    int* const out = on.output<int>();
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(out, 0, (2 * on.n + 8 + wide * on.n) * sizeof(int), on.stream));
    const auto one = [&](int* to, unsigned stride, unsigned offset) {
        engine::launch(on, "scatter", scatter, blocks_for(on.n), threads, 0, to, on.input<int>(), on.n, stride, offset);
    };
    one(out, 1, 0);
    one(out + on.n, 1, 1);
    one(out + 2 * on.n + 8, wide, 0);
}

struct some_lanes {
    unsigned lanes;
    bool apart;
    double segments;
};
constexpr some_lanes transactions[] = {{8, false, 1}, {16, false, 2}, {32, false, 4}, {3, true, 3}};

engine::sample stored_by_some(std::uint64_t n, std::uint64_t seed) {
    n = n / 32 * 32;
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(std::size(transactions) * n);
    std::uint64_t begin = 0;
    for (const auto& [lanes, apart, segments] : transactions) {
        for (std::uint64_t i = 0; i < n; ++i) {
            if (i % 32 < lanes) {
                right[begin + (apart ? i - i % 32 + wide * (i % 32) : i)] = in[i];
            }
        }
        begin += n;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_some_lanes(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    int* out = on.output<int>();
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(out, 0, std::size(transactions) * on.n * sizeof(int), on.stream));
    for (const auto& [lanes, apart, segments] : transactions) {
        engine::launch(on, "store_some", store_some, blocks_for(on.n), threads, 0, out, on.input<int>(), on.n, lanes,
                       apart);
        out += on.n;
    }
}

engine::sample last_lanes(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right;
    for (std::uint64_t first = 0; first < n; first += 32) {
        right.push_back(static_cast<std::int32_t>(std::min<std::uint64_t>(n - first, 32) - 1));
    }
    return {n, {}, engine::bytes_of(right)};
}

void run_colliding(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "collide", collide, blocks_for(on.n), threads, 0, on.output<int>(), on.n);
    }
}

// Lanes that add instead: each thread's write counts.
__global__ void collide_by_atomics(int* out, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        atomicAdd(out + i / 32, static_cast<int>(i % 32));
    }
}

void run_atomics(const engine::stage& on) {
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, warps_of(on.n) * sizeof(int), on.stream));
    engine::launch(on, "collide_by_atomics", collide_by_atomics, blocks_for(on.n), threads, 0, on.output<int>(), on.n);
}

verdict one_two_or_four(const engine::evidence& e) {
    const auto here = stores_by_launch(e);
    return seen(here[0] == 1 && here[1] == 2 && here[2] == 4,
                "segments a store of 8, 16 and 32 lanes: " + list({here[0], here[1], here[2]}, 0));
}

verdict required_ones_only(const engine::evidence& e) {
    const double here = stores_by_launch(e).back();
    return seen(here == transactions[3].segments, number(here, 0) + " segments a store of 3 lanes, 32 bytes apart");
}

verdict granularity(const engine::evidence& e) {
    const auto here = stores_by_launch(e);
    return seen(here == std::vector<double>{4, 5, 32},
                "segments a store: " + list(here, 0) + ", in order, shifted by a word, at a stride of 32 bytes");
}

verdict one_of_them(const engine::evidence& e) {
    const auto values = engine::view<std::int32_t>(e.result);
    const bool all = std::all_of(values.begin(), values.end(), [](std::int32_t v) { return v >= 0 && v < 32; });
    return seen(all, all ? "every word holds the number of one of its lanes; the first that of lane " +
                               std::to_string(values[0])
                         : "a word that no lane has stored");
}

verdict one_segment(const engine::evidence& e) {
    const double here = engine::sectors_a_store(e.step.launches[0].total);
    return seen(here == 1, number(here, 0) + " segment a store");
}

constexpr const char* source = "ladder/memory/03_stores.cu";
constexpr const char* writes = "380, GMEM Writes";

} // namespace

engine::step_definition store_patterns() {
    return {.about = {"stores", "store patterns", source, "the same patterns, the other way",
                      "380, Some Store Pattern Examples"},
            .data = three_patterns,
            .run = run_patterns,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return (3 + 1 + 1 + wide) * n * sizeof(int); },
            .claims = {{"access is at 32 B segment granularity", writes,
                        full_warps(granularity).refuted_by(engine::launches_exchanged(0, 2))}}};
}

engine::step_definition store_transactions() {
    return {.about = {"store segments", "stores of 1, 2 and 4 segments", source,
                      "8, 16 and 32 lanes side by side, and 3 lanes in a segment each", writes},
            .data = stored_by_some,
            .run = run_some_lanes,
            .size = [](std::uint64_t n) { return std::min<std::uint64_t>(n, 1u << 22) / 32 * 32; },
            .claims = {{"transaction to memory: 1, 2, or 4 segments", writes,
                        full_warps(one_two_or_four).refuted_by(engine::launches_exchanged(0, 2))},
                       {"only the required segments will be sent", writes,
                        full_warps(required_ones_only).refuted_by(engine::launches_exchanged(2, 3))}}};
}

engine::step_definition colliding_stores() {
    return {
        .about = {"colliding", "colliding stores", source, "32 lanes store to one word",
                  "380, Compute Capab. 3.x (Kepler, Part 2)"},
        .data = last_lanes,
        .run = run_colliding,
        .expected = outcome::by_luck,
        .lesson = "one of the lanes has the last word, and nothing says that it is the last lane",
        .finds = "race in global memory",
        .claims = {{"only one thread performs a write and which thread does it is undefined",
                    "380, Compute Capab. 3.x (Kepler, Part 2)",
                    engine::launched(one_of_them).refuted_by(engine::mutant("lanes that add atomically", run_atomics))},
                   {"the lanes' stores to one word take one segment", "beyond the lectures",
                    engine::counted(one_segment).refuted_by(engine::step_in_place("stores"))}}};
}

} // namespace warpfold::ladder::memory

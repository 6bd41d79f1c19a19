// SPDX-License-Identifier: MIT
// Stores: aligned, misaligned, strided; and many lanes to one word, where an unspecified one wins. (380
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

verdict granularity(const engine::evidence& e) {
    std::vector<double> here;
    for (const auto& launch : e.step.launches) {
        here.push_back(sectors_a_store(launch.total));
    }
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
    const double here = sectors_a_store(e.step.launches[0].total);
    return seen(here == 1, number(here, 0) + " segment a store");
}

constexpr const char* source = "ladder/memory/03_stores.cu";

} // namespace

engine::step_definition store_patterns() {
    return {.about = {"stores", "store patterns", source, "the same patterns, the other way",
                      "380, Some Store Pattern Examples"},
            .data = three_patterns,
            .run = run_patterns,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return (3 + 1 + 1 + wide) * n * sizeof(int); },
            .claims = {{"access is at 32 B segment granularity", "380, GMEM Writes", full_warps(granularity)}}};
}

engine::step_definition colliding_stores() {
    return {.about = {"colliding", "colliding stores", source, "32 lanes store to one word",
                      "380, Compute Capab. 3.x (Kepler, Part 2)"},
            .data = last_lanes,
            .run = run_colliding,
            .expected = outcome::by_luck,
            .lesson = "one of the lanes has the last word, and nothing says that it is the last lane",
            .finds = "race in global memory",
            .claims = {{"only one thread performs a write and which thread does it is undefined",
                        "380, Compute Capab. 3.x (Kepler, Part 2)", one_of_them},
                       {"the lanes' stores take one transaction", "380, GMEM Writes", engine::counted(one_segment)}}};
}

} // namespace warpfold::ladder::memory

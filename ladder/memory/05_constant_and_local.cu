// SPDX-License-Identifier: MIT
// Constant memory with one address and with many; local memory, which the compiler chooses; the cache operators of PTX. (380
// "Memory and Cache Types", "Access Path", "PTX Cache Operators"; parallel patterns "Constant Memory".)
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

constexpr unsigned words = 64;
__constant__ int table[words];

// Adds 16 words of the table to each element: the same for all lanes (spread 0), or another for each (spread 1). In every
// block, or in the first alone.
template <bool EveryBlock>
__global__ void add_constants(int* out, const int* in, std::uint64_t n, unsigned spread) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        int sum = in[i];
        for (unsigned k = 0; k < 16 && (EveryBlock || blockIdx.x == 0); ++k) {
            sum += table[(k + spread * threadIdx.x) % words];
        }
        out[i] = sum;
    }
}

template <unsigned Spread>
engine::sample with_table(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    const auto constants = engine::numbers(words, seed + 1);
    std::vector<std::int32_t> right(in);
    for (std::uint64_t i = 0; i < n; ++i) {
        for (unsigned k = 0; k < 16; ++k) {
            right[i] += constants[(k + Spread * (i % threads)) % words];
        }
    }
    return {n, {engine::bytes_of(in), engine::bytes_of(constants)}, engine::bytes_of(right)};
}

template <unsigned Spread, bool EveryBlock = true>
void run_constant(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    WARPFOLD_CUDA_CHECK(cudaMemcpyToSymbolAsync(table, on.in[1], sizeof table, 0, cudaMemcpyDeviceToDevice, on.stream));
    engine::launch(on, "add_constants", add_constants<EveryBlock>, blocks_for(on.n), threads, 0, on.output<int>(),
                   on.input<int>(), on.n, Spread);
}

verdict explicit_code(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.constant_load_requests == 16 * warps_of(e.n()) && c.global_load_requests == warps_of(e.n()),
                std::to_string(c.constant_load_requests / warps_of(e.n())) +
                    " loads of a warp go to constant memory, " +
                    std::to_string(c.global_load_requests / warps_of(e.n())) + " to global memory");
}

verdict visible(const engine::evidence& e) {
    const auto got = engine::view<std::int32_t>(e.result);
    const auto right = engine::view<std::int32_t>(e.data.right);
    std::uint64_t blocks = 0;
    for (std::uint64_t first = 0; first < e.n(); first += threads) {
        const auto count = std::min<std::uint64_t>(threads, e.n() - first);
        blocks += std::equal(got.begin() + first, got.begin() + first + count, right.begin() + first) ? 1 : 0;
    }
    return seen(blocks == blocks_for(e.n()), std::to_string(blocks) + " of " + std::to_string(blocks_for(e.n())) +
                                                 " blocks have read the table that the host has copied there once");
}

// Sixteen values, summed in an order that the element itself chooses: an array with an index that the compiler does not
// know has no place in registers.
template <bool ByLane>
__global__ void in_local_memory(int* out, const int* in, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i >= n) {
        return;
    }
    const int value = in[i];
    int array[16];
    for (int k = 0; k < 16; ++k) {
        array[ByLane ? (k + static_cast<int>(threadIdx.x)) & 15 : k] = value * (k + 1);
    }
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        sum += array[(value + 5 * k) & 15];
    }
    out[i] = sum;
}

__global__ void in_registers(int* out, const int* in, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i >= n) {
        return;
    }
    const int value = in[i];
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        sum += value * (((value + 5 * k) & 15) + 1);
    }
    out[i] = sum;
}

engine::sample both_ways(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(2 * n);
    for (std::uint64_t i = 0; i < n; ++i) {
        for (int k = 0; k < 4; ++k) {
            right[i] += in[i] * (((in[i] + 5 * k) & 15) + 1);
        }
        right[n + i] = right[i];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

template <bool ByLane = false> // of the stores' index
void run_local(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    engine::launch(on, "in_local_memory", in_local_memory<ByLane>, blocks_for(on.n), threads, 0, on.output<int>(),
                   on.input<int>(), on.n);
    engine::launch(on, "in_registers", in_registers, blocks_for(on.n), threads, 0, on.output<int>() + on.n,
                   on.input<int>(), on.n);
}

verdict managed_by_compiler(const engine::evidence& e) {
    const auto& array = e.step.launches[0].total;
    const auto& none = e.step.launches[1].total;
    return seen(array.local_load_requests == 4 * warps_of(e.n()) && array.local_store_requests > 0 &&
                    none.local_load_requests == 0,
                std::to_string(array.local_load_requests / warps_of(e.n())) + " loads and " +
                    std::to_string(array.local_store_requests / warps_of(e.n())) +
                    " stores of local memory a warp with the array, none without it");
}

verdict side_by_side(const engine::evidence& e) {
    const auto stored = e.step.launches[0].total.local_store_sectors;
    const std::uint64_t least = warps_of(e.n()) * 16 * 32 * sizeof(int) / 32; // of 16 words of each lane
    return seen(stored == least, std::to_string(stored) + " segments of local memory stored, " + std::to_string(least) +
                                     " is the least for these words");
}

enum class by { ca, cg, cs, lu, cv };

template <by Operator>
__global__ void copy_with(int* out, const int* in, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        if constexpr (Operator == by::ca) {
            out[i] = __ldca(in + i);
        } else if constexpr (Operator == by::cg) {
            out[i] = __ldcg(in + i);
        } else if constexpr (Operator == by::cs) {
            out[i] = __ldcs(in + i);
        } else if constexpr (Operator == by::lu) {
            out[i] = __ldlu(in + i);
        } else {
            out[i] = __ldcv(in + i);
        }
    }
}

engine::sample five_copies(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    for (unsigned k = 0; k < 5; ++k) {
        right.insert(right.end(), in.begin(), in.end());
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_operators(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto one = [&](auto kernel, unsigned k) {
        engine::launch(on, "copy_with", kernel, blocks_for(on.n), threads, 0, on.output<int>() + k * on.n,
                       on.input<int>(), on.n);
    };
    one(copy_with<by::ca>, 0);
    one(copy_with<by::cg>, 1);
    one(copy_with<by::cs>, 2);
    one(copy_with<by::lu>, 3);
    one(copy_with<by::cv>, 4);
}

verdict same_segments(const engine::evidence& e) {
    const auto here = loads_by_launch(e);
    return seen(here == std::vector<double>(5, 4.0), "segments a load with ca, cg, cs, lu, cv: " + list(here, 0));
}

constexpr const char* source = "ladder/memory/05_constant_and_local.cu";

} // namespace

engine::step_definition constant_memory() {
    return {
        .about = {"constant", "constant memory, one address", source, "all lanes of a warp the same word",
                  "380, Access Path"},
        .data = with_table<0>,
        .run = run_constant<0>,
        .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
        .claims = {{"globally-scoped arrays qualified with __constant__ take the constant path", "380, Access Path",
                    full_warps(explicit_code).refuted_by(engine::step_in_place("aligned"))},
                   {"constant memory variables are visible to all thread blocks", "Parallel patterns, Constant Memory",
                    engine::launched(visible).refuted_by(
                        engine::mutant("a table that only the first block sees", run_constant<0, false>))}}};
}

engine::step_definition constant_spread() {
    return {.about = {"constant spread", "constant memory, many addresses", source, "each lane another word",
                      "380, Memory and Cache Types"},
            .data = with_table<1>,
            .run = run_constant<1>,
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"the constant cache is uniform: lanes that want other words are served one after the other",
                        "380, Memory and Cache Types", engine::slower_than("constant")}}};
}

engine::step_definition local_memory() {
    return {.about = {"local", "local memory", source, "an array whose index the compiler does not know",
                      "380, Access Path"},
            .data = both_ways,
            .run = run_local<>,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return 4 * n * sizeof(int); },
            .claims = {
                {"local memory: allocation/access managed by compiler", "380, Access Path",
                 full_warps(managed_by_compiler).refuted_by(engine::launches_exchanged(0, 1))},
                {"the lanes' words of an array in local memory lie side by side", "beyond the lectures",
                 full_warps(side_by_side).refuted_by(engine::mutant("another index in each lane", run_local<true>))}}};
}

engine::step_definition cache_operators() {
    return {.about = {"operators", "PTX cache operators", source, "ld.ca, ld.cg, ld.cs, ld.lu and ld.cv",
                      "380, PTX Cache Operators"},
            .data = five_copies,
            .run = run_operators,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return 10 * n * sizeof(int); },
            .claims = {{"they say where a line is kept, not what is read", "beyond the lectures",
                        full_warps(same_segments).refuted_by(engine::step_in_place("misaligned"))}}};
}

} // namespace warpfold::ladder::memory

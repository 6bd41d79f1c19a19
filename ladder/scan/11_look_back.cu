// SPDX-License-Identifier: MIT
// Scan, step 11: decoupled look-back (Merrill and Garland, 2016), beyond the lectures: one launch, every element read and
// written once. A block publishes the sum of its tile, adds the sums of the tiles before it until one of them has published
// its whole prefix, and then publishes its own prefix.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/device/shuffle_scan.cuh"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned each = 8; // consecutive elements of a thread
constexpr unsigned tile_elements = threads * each;

// A tile's word: what it has posted, and a value. Written and read whole, so that nothing has to be ordered.
constexpr unsigned long long nothing = 0;
constexpr unsigned long long own_sum = 1ull << 32;
constexpr unsigned long long whole_prefix = 2ull << 32;

__device__ unsigned long long word(unsigned long long kind, int value) { return kind | static_cast<unsigned>(value); }

// Of the first warp: the sum of all tiles before `tile`, 32 of them at a time.
__device__ int look_back(const volatile unsigned long long* words, unsigned tile) {
    const unsigned lane = threadIdx.x % 32;
    int before = 0;
    for (long long last = static_cast<long long>(tile) - 1; last >= 0; last -= 32) {
        const long long mine = last - lane;
        unsigned long long seen = whole_prefix;
        if (mine >= 0) {
            do {
                seen = words[mine];
            } while (seen == nothing);
        }
        const unsigned whole = __ballot_sync(0xffffffffu, (seen & whole_prefix) != 0);
        const unsigned nearest = whole == 0 ? 31 : __ffs(static_cast<int>(whole)) - 1;
        int value = lane <= nearest ? static_cast<int>(static_cast<unsigned>(seen)) : 0;
        for (unsigned stride = 16; stride > 0; stride /= 2) {
            value += __shfl_xor_sync(0xffffffffu, value, stride);
        }
        before += value;
        if (whole != 0) {
            break;
        }
    }
    return before;
}

__global__ void look_back_scan(int* output, const int* input, volatile unsigned long long* words, unsigned* ticket,
                               std::uint64_t n) {
    __shared__ int values[tile_elements + tile_elements / 32]; // a word of padding after every 32
    __shared__ int totals[32];
    __shared__ int prefix;
    __shared__ unsigned tile;
    const unsigned tid = threadIdx.x;
    if (tid == 0) {
        tile = atomicAdd(ticket, 1); // tiles in the order in which blocks start: those before are under way
    }
    __syncthreads();
    const std::uint64_t first = std::uint64_t{tile} * tile_elements;
    for (unsigned k = tid; k < tile_elements; k += threads) {
        values[k + k / 32] = first + k < n ? input[first + k] : 0;
    }
    __syncthreads();
    int mine[each];
    int sum = 0;
    for (unsigned k = 0; k < each; ++k) {
        const unsigned at = tid * each + k;
        sum += values[at + at / 32];
        mine[k] = sum;
    }
    const int upto = block_inclusive_scan(sum, totals);
    if (tid < 32) {
        const int all = totals[threads / 32 - 1];
        if (tid == 0) {
            words[tile] = word(tile == 0 ? whole_prefix : own_sum, all);
        }
        const int before = look_back(words, tile);
        if (tid == 0) {
            if (tile != 0) {
                words[tile] = word(whole_prefix, before + all);
            }
            prefix = before;
        }
    }
    __syncthreads();
    for (unsigned k = 0; k < each; ++k) {
        const unsigned at = tid * each + k;
        values[at + at / 32] = prefix + upto - sum + mine[k];
    }
    __syncthreads();
    for (unsigned k = tid; k < tile_elements; k += threads) {
        if (first + k < n) {
            output[first + k] = values[k + k / 32];
        }
    }
}

void run(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const std::uint64_t tiles = engine::divide_up(on.n, tile_elements);
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.scratch, 0, on.scratch_bytes, on.stream));
    engine::launch(on, "look_back_scan", look_back_scan, static_cast<unsigned>(tiles), threads, 0, on.output<int>(),
                   on.input<int>(), on.temporary<unsigned long long>(8), on.temporary<unsigned>(), on.n);
}

verdict one_launch(const engine::evidence& e) {
    return seen(e.step.launches.size() == 1, count_of(e.step.launches.size(), "launch", "launches"));
}

// The tile is loaded between the first barrier and the second. How often a word of another tile is read after that
// depends on when its block was done, so these loads are told apart.
verdict once_over_memory(const engine::evidence& e) {
    if (e.n() < 16 * tile_elements) {
        return unseen("needs many tiles");
    }
    const auto all = engine::total(e.step.launches);
    const auto& intervals = e.first().by_interval;
    std::uint64_t looked_back = 0;
    for (std::size_t k = 2; k < intervals.size(); ++k) {
        looked_back += intervals[k].global_load_sectors;
    }
    const double passes = 32 * static_cast<double>(all.global_load_sectors - looked_back + all.global_store_sectors) /
                          static_cast<double>(8 * e.n());
    return seen(passes < 1.1, number(passes, 3) + "x the bytes that have to be read and written; looking back takes " +
                                  std::to_string(looked_back) + " segments more");
}

} // namespace

engine::step_definition look_back() {
    return {.about = {"11", "decoupled look-back", "ladder/scan/11_look_back.cu",
                      "one launch: a block waits for no more than the sums of those before it",
                      "beyond the lectures: Merrill and Garland (2016)"},
            .data = inclusive,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return 8 + 8 * engine::divide_up(n, tile_elements); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"one launch", "Merrill and Garland (2016)",
                 engine::launched(one_launch).refuted_by(engine::step_in_place("10"))},
                {"every element is read and written once", "Merrill and Garland (2016)",
                 engine::counted(once_over_memory).refuted_by(engine::step_in_place("10"))},
                {"faster than step 10", "Merrill and Garland (2016)", engine::faster_than("10")},
            }};
}

} // namespace warpfold::ladder::scan

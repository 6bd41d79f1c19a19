// SPDX-License-Identifier: MIT
// Convolution, steps 3 and 4: a tile of the input in shared memory, with its halo, or with the halo left to the caches.
// (Parallel patterns "The 1D Version": "What can we do??"; "Typically: load data from device memory to shared memory".)
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

__constant__ float mask_1d[mask_width];

__global__ void convolution_1d_halo(const float* n, float* p, int width) {
    __shared__ float part[threads + 2 * half];
    const int first = static_cast<int>(blockIdx.x * blockDim.x) - half;
    for (int k = static_cast<int>(threadIdx.x); k < static_cast<int>(threads) + 2 * half;
         k += static_cast<int>(threads)) {
        const int i = first + k;
        part[k] = i >= 0 && i < width ? n[i] : 0.0f;
    }
    __syncthreads();
    const int i = first + half + static_cast<int>(threadIdx.x);
    if (i < width) {
        float pvalue = 0;
        for (int j = 0; j < mask_width; ++j) {
            pvalue += part[threadIdx.x + static_cast<unsigned>(j)] * mask_1d[j];
        }
        p[i] = pvalue;
    }
}

__global__ void convolution_1d_cached(const float* n, float* p, int width) {
    __shared__ float part[threads];
    const int first = static_cast<int>(blockIdx.x * blockDim.x);
    const int i = first + static_cast<int>(threadIdx.x);
    part[threadIdx.x] = i < width ? n[i] : 0.0f;
    __syncthreads();
    if (i < width) {
        float pvalue = 0;
        for (int j = 0; j < mask_width; ++j) {
            const int at = i - half + j;
            if (at >= 0 && at < width) {
                const int in_tile = at - first;
                pvalue += (in_tile >= 0 && in_tile < static_cast<int>(threads) ? part[in_tile] : n[at]) * mask_1d[j];
            }
        }
        p[i] = pvalue;
    }
}

void run_one(const engine::stage& on, const char* name, void (*kernel)(const float*, float*, int)) {
    if (on.n == 0) {
        return;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbolAsync(mask_1d, on.in[1], sizeof mask_1d, 0, cudaMemcpyDeviceToDevice, on.stream));
    engine::launch(on, name, kernel, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0,
                   on.input<float>(), on.output<float>(), static_cast<int>(on.n));
}

void run_halo(const engine::stage& on) { run_one(on, "convolution_1d_halo", convolution_1d_halo); }
void run_cached(const engine::stage& on) { run_one(on, "convolution_1d_cached", convolution_1d_cached); }

verdict each_element_once(const engine::evidence& e) {
    const std::uint64_t blocks = e.step.launches[0].grid[0];
    const auto here = loads(e.step);
    const double a_load = ratio(pairs_of_line(e.n()), e.step);
    return seen(here <= e.n() + 2 * half * blocks, std::to_string(here) + " loads for " + std::to_string(e.n()) +
                                                       " elements: " + number(a_load, 1) + " operations a load");
}

verdict halo_share(const engine::evidence& e) {
    if (e.n() < 10 * threads) {
        return unseen("needs many blocks");
    }
    const double extra = static_cast<double>(loads(e.step)) / static_cast<double>(e.n()) - 1;
    const double expected = static_cast<double>(2 * half) / threads;
    return seen(extra > 0.9 * expected && extra < 1.1 * expected,
                number(100 * extra, 2) + " % more loads than elements: a halo of 8 for each 256");
}

verdict without_halo_in_tile(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].static_shared_bytes;
    const auto before = other.launches[0].static_shared_bytes;
    return seen(here < before, std::to_string(here) + " bytes of shared memory, " + std::to_string(before) +
                                   " in step 3; " + std::to_string(loads(e.step)) + " loads, " +
                                   std::to_string(loads(other)) +
                                   " in step 3, the additional ones of what a neighbouring "
                                   "block has just loaded");
}

verdict divergent_again(const engine::evidence& e, const step_result& other) {
    if (e.n() < 10 * threads) {
        return unseen("needs many blocks");
    }
    const auto here = e.step.launches[0].total.divergent_branches;
    const auto before = other.launches[0].total.divergent_branches;
    return seen(here > before, std::to_string(here) + " divergent branches, " + std::to_string(before) + " in step 3");
}

// Bandwidth that is the same or higher: the caches' share of the tile takes no less time, beyond the spread of both.
verdict no_faster_than_shared(const engine::evidence& e) {
    const step_result* const other = e.other("3");
    if (!e.step.cold || other == nullptr || !other->cold || other->n != e.step.n) {
        return unseen("needs times, so a GPU");
    }
    const double times = e.step.cold->median / other->cold->median;
    return seen(e.step.cold->high >= other->cold->low,
                number(times, 2) + "x the time of step 3, which takes the halo into shared memory");
}

engine::counterexample half_the_time() {
    return engine::planted("half the time of step 3", [](engine::altered_evidence& e) {
        e.step.cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
        e.other("3").cold = timing{.median = 2, .low = 1.9, .high = 2.1, .samples = 31};
    });
}

} // namespace

engine::step_definition tiled_with_halo() {
    return {.about = {"3", "tiled, halo in shared memory", "ladder/convolution/03_tiled.cu",
                      "a block loads what it needs once, its neighbours' edge elements too",
                      "Parallel patterns, This means", false, "2"},
            .data = line,
            .run = run_halo,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"load data from device memory to shared memory, process it there: each element once",
                 "Parallel patterns, This means",
                 engine::counted(each_element_once).refuted_by(engine::step_in_place("2"))},
                {"the halo is loaded twice", "beyond the lectures",
                 engine::counted(halo_share).refuted_by(engine::step_in_place("4"))},
                {"faster than step 2", "beyond the lectures", engine::faster_than("2")},
            }};
}

engine::step_definition tiled_with_cache() {
    return {.about = {"4", "tiled, halo from the cache", "ladder/convolution/03_tiled.cu",
                      "only the block's own elements in shared memory: its neighbours' are in the caches already",
                      "380, Blocking for L1, Read-only, L2 Caches", false, "3"},
            .data = line,
            .run = run_cached,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"a simpler tile, and the halo from the cache", "beyond the lectures",
                 engine::compared("3", without_halo_in_tile)},
                {"it costs divergence at the edges of every tile", "beyond the lectures",
                 engine::compared("3", divergent_again)},
                {"if it is possible to block for L1 then it's possible to block for SMEM: same or higher bandwidth",
                 "380, Blocking for L1, Read-only, L2 Caches",
                 engine::check(no_faster_than_shared).refuted_by(half_the_time())},
            }};
}

} // namespace warpfold::ladder::convolution

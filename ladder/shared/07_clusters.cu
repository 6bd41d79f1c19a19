// SPDX-License-Identifier: MIT
// Shared memory of another block: there is none but in a cluster of blocks, from compute capability 9.0 on. Elsewhere blocks
// meet in global memory, by a second launch. (380 "Memory and Cache Types".)
#include <cooperative_groups.h>

#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::shared {

namespace {

// What the slide's "shareable only between threads in same thread block" leaves: each block puts its part into global memory,
// and the next launch reads the neighbour's.
__global__ void put(int* scratch, const int* in, std::uint64_t n) {
    __shared__ int values[threads];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    scratch[i] = values[threads - 1 - threadIdx.x];
}
__global__ void get(int* out, const int* scratch, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) {
        out[i] = scratch[std::uint64_t{blockIdx.x ^ 1} * threads + threadIdx.x];
    }
}

// What does not work: each block looks for the neighbour's values at the same place of its own shared memory.
__global__ void look_in_own(int* out, const int* in, std::uint64_t n) {
    __shared__ int values[threads];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) {
        out[i] = values[threads - 1 - threadIdx.x];
    }
}

unsigned pairs_of_blocks(std::uint64_t n) { return 2 * static_cast<unsigned>(engine::divide_up(n, 2 * threads)); }

engine::sample of_the_neighbour(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t from = (i / threads ^ 1) * threads + (threads - 1 - i % threads);
        right[i] = from < n ? in[from] : 0;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_two_launches(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const unsigned blocks = pairs_of_blocks(on.n);
    engine::launch(on, "put", put, blocks, threads, 0, on.temporary<int>(), on.input<int>(), on.n);
    engine::launch(on, "get", get, blocks, threads, 0, on.output<int>(), on.temporary<int>(), on.n);
}

void run_in_own(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "look_in_own", look_in_own, pairs_of_blocks(on.n), threads, 0, on.output<int>(),
                       on.input<int>(), on.n);
    }
}

// The same in one launch, by reading the neighbour's shared memory.
__global__ void get_from_the_neighbour(int* out, const int* in, std::uint64_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ int values[threads];
    const auto cluster = cooperative_groups::this_cluster();
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    cluster.sync();
    const int* const others = cluster.map_shared_rank(&values[0], cluster.block_rank() ^ 1);
    if (i < n) {
        out[i] = others[threads - 1 - threadIdx.x];
    }
    cluster.sync(); // no block ends while another reads its memory
#else
    (void)out;
    (void)in;
    (void)n;
#endif
}

struct neighbours_values {
    engine::bytes got, right;
};
neighbours_values read_in_clusters() {
    constexpr std::uint64_t n = 1u << 14;
    const engine::sample data = of_the_neighbour(n, 9);
    const measure::device_memory in(n * sizeof(int));
    const measure::device_memory out(n * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(in.data(), data.in[0].data(), in.bytes(), cudaMemcpyHostToDevice));
    cudaLaunchAttribute two_blocks{};
    two_blocks.id = cudaLaunchAttributeClusterDimension;
    two_blocks.val.clusterDim.x = 2;
    two_blocks.val.clusterDim.y = two_blocks.val.clusterDim.z = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = pairs_of_blocks(n);
    how.blockDim = threads;
    how.attrs = &two_blocks;
    how.numAttrs = 1;
    WARPFOLD_CUDA_CHECK(cudaLaunchKernelEx(&how, get_from_the_neighbour, static_cast<int*>(out.data()),
                                           static_cast<const int*>(in.data()), n));
    engine::bytes got(n * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(got.data(), out.data(), got.size(), cudaMemcpyDeviceToHost));
    return {got, data.right};
}

verdict in_a_cluster(const engine::evidence& e) {
    const auto* const given = e.given<neighbours_values>();
    if (given == nullptr) {
        if (e.report.device.software) {
            return unseen("the software GPU has no clusters");
        }
        cudaFuncAttributes compiled{};
        WARPFOLD_CUDA_CHECK(cudaFuncGetAttributes(&compiled, get_from_the_neighbour));
        if (e.report.device.compute_major < 9 || compiled.ptxVersion < 90) {
            return unseen("needs compute capability 9.0, and to be compiled for it");
        }
    }
    const auto [got, right] = given != nullptr ? *given : read_in_clusters();
    return seen(got == right,
                std::string("one launch, clusters of two blocks, each reads the shared memory of the other: ") +
                    (got == right ? "right" : "wrong"));
}

verdict by_two_launches(const engine::evidence& e) {
    const std::uint64_t found = engine::right_words(e);
    return seen(found == e.n(), std::to_string(found) + " of " + std::to_string(e.n()) +
                                    " of the neighbour's values are found by " +
                                    std::to_string(e.step.launches.size()) + " launches");
}

constexpr const char* section = "380, Memory and Cache Types";

} // namespace

engine::step_definition neighbours_memory() {
    return {.about = {"clusters", "the neighbouring block's values", "ladder/shared/07_clusters.cu",
                      "by way of global memory; from 9.0 on out of its shared memory", section},
            .data = of_the_neighbour,
            .run = run_two_launches,
            .scratch_bytes = [](std::uint64_t n) { return std::size_t{pairs_of_blocks(n)} * threads * sizeof(int); },
            .least_bytes = [](std::uint64_t n) { return 4 * n * sizeof(int); },
            .claims = {{"shared memory: shareable only between threads in the same thread block", section,
                        engine::launched(by_two_launches)
                            .refuted_by(engine::mutant("blocks that look in their own shared memory", run_in_own))},
                       {"Hopper, CC 9.x: also in thread block clusters", section,
                        engine::check(in_a_cluster)
                            .refuted_by(engine::figures_in_place("values of the block itself",
                                                                 neighbours_values{{std::byte{1}}, {std::byte{2}}}))}}};
}

} // namespace warpfold::ladder::shared

// SPDX-License-Identifier: MIT
// Every lane another bank, in no order; warps that use the same banks at once; and how much there is of it. (759 "Bank
// Addressing Examples", "How Addresses Map to Banks on Fermi", "Shared Memory Architecture".)
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

namespace {

// Lane k of every warp reads word 11 k + 5 (modulo 32) of its warp's 32 words.
__host__ __device__ unsigned partner(unsigned thread) { return thread / 32 * 32 + (11 * thread + 5) % 32; }

__global__ void permute(int* out, const int* in, std::uint64_t n) {
    __shared__ int shrd[threads];
    const std::uint64_t first = std::uint64_t{blockIdx.x} * threads;
    shrd[threadIdx.x] = first + threadIdx.x < n ? in[first + threadIdx.x] : 0;
    __syncthreads();
    if (first + threadIdx.x < n) {
        out[first + threadIdx.x] = shrd[partner(threadIdx.x)];
    }
}

engine::sample permuted(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t from = i / threads * threads + partner(static_cast<unsigned>(i % threads));
        right[i] = from < n ? in[from] : 0;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_permuted(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "permute", permute, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0,
                       on.output<int>(), on.input<int>(), on.n);
    }
}

verdict no_conflict(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(engine::bank_conflicts(c) == 0, std::to_string(engine::bank_conflicts(c)) + " bank conflicts, " +
                                                    number(passes_a_load(c), 2) + " passes a load");
}

verdict one_pass_a_warp(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    const auto requests = c.shared_load_requests + c.shared_store_requests;
    const auto passes = c.shared_load_wavefronts + c.shared_store_wavefronts;
    return seen(passes == requests, std::to_string(requests) +
                                        " loads and stores of warps, eight to a block, each of words in the same 32 "
                                        "banks: " +
                                        std::to_string(passes) + " passes");
}

// Of a multiprocessor, in bytes.
struct on_chip {
    int shared = 0, registers = 0;
};
on_chip attributes() {
    int device = 0;
    on_chip all;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&all.shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&all.registers, cudaDevAttrMaxRegistersPerMultiprocessor, device));
    all.registers *= 4;
    return all;
}

verdict less_than_registers(const engine::evidence& e) {
    const auto* const given = e.given<on_chip>();
    const auto [shared, registers] = given != nullptr ? *given : attributes();
    return seen(shared < registers, std::to_string(shared / 1024) + " KiB of shared memory, " +
                                        std::to_string(registers / 1024) + " KiB of registers on a multiprocessor");
}

} // namespace

engine::step_definition permutation() {
    return {
        .about = {"permutation", "a random 1:1 permutation", "ladder/shared/05_permutation.cu",
                  "each lane another bank, each warp the same banks", "759, Bank Addressing Examples"},
        .data = permuted,
        .run = run_permuted,
        .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
        .claims = {{"no bank conflicts: random 1:1 permutation", "759, Bank Addressing Examples",
                    engine::counted(no_conflict).refuted_by(engine::step_in_place("two loads"))},
                   {"there is no such thing as bank conflicts between threads belonging to different warps",
                    "759, How Addresses Map to Banks on Fermi",
                    engine::counted(one_pass_a_warp).refuted_by(engine::step_in_place("two loads"))},
                   {"shared memory can store less data than the registers (48 KB against 128 KB)",
                    "759, Shared Memory Architecture [1/2]",
                    engine::check(less_than_registers)
                        .refuted_by(engine::figures_in_place("as much of both", on_chip{256 * 1024, 256 * 1024}))}}};
}

} // namespace warpfold::ladder::shared

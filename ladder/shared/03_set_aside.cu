// SPDX-License-Identifier: MIT
// Setting shared memory aside: declared in the kernel, or by the execution configuration, and more than 48 KiB by asking;
// the carve-out. (759 "3 Ways to Set Aside Shared Memory", "Shared Memory Architecture"; 380 "L1 Sizing".)
#include <algorithm>

#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

namespace {

constexpr unsigned block_elements = threads;

__global__ void reverse_static(int* out, const int* in, std::uint64_t n) {
    __shared__ int values[block_elements];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * block_elements + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    const std::uint64_t other = std::uint64_t{blockIdx.x} * block_elements + (block_elements - 1 - threadIdx.x);
    if (other < n) {
        out[other] = values[block_elements - 1 - threadIdx.x];
    }
}

__global__ void reverse_dynamic(int* out, const int* in, std::uint64_t n) {
    extern __shared__ int values_of_launch[];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * block_elements + threadIdx.x;
    values_of_launch[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    const std::uint64_t other = std::uint64_t{blockIdx.x} * block_elements + (block_elements - 1 - threadIdx.x);
    if (other < n) {
        out[other] = values_of_launch[block_elements - 1 - threadIdx.x];
    }
}

// Twice what is read: once by each kernel.
engine::sample twice(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    engine::bytes right(in);
    right.insert(right.end(), in.begin(), in.end());
    return {n, {in}, right};
}

engine::sample once(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    return {n, {in}, in};
}

unsigned blocks(std::uint64_t n) { return static_cast<unsigned>(engine::divide_up(n, block_elements)); }

void run(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    engine::launch(on, "reverse_static", reverse_static, blocks(on.n), threads, 0, on.output<int>(), on.input<int>(),
                   on.n);
    engine::launch(on, "reverse_dynamic", reverse_dynamic, blocks(on.n), threads, block_elements * sizeof(int),
                   on.output<int>() + on.n, on.input<int>(), on.n);
}

std::size_t most_by_asking() {
    int device = 0;
    int most = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return static_cast<std::size_t>(most);
}

// All that a block may have.
void run_large(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const std::size_t bytes = most_by_asking();
    const auto function = reinterpret_cast<const void*>(&reverse_dynamic);
    WARPFOLD_CUDA_CHECK(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    WARPFOLD_CUDA_CHECK(
        cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    engine::launch(on, "reverse_dynamic", reverse_dynamic, blocks(on.n), threads, bytes, on.output<int>(),
                   on.input<int>(), on.n);
}

verdict two_ways(const engine::evidence& e) {
    const auto& first = e.step.launches[0];
    const auto& second = e.step.launches[1];
    const std::uint64_t bytes = block_elements * sizeof(int);
    return seen(first.static_shared_bytes == bytes && first.dynamic_shared_bytes == 0 &&
                    second.static_shared_bytes == 0 && second.dynamic_shared_bytes == bytes,
                std::to_string(first.static_shared_bytes) + " bytes declared in the kernel; " +
                    std::to_string(second.dynamic_shared_bytes) + " bytes by the execution configuration");
}

verdict at_most_48_kib(const engine::evidence& e) {
    const auto bytes = e.step.launches[0].dynamic_shared_bytes;
    const std::string figure = "a block has " + std::to_string(bytes) + " bytes here, by cudaFuncSetAttribute()";
    return bytes <= 48 * 1024 ? seen(true, figure) : holds_only_for("Fermi and Kepler", figure);
}

constexpr const char* source = "ladder/shared/03_set_aside.cu";

} // namespace

engine::step_definition ways_to_set_aside() {
    return {.about = {"set aside", "static and dynamic", source, "declared in the kernel, or sized at the launch",
                      "759, 3 Ways to Set Aside Shared Memory"},
            .data = twice,
            .run = run,
            .claims = {{"first way: declared inside a kernel; second way: through the execution configuration",
                        "759, 3 Ways to Set Aside Shared Memory",
                        engine::counted(two_ways).refuted_by(engine::launches_exchanged(0, 1))}}};
}

engine::step_definition carve_out() {
    return {.about = {"carve-out", "all that a block may have", source,
                      "asked for by cudaFuncSetAttribute, carved out of L1", "759, Shared Memory Architecture"},
            .data = once,
            .run = run_large,
            .claims = {{"48 KB of ShMem at most: Fermi can be partitioned as 48 and 16 KB",
                        "759, Shared Memory Architecture [1/2]",
                        engine::launched(at_most_48_kib).refuted_by(engine::on_size(1024))}}};
}

} // namespace warpfold::ladder::shared

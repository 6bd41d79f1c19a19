// SPDX-License-Identifier: MIT
// A barrier of the whole grid, which CUDA has today: a cooperative launch, and why its grid is not as large as one likes. (759
// and 380 "Problem: Global Synchronization".)
#include <cooperative_groups.h>

#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/steps.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned block = 256;

// Sums of blocks, and behind a barrier of the grid the first block's sum of those.
__global__ void sum_in_one_launch(int* out, int* partial, const int* in, std::uint64_t n) {
    __shared__ int sums[block];
    const auto sum_of_block = [&](const int* values, std::uint64_t count, std::uint64_t first, std::uint64_t stride) {
        int sum = 0;
        for (std::uint64_t i = first; i < count; i += stride) {
            sum += values[i];
        }
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned s = block / 2; s > 0; s /= 2) {
            if (threadIdx.x < s) {
                sums[threadIdx.x] += sums[threadIdx.x + s];
            }
            __syncthreads();
        }
        return sums[0];
    };
    const int mine =
        sum_of_block(in, n, std::uint64_t{blockIdx.x} * block + threadIdx.x, std::uint64_t{gridDim.x} * block);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
    }
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) {
        const int all = sum_of_block(partial, gridDim.x, threadIdx.x, block);
        if (threadIdx.x == 0) {
            *out = all;
        }
    }
}

unsigned most_resident(unsigned multiprocessors) {
    int blocks = 0;
    WARPFOLD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_in_one_launch, block, 0));
    return static_cast<unsigned>(blocks) * multiprocessors;
}

cudaError_t launch(const engine::stage& on, unsigned blocks) {
    int* out = on.output<int>();
    int* partial = on.temporary<int>();
    const int* in = on.input<int>();
    std::uint64_t n = on.n;
    void* arguments[] = {&out, &partial, &in, &n};
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&sum_in_one_launch), blocks, block, arguments, 0,
                                       on.stream);
}

// The sum, and what the runtime answers to one block more than the device holds at once.
engine::sample sum_and_answer(std::uint64_t n, std::uint64_t seed) {
    if (n == 0) {
        return {};
    }
    const auto in = engine::numbers(n, seed);
    std::int32_t sum = 0;
    for (const std::int32_t value : in) {
        sum += value;
    }
    return {n,
            {engine::bytes_of(in)},
            engine::bytes_of(std::vector<std::int32_t>{sum, cudaErrorCooperativeLaunchTooLarge})};
}

constexpr unsigned most_blocks = 1u << 16;

void run_cooperative(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const unsigned most = most_resident(on.multiprocessors);
    const auto answer = static_cast<std::int32_t>(launch(on, most + 1));
    (void)cudaGetLastError(); // an answer, no fault
    const auto wanted = static_cast<unsigned>(std::min<std::uint64_t>(engine::divide_up(on.n, block), most));
    measure::check(launch(on, wanted), "sum_in_one_launch", __FILE__, __LINE__);
    if (on.launches != nullptr) {
        auto& record = on.launches->emplace_back();
        record.kernel = record.symbol = "sum_in_one_launch";
        record.grid[0] = wanted;
        record.block[0] = block;
    }
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyAsync(on.output<std::int32_t>() + 1, &answer, sizeof answer, cudaMemcpyHostToDevice, on.stream));
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream)); // before `answer` goes
}

verdict has_none(const engine::evidence& e) {
    const std::string figure = std::to_string(e.step.launches.size()) + " launch of " +
                               std::to_string(e.step.launches.at(0).grid[0]) + " blocks with a barrier between them";
    return e.step.correct && e.step.launches.size() == 1
               ? holds_only_for("launches that are not cooperative, and before CUDA 9", figure)
               : seen(true, figure);
}

verdict fewer_blocks(const engine::evidence& e) {
    const auto codes = engine::view<std::int32_t>(e.result);
    const unsigned most = most_resident(static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1)));
    return seen(codes[1] == cudaErrorCooperativeLaunchTooLarge,
                std::to_string(most) + " blocks of 256 threads at most, with one more " +
                    cudaGetErrorName(static_cast<cudaError_t>(codes[1])));
}

const auto a_success = engine::planted("success with one block more", [](engine::altered_evidence& e) {
    for (std::size_t k = sizeof(std::int32_t); k < e.result.size(); ++k) {
        e.result[k] = std::byte{cudaSuccess};
    }
});

constexpr const char* section = "380, Problem: Global Synchronization";

} // namespace

engine::step_definition barrier_of_the_grid() {
    return {
        .about = {"grid barrier", "a barrier of the grid in one launch", "ladder/occupancy/08_grid_barrier.cu",
                  "a cooperative launch: all blocks are on the device at once", section},
        .data = sum_and_answer,
        .run = run_cooperative,
        .scratch_bytes = [](std::uint64_t) { return most_blocks * sizeof(int); },
        .least_bytes = [](std::uint64_t n) { return n * sizeof(int); },
        .claims = {{"CUDA has no global synchronization", section,
                    engine::launched(has_none).refuted_by(engine::on_size(4096))},
                   {"it would force the programmer to run fewer blocks (no more than # multiprocessors x # resident "
                    "blocks / multiprocessor) to avoid deadlock",
                    section, engine::launched(fewer_blocks).refuted_by(a_success)}}};
}

} // namespace warpfold::ladder::occupancy

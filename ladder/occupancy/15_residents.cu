// SPDX-License-Identifier: MIT
// How many blocks are on a multiprocessor at once, counted by the blocks themselves, against what the occupancy API predicts.
// (Parallel patterns "cudaOccupancyMaxActiveBlocksPerMultiprocessor": "Don't forget: it is just a prediction!".)
#include <algorithm>
#include <vector>

#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned threads_of_the_step = 128;

// Each block counts itself; where `here` is given, it also stays for a while, and notes how many stay on its multiprocessor.
__global__ void stay(int* arrived, unsigned* here, unsigned* most, std::int64_t cycles) {
    unsigned place = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(place));
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        if (here != nullptr) {
            atomicMax(most + place, atomicAdd(here + place, 1) + 1);
        }
    }
    const std::int64_t begin = clock64();
    while (clock64() - begin < cycles) {
    }
    __syncthreads();
    if (threadIdx.x == 0 && here != nullptr) {
        atomicSub(here + place, 1);
    }
}

engine::sample all_of_them(std::uint64_t n, std::uint64_t /*seed*/) {
    return {n, {}, engine::bytes_of(std::vector<std::int32_t>{static_cast<std::int32_t>(n)})};
}

void run_blocks(const engine::stage& on) {
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, sizeof(int), on.stream));
    if (on.n != 0) {
        engine::launch(on, "stay", stay, static_cast<unsigned>(on.n), threads_of_the_step, 0, on.output<int>(), nullptr,
                       nullptr, 0);
    }
}

// Blocks of 32 to 1024 threads on a multiprocessor.
struct residents_found {
    std::vector<std::uint64_t> predicted, counted;
};
residents_found count_residents(const engine::evidence& e) {
    const auto multiprocessors = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    constexpr unsigned most_places = 1024;
    const measure::device_memory arrived(sizeof(int));
    const measure::device_memory here(most_places * sizeof(unsigned));
    const measure::device_memory most(here.bytes());
    const measure::stream on;
    std::vector<std::uint64_t> predicted;
    std::vector<std::uint64_t> counted;
    for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
        int blocks = 0;
        WARPFOLD_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stay, static_cast<int>(threads), 0));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(here.data(), 0, here.bytes(), on.handle()));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(most.data(), 0, most.bytes(), on.handle()));
        stay<<<4 * multiprocessors* static_cast<unsigned>(blocks), threads, 0, on.handle()>>>(
            static_cast<int*>(arrived.data()), static_cast<unsigned*>(here.data()), static_cast<unsigned*>(most.data()),
            100'000);
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        on.synchronize();
        std::vector<unsigned> found(most_places);
        WARPFOLD_CUDA_CHECK(cudaMemcpy(found.data(), most.data(), most.bytes(), cudaMemcpyDeviceToHost));
        predicted.push_back(static_cast<std::uint64_t>(blocks));
        counted.push_back(*std::max_element(found.begin(), found.end()));
    }
    return {predicted, counted};
}

verdict as_predicted(const engine::evidence& /*e*/, const residents_found& r) {
    return seen(r.predicted == r.counted, "blocks of 32, 64, 128, 256, 512, 1024 threads on a multiprocessor: " +
                                              list(r.predicted) + " predicted, " + list(r.counted) + " counted");
}

constexpr const char* section = "Parallel patterns, cudaOccupancyMaxActiveBlocksPerMultiprocessor";

} // namespace

engine::step_definition residents() {
    return {.about = {"residents", "blocks that count each other", "ladder/occupancy/15_residents.cu",
                      "how many are on a multiprocessor at once", section, false, "calculator"},
            .data = all_of_them,
            .run = run_blocks,
            .size = engine::at_most(4096),
            .claims = {{"a prediction, don't forget: just a prediction, which comes true here", section,
                        engine::measured(count_residents, as_predicted)
                            .refuted_by(engine::figures_in_place("a block less than predicted",
                                                                 residents_found{{32, 16}, {32, 15}}))}}};
}

} // namespace warpfold::ladder::occupancy

// SPDX-License-Identifier: MIT
// Histogram, implementation 4: privatisation. Each block counts into a copy in shared memory, and adds the copy to the
// final histogram at its end. (Parallel patterns "Implementation 4".)
// Mended: the slide counts buffer[i]/4 without taking "a" off, and without asking for letters; its private copy has two
// names.
#include "ladder/histogram/private.cuh"

namespace warpfold::ladder::histogram {

namespace {

__global__ void histo_private_kernel(const unsigned char* buffer, std::uint64_t size, int* histo) {
    __shared__ int histo_private[letter_bins];
    if (threadIdx.x < letter_bins) {
        histo_private[threadIdx.x] = 0;
    }
    __syncthreads();
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    while (i < size) {
        const int position = buffer[i] - 'a';
        if (position >= 0 && position < 26) {
            atomicAdd(&histo_private[position / 4], 1);
        }
        i += stride;
    }
    __syncthreads(); // wait for all other threads in the block to finish
    if (threadIdx.x < letter_bins) {
        atomicAdd(&histo[threadIdx.x], histo_private[threadIdx.x]);
    }
}

void run(const engine::stage& on) {
    clear(on, letter_bins);
    engine::launch(on, "histo_private_kernel", histo_private_kernel, blocks_of(on), threads, 0,
                   on.input<unsigned char>(), on.n, on.output<int>());
}

void run_bytes(const engine::stage& on) {
    clear(on, byte_bins);
    engine::launch(on, "count_bytes_privately", count_bytes_privately, blocks_of(on), threads, 0,
                   on.input<unsigned char>(), on.n, on.output<int>());
}

verdict less_contention(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total.atomic_lanes;
    const auto before = other.launches[0].total.atomic_lanes;
    return seen(here == std::uint64_t{letter_bins} * e.step.launches[0].grid[0] && (here < before || e.n() < 100),
                std::to_string(here) + " atomic operations on the final copy, 7 a block; " + std::to_string(before) +
                    " in step 3");
}

verdict initialised_and_merged(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    const auto blocks = e.step.launches[0].grid[0];
    return seen(c.shared_store_bytes == std::uint64_t{letter_bins} * 4 * blocks &&
                    c.shared_load_bytes == std::uint64_t{letter_bins} * 4 * blocks,
                "7 stores to begin with, 7 loads at the end, two barriers a warp; " + std::to_string(blocks) +
                    " blocks");
}

verdict ten_times(const engine::evidence& e) {
    const step_result* const other = e.other("3");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU, and step 3 in the same run");
    }
    const double speedup = other->cold->median / e.step.cold->median;
    return seen(speedup > 10, number(speedup, 2) + "x here");
}

verdict fits(const engine::evidence& e) {
    const auto bytes = e.step.launches[0].static_shared_bytes;
    return seen(bytes == 1024,
                std::to_string(bytes) + " bytes of shared memory for 256 bins; a block has 49152 without asking");
}

} // namespace

engine::step_definition private_copies() {
    return {.about = {"4", "private copies in shared memory", "ladder/histogram/04_private_copies.cu",
                      "each block counts into its own copy, and adds it to the final one at its end",
                      "Parallel patterns, Implementation 4"},
            .data = text,
            .run = run,
            .least_bytes = [](std::uint64_t n) { return n; },
            .claims = {
                {"much less contention and serialization in accessing the final copy",
                 "Parallel patterns, Implementation 4", engine::compared("3", less_contention)},
                {"overhead for creating and initializing private copies, and for accumulating them",
                 "Parallel patterns, Implementation 4", engine::counted(initialised_and_merged)},
                {"the overall performance can often be improved more than 10x", "Parallel patterns, Implementation 4",
                 ten_times},
            }};
}

engine::step_definition private_bytes() {
    return {.about = {"5", "private copies, 256 bins", "ladder/histogram/private.cuh", "the same of bytes, a bin each",
                      "Parallel patterns, About Privatization"},
            .data = uniform_bytes,
            .run = run_bytes,
            .least_bytes = [](std::uint64_t n) { return n; },
            .claims = {
                {"the private histogram size needs to be small: it has to fit into shared memory",
                 "Parallel patterns, About Privatization", engine::counted(fits)},
            }};
}

} // namespace warpfold::ladder::histogram

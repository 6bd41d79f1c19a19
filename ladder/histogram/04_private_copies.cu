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
    if (e.blocks() < 2) {
        return unseen("needs more than one block");
    }
    const auto final_copy = e.first().total.atomic_lanes;
    const double private_copy =
        static_cast<double>(e.first().total.shared_atomic_lanes) / static_cast<double>(e.blocks());
    const auto before = other.launches[0].total.atomic_lanes;
    return seen(10 * final_copy < before && 2 * private_copy <= static_cast<double>(before),
                std::to_string(final_copy) + " atomic operations on the final copy and " + number(private_copy, 0) +
                    " on each of " + std::to_string(e.blocks()) + " private ones; " + std::to_string(before) +
                    " on the one copy of step 3");
}

// Loads and stores of shared memory that count no letter, and barriers.
verdict overhead(const engine::evidence& e, const step_result& other) {
    const auto of = [](const step_result& s) {
        const auto& c = s.launches[0].total;
        return (c.shared_store_bytes + c.shared_load_bytes) / sizeof(int) + c.barriers;
    };
    const auto more = of(e.step) - of(other);
    return seen(of(e.step) > of(other) && e.first().total.atomic_lanes > 0,
                std::to_string(more) + " loads, stores and barriers that count nothing, and " +
                    std::to_string(e.first().total.atomic_lanes) + " additions to the final copy, for " +
                    std::to_string(e.n()) + " characters");
}

// More than the factor even of the slowest samples here against the fastest there.
verdict ten_times(const engine::evidence& e) {
    const step_result* const other = e.other("3");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU, and step 3 in the same run");
    }
    const std::string figure = number(other->cold->median / e.step.cold->median, 2) + "x here";
    if (other->cold->low > 10 * e.step.cold->high) {
        return seen(true, figure);
    }
    return other->cold->high < 10 * e.step.cold->low ? seen(false, figure)
                                                     : no_difference(figure + ", within its spread");
}

engine::counterexample nine_times() {
    return engine::planted("nine times the speed", [](engine::altered_evidence& e) {
        e.step.cold = timing{.median = 1, .low = 0.99, .high = 1.01, .samples = 31};
        e.other("3").cold = timing{.median = 9, .low = 8.9, .high = 9.1, .samples = 31};
    });
}

__global__ void count_in_dynamic_memory(const unsigned char* buffer, std::uint64_t size, int* histo, unsigned bins) {
    extern __shared__ int copy[];
    for (unsigned k = threadIdx.x; k < bins; k += blockDim.x) {
        copy[k] = 0;
    }
    __syncthreads();
    for (std::uint64_t i = threadIdx.x; i < size; i += blockDim.x) {
        atomicAdd(&copy[buffer[i] % bins], 1);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < bins; k += blockDim.x) {
        histo[k] = copy[k];
    }
}

// What the launch of one block with a private copy of so many bins answers.
void ask_for(const engine::stage& on, unsigned bins) {
    count_in_dynamic_memory<<<1, threads, bins * sizeof(int), on.stream>>>(on.input<unsigned char>(), on.n,
                                                                           on.temporary<int>(), bins);
    const std::int32_t answer = cudaGetLastError();
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(on.out, &answer, sizeof answer, cudaMemcpyHostToDevice, on.stream));
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
}

void run_too_large(const engine::stage& on) { ask_for(on, wide_bins); }
void run_small(const engine::stage& on) { ask_for(on, byte_bins); }

engine::sample refused(std::uint64_t n, std::uint64_t seed) {
    engine::sample s = uniform_bytes(n, seed);
    s.right = engine::bytes_of(std::vector<std::int32_t>{cudaErrorInvalidValue});
    return s;
}

verdict has_to_fit(const engine::evidence& e) {
    const auto answer = static_cast<cudaError_t>(engine::view<std::int32_t>(e.result)[0]);
    return seen(answer != cudaSuccess, std::string("the launch answers ") + cudaGetErrorName(answer) +
                                           "; 65,536 bins take 256 KiB of shared memory a block");
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
                {"much less contention and serialization in accessing both the private copies and the final copy",
                 "Parallel patterns, Implementation 4", engine::compared("3", less_contention)},
                {"overhead for creating and initializing private copies, and for accumulating them",
                 "Parallel patterns, Implementation 4", engine::compared("3", overhead)},
                {"the overall performance can often be improved more than 10x", "Parallel patterns, Implementation 4",
                 engine::check(ten_times).refuted_by(nine_times())},
            }};
}

engine::step_definition private_bytes() {
    return {.about = {"5", "private copies, 256 bins", "ladder/histogram/private.cuh", "the same of bytes, a bin each",
                      "Parallel patterns, About Privatization"},
            .data = uniform_bytes,
            .run = run_bytes,
            .least_bytes = [](std::uint64_t n) { return n; }};
}

engine::step_definition too_large() {
    return {.about = {"5l", "a private copy of 65,536 bins", "ladder/histogram/04_private_copies.cu",
                      "a launch that asks for more shared memory than a block can have",
                      "Parallel patterns, About Privatization"},
            .data = refused,
            .run = run_too_large,
            .size = engine::at_most(4096),
            .scratch_bytes = [](std::uint64_t) { return wide_bins * sizeof(int); },
            .claims = {{"the private histogram size needs to be small: fits into shared memory",
                        "Parallel patterns, About Privatization",
                        engine::check(has_to_fit).refuted_by(engine::mutant("256 bins", run_small))}}};
}

} // namespace warpfold::ladder::histogram

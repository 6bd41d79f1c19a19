// SPDX-License-Identifier: MIT
// Five reductions with the faults of their slides, and the consequences: no barrier where the slide asks for its purpose, a loop
// that stops before stride 1, a last warp of 33 threads, a loop that counts up by one, and a loop over the input without a bounds check. (759 "Reduction #1: Interleaved Addressing"; 380 "A better implementation", "Implicit Synchronization in a
// Warp", "Final Optimized Kernel"; Kharagpur "Reduction 7: Kernel".)
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

__device__ void load_one(float* shared, const float* input, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    shared[threadIdx.x] = i < n ? input[i] : 0.0f;
}

// "Why do we need to sync threads?"
__global__ void without_barriers(const float* input, float* partial, std::uint64_t n) {
    __shared__ volatile float sdata[threads];
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + tid;
    sdata[tid] = i < n ? input[i] : 0.0f;
    for (unsigned s = 1; s < threads; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] = sdata[tid] + sdata[tid + s];
        }
    }
    if (tid == 0) {
        partial[blockIdx.x] = sdata[0];
    }
}

// As printed, except for its first stride: from blockDim.x on, the slide's first iteration reads past the elements that a block
// of one element a thread has loaded.
__global__ void stops_before_one(const float* input, float* partial, std::uint64_t n) {
    __shared__ float partial_sum[threads];
    const unsigned t = threadIdx.x;
    load_one(partial_sum, input, n);
    for (unsigned stride = threads / 2; stride > 1; stride >>= 1) {
        __syncthreads();
        if (t < stride) {
            partial_sum[t] += partial_sum[t + stride];
        }
    }
    if (t == 0) {
        partial[blockIdx.x] = partial_sum[0];
    }
}

// tid <= 32: with "now: __syncwarp()", as the slide is annotated, so that nothing but the 33rd thread is at fault.
__global__ void last_warp_of_33(const float* input, float* partial, std::uint64_t n) {
    __shared__ float shared[threads];
    const unsigned tid = threadIdx.x;
    load_one(shared, input, n);
    __syncthreads();
    for (unsigned d = threads / 2; d > 32; d >>= 1) {
        if (tid < d) {
            shared[tid] += shared[tid + d];
        }
        __syncthreads();
    }
    if (tid <= 32) {
        const unsigned lanes = tid < 32 ? 0xffffffff : 1;
        for (unsigned d = 32; d > 0; d >>= 1) {
            const float sum = shared[tid] + shared[tid + d];
            __syncwarp(lanes);
            shared[tid] = sum;
            __syncwarp(lanes);
        }
    }
    if (tid == 0) {
        partial[blockIdx.x] = shared[0];
    }
}

// As printed: d counts up by one, and the last warp adds its six neighbours. With more than 64 threads the loop is not
// entered.
constexpr unsigned small_block = 64;
__global__ void counts_up(const float* input, float* partial, std::uint64_t n) {
    __shared__ volatile float shared[threads];
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + tid;
    shared[tid] = i < n ? input[i] : 0.0f;
    for (unsigned d = blockDim.x >> 1; d <= 32; d += 1) {
        __syncthreads();
        if (tid < d) {
            shared[tid] = shared[tid] + shared[tid + d];
        }
        __syncthreads();
        if (tid <= 32) {
            shared[tid] = shared[tid] + shared[tid + 1];
            shared[tid] = shared[tid] + shared[tid + 2];
            shared[tid] = shared[tid] + shared[tid + 3];
            shared[tid] = shared[tid] + shared[tid + 4];
            shared[tid] = shared[tid] + shared[tid + 5];
            shared[tid] = shared[tid] + shared[tid + 6];
        }
    }
    if (tid == 0) {
        partial[blockIdx.x] = shared[0];
    }
}

// reduce7: "out-of-bounds check missing, see SDK code". Its input here is the beginning of a longer array.
constexpr unsigned blocks_of_7 = 2;
__global__ void without_a_bound(const float* g_idata, float* g_odata, std::uint64_t n) {
    __shared__ float sdata[threads];
    const unsigned tid = threadIdx.x;
    std::uint64_t i = std::uint64_t{blockIdx.x} * (threads * 2) + tid;
    const std::uint64_t grid_size = std::uint64_t{threads} * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + g_idata[i + threads];
        i += grid_size;
    }
    __syncthreads();
    for (unsigned s = threads / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        g_odata[blockIdx.x] = sdata[0];
    }
}

// Whole numbers from 1 on: what is left out of a sum shows.
template <class T>
std::vector<T> positive(std::uint64_t n, std::uint64_t seed) {
    auto values = engine::numbers<T>(n, seed);
    for (T& value : values) {
        value += T{1001};
    }
    return values;
}

engine::sample positive_sums(std::uint64_t n, std::uint64_t seed) { return partial_sums(positive<float>(n, seed)); }

// The sums of the two blocks, which take turns; an odd number of times 128 elements, and 100 more.
constexpr std::uint64_t not_of_full_blocks(std::uint64_t n) {
    return std::max<std::uint64_t>(std::min<std::uint64_t>(n, 1u << 13) / 256, 1) * 256 + 100;
}
engine::sample sums_of_two_blocks(std::uint64_t n, std::uint64_t seed) {
    const auto in = positive<float>(n, seed);
    std::vector<float> sums(blocks_of_7);
    for (std::uint64_t i = 0; i < n; ++i) {
        sums[i / (2 * threads) % blocks_of_7] += in[i];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(sums), engine::value_type::float32};
}

// The sums of two blocks: of the first 64 numbers, and of the first 128.
engine::sample sums_of_both_sizes(std::uint64_t n, std::uint64_t seed) {
    const auto in = positive<float>(n, seed);
    std::vector<float> sums(2);
    for (std::uint64_t i = 0; i < n; ++i) {
        sums[0] += i < small_block ? in[i] : 0.0f;
        sums[1] += in[i];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(sums), engine::value_type::float32};
}

void run_counts_up(const engine::stage& on) {
    engine::launch(on, "counts_up", counts_up, 1, small_block, 0, on.input<float>(), on.output<float>(), on.n);
    engine::launch(on, "counts_up", counts_up, 1, threads, 0, on.input<float>(), on.output<float>() + 1, on.n);
}

void run_without_a_bound(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    float* const longer = on.temporary<float>();
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(longer, on.in[0], on.n * sizeof(float), cudaMemcpyDeviceToDevice, on.stream));
    engine::launch(on, "without_a_bound", without_a_bound, blocks_of_7, threads, 0, longer, on.output<float>(), on.n);
}

std::string result_text(const engine::evidence& e) { return e.step.correct ? "it came out right" : e.step.difference; }

verdict barriers_are_needed(const engine::evidence& e) {
    if (e.step.correct && e.found == nullptr) {
        return unseen("it came out right, which nothing promises");
    }
    return seen(!e.step.correct || e.found->has("race in shared memory"),
                result_text(e) + (e.found != nullptr ? "; " + e.found->in_words() : ""));
}

verdict last_addition_missing(const engine::evidence& e) {
    return seen(e.step.correct,
                e.step.difference + ": the loop ends before stride 1, and the second word is never added");
}

verdict thirty_third(const engine::evidence& e) {
    if (e.found == nullptr) {
        return e.step.correct ? unseen("it came out right, which nothing promises") : seen(false, result_text(e));
    }
    return seen(!e.found->has("race"), result_text(e) + "; " + e.found->in_words() +
                                           ": thread 32, the first of the second warp, writes what thread 0 reads");
}

verdict sums_by_counting_up(const engine::evidence& e) {
    const auto sums = engine::view<float>(e.result);
    const auto right = engine::view<float>(e.data.right);
    const auto pair = [](float here, float wanted) {
        return number(here, 0) + " where " + number(wanted, 0) + " is right";
    };
    return seen(std::equal(sums.begin(), sums.end(), right.begin(), right.end()),
                "64 threads: " + pair(sums[0], right[0]) + "; 128 threads, with which the loop is not entered: " +
                    pair(sums[1], right[1]) + (e.found != nullptr ? "; " + e.found->in_words() : ""));
}

verdict adds_what_is_behind(const engine::evidence& e) {
    const auto loaded = e.step.launches[0].total.global_load_bytes / sizeof(float);
    return seen(loaded > e.n(), std::to_string(loaded) + " elements added where there are " + std::to_string(e.n()) +
                                    ": " + result_text(e));
}

constexpr const char* source = "ladder/warps/08_slide_faults.cu";
constexpr const char* better = "380, A better implementation";
constexpr const char* implicit = "380, Implicit Synchronization in a Warp";
constexpr const char* last_kernel = "380, Final Optimized Kernel";

} // namespace

engine::step_definition no_barrier() {
    return {.about = {"no barrier", "by modulo, without barriers", source, "what the slide's question is about",
                      "759, Reduction #1: Interleaved Addressing"},
            .data = positive_sums,
            .run = [](const engine::stage& on) { run_tree(on, "without_barriers", without_barriers); },
            .least_bytes = floats_read,
            .expected = outcome::by_luck,
            .lesson = "without a barrier a thread adds what another has not written yet",
            .finds = "race in shared memory",
            .claims = {{"why do we need to sync threads?", "759, Reduction #1: Interleaved Addressing",
                        engine::check(barriers_are_needed).refuted_by(engine::step_in_place("modulo"))}}};
}

engine::step_definition stride_above_one() {
    return {.about = {"stride > 1", "the slide's loop to stride 2", source, "one iteration too few", better},
            .data = positive_sums,
            .run = [](const engine::stage& on) { run_tree(on, "stops_before_one", stops_before_one); },
            .size = [](std::uint64_t n) { return std::max<std::uint64_t>(n, 2); },
            .least_bytes = floats_read,
            .expected = outcome::wrong,
            .lesson = "the slide's loop goes on while stride > 1, and leaves out the last addition",
            .claims = {{"the final solution will be in element 0, with for (...; stride > 1; stride >>= 1)",
                        "380, A Vector Reduction Example; 380, A better implementation",
                        engine::check(last_addition_missing).refuted_by(engine::on_size(2))}}};
}

engine::step_definition warp_of_33() {
    return {.about = {"tid <= 32", "the slide's last warp", source, "33 threads, of which 32 are a warp", implicit},
            .data = positive_sums,
            .run = [](const engine::stage& on) { run_tree(on, "last_warp_of_33", last_warp_of_33); },
            .least_bytes = floats_read,
            .expected = outcome::by_luck,
            .lesson = "the slide has tid <= 32: the 33rd thread is of another warp, and nothing orders the two",
            .finds = "race in shared memory",
            .claims = {{"only one warp is active: shared reads and writes are synchronous within a warp, so skip "
                        "__syncthreads()",
                        implicit, engine::check(thirty_third).refuted_by(engine::step_in_place("no barrier"))}}};
}

engine::step_definition counting_up() {
    return {
        .about = {"d += 1", "the slide's last warp, as printed", source,
                  "d counts up by one, and the last warp adds the words at + 1, + 2, ..., + 6", implicit},
        .data = sums_of_both_sizes,
        .run = run_counts_up,
        .size = [](std::uint64_t) { return std::uint64_t{threads}; },
        .expected = outcome::wrong,
        .lesson = "the slide has d <= 32, d += 1 and the offsets 1 to 6, where d > 32, d >>= 1 and 32, 16, ..., 1 are "
                  "needed",
        .finds = "race in shared memory",
        .claims = {{"skip __syncthreads() and unroll last 5 iterations: for (d = n>>1; d <= 32; d += 1), and then + 1, "
                    "+ 2, ..., + 6",
                    implicit,
                    engine::check(sums_by_counting_up)
                        .refuted_by(engine::planted("zeros in the place of the sums",
                                                    [](engine::altered_evidence& e) { e.result.assign(8, {}); }))}}};
}

engine::step_definition missing_bound() {
    return {.about = {"no bound", "the slide's reduce7, elements behind the end", source,
                      "two elements a turn, of which the second is not asked for", last_kernel},
            .data = sums_of_two_blocks,
            .run = run_without_a_bound,
            .size = not_of_full_blocks,
            .scratch_bytes = [](std::uint64_t n) { return (n + 2 * threads) * sizeof(float); },
            .least_bytes = floats_read,
            .expected = outcome::by_luck,
            .lesson = "what lies behind the input is added to it",
            .finds = "unwritten memory",
            .claims = {{"out-of-bounds check missing, see SDK code", last_kernel,
                        engine::counted(adds_what_is_behind).refuted_by(engine::step_in_place("modulo"))}}};
}

} // namespace warpfold::ladder::warps

// SPDX-License-Identifier: MIT
// Convolution, step 2: the mask in constant memory: small, never changed, and read by all threads in the same order.
// (Parallel patterns "Mask M and Constant Memory".)
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

constexpr int even_width = 10; // "#define MASK_WIDTH 10"

__constant__ float mask_1d[even_width];

__global__ void convolution_1d_constant(const float* n, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0;
    const int start = i - half;
    for (int j = 0; j < mask_width; ++j) {
        if (start + j >= 0 && start + j < width) {
            pvalue += n[start + j] * mask_1d[j];
        }
    }
    p[i] = pvalue;
}

// Every other lane goes through the mask backwards.
__global__ void convolution_1d_both_orders(const float* n, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0;
    const int start = i - half;
    if (i % 2 == 0) {
        for (int j = 0; j < mask_width; ++j) {
            if (start + j >= 0 && start + j < width) {
                pvalue += n[start + j] * mask_1d[j];
            }
        }
    } else {
        for (int j = mask_width - 1; j >= 0; --j) {
            if (start + j >= 0 && start + j < width) {
                pvalue += n[start + j] * mask_1d[j];
            }
        }
    }
    p[i] = pvalue;
}

// A mask of ten has no middle: `before` of its elements weigh what comes before.
__global__ void convolution_1d_even(const float* n, float* p, int width, int before) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0;
    const int start = i - before;
    for (int j = 0; j < even_width; ++j) {
        if (start + j >= 0 && start + j < width) {
            pvalue += n[start + j] * mask_1d[j];
        }
    }
    p[i] = pvalue;
}

unsigned blocks_of(const engine::stage& on) { return static_cast<unsigned>(engine::divide_up(on.n, threads)); }

void set_mask(const engine::stage& on, int width) {
    WARPFOLD_CUDA_CHECK(cudaMemcpyToSymbolAsync(mask_1d, on.in[1], static_cast<std::size_t>(width) * sizeof(float), 0,
                                                cudaMemcpyDeviceToDevice, on.stream));
}

void run_one(const engine::stage& on, const char* name, void (*kernel)(const float*, float*, int)) {
    if (on.n != 0) {
        set_mask(on, mask_width);
        engine::launch(on, name, kernel, blocks_of(on), threads, 0, on.input<float>(), on.output<float>(),
                       static_cast<int>(on.n));
    }
}

void run(const engine::stage& on) { run_one(on, "convolution_1d_constant", convolution_1d_constant); }
void run_both_orders(const engine::stage& on) { run_one(on, "convolution_1d_both_orders", convolution_1d_both_orders); }

void run_with(const engine::stage& on, int before) {
    if (on.n != 0) {
        set_mask(on, even_width);
        engine::launch(on, "convolution_1d_even", convolution_1d_even, blocks_of(on), threads, 0, on.input<float>(),
                       on.output<float>(), static_cast<int>(on.n), before);
    }
}

void run_even(const engine::stage& on) { run_with(on, even_width / 2); }
void run_one_off(const engine::stage& on) { run_with(on, even_width / 2 - 1); }

engine::sample line_with_even_mask(std::uint64_t n, std::uint64_t seed) {
    return line_with(n, seed, mask_of(even_width));
}

verdict half_the_loads(const engine::evidence& e, const step_result& other) {
    const double here = ratio(pairs_of_line(e.n()), e.step);
    return seen(here > 1.9 && here < 2.1 && 2 * loads(e.step) <= loads(other) + e.n(),
                number(here, 2) + " operations a load; " + std::to_string(loads(e.step)) + " loads, " +
                    std::to_string(loads(other)) + " in step 1");
}

// One request serves all lanes of a warp, so that a warp makes one for each weight.
verdict same_order(const engine::evidence& e) {
    const auto requests = e.first().total.constant_load_requests;
    const double a_warp = static_cast<double>(requests) / static_cast<double>(engine::divide_up(e.n(), 32));
    return seen(requests > 0 && a_warp <= mask_width, number(a_warp, 1) +
                                                          " loads from constant memory by each warp, for " +
                                                          std::to_string(mask_width) + " weights");
}

verdict ten_weights(const engine::evidence& e) {
    return seen(e.step.correct,
                e.step.correct
                    ? "right: MASK_WIDTH * sizeof(float) bytes copied, 5 neighbours before an element and 4 behind it"
                    : e.step.difference);
}

} // namespace

engine::step_definition constant_mask() {
    return {
        .about = {"2", "mask in constant memory", "ladder/convolution/02_constant_mask.cu",
                  "the mask is small and never changes: a cached broadcast instead of a load for each thread",
                  "Parallel patterns, Mask M and Constant Memory"},
        .data = line,
        .run = run,
        .least_bytes = engine::read_and_written,
        .claims = {
            {"M is a good candidate for constant memory: 2 operations for each load from global memory",
             "Parallel patterns, Regarding Mask M", engine::compared("1", half_the_loads)},
            {"all threads need to access M and in the same order", "Parallel patterns, Regarding Mask M",
             engine::counted(same_order).refuted_by(engine::mutant("every other lane backwards", run_both_orders))},
            {"isn't the constant memory also in DRAM? Why is it assumed faster than global memory? Faster than step 1",
             "Parallel patterns, Question: Isn't the constant memory also in DRAM?", engine::faster_than("1")},
        }};
}

engine::step_definition even_mask() {
    return {.about = {"2e", "a mask of ten in constant memory", "ladder/convolution/02_constant_mask.cu",
                      "an even mask has no middle: five weights before the element, its own, four behind",
                      "Parallel patterns, Mask M and Constant Memory"},
            .data = line_with_even_mask,
            .run = run_even,
            .least_bytes = engine::read_and_written,
            .claims = {{"#define MASK_WIDTH 10; cudaMemcpyToSymbol(M, h_M, MASK_WIDTH * sizeof(float), ...)",
                        "Parallel patterns, Mask M and Constant Memory",
                        engine::check(ten_weights).refuted_by(engine::mutant("four weights before", run_one_off))}}};
}

} // namespace warpfold::ladder::convolution

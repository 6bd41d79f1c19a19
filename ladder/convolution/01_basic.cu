// SPDX-License-Identifier: MIT
// Convolution, step 1: one dimension, a thread for each output element, input and mask in global memory. (Parallel
// patterns "The 1D Version".)
#include "ladder/convolution/steps.hpp"

namespace warpfold::ladder::convolution {

namespace {

__global__ void convolution_1d_basic(const float* n, const float* m, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0; // allows intermediate values to be accumulated in registers
    const int start = i - half;
    for (int j = 0; j < mask_width; ++j) {
        if (start + j >= 0 && start + j < width) {
            pvalue += n[start + j] * m[j];
        }
    }
    p[i] = pvalue;
}

// The same where the ghost elements are stored.
__global__ void convolution_1d_ghosts(const float* n, const float* m, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    float pvalue = 0;
    for (int j = 0; j < mask_width; ++j) {
        pvalue += n[i + j] * m[j];
    }
    p[i] = pvalue;
}

// As the first, without the variable: every product is added to the output in memory.
__global__ void convolution_1d_in_memory(const float* n, const float* m, float* p, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= width) {
        return;
    }
    p[i] = 0;
    const int start = i - half;
    for (int j = 0; j < mask_width; ++j) {
        if (start + j >= 0 && start + j < width) {
            p[i] += n[start + j] * m[j];
        }
    }
}

void run_one(const engine::stage& on, const char* name, void (*kernel)(const float*, const float*, float*, int)) {
    if (on.n != 0) {
        engine::launch(on, name, kernel, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0,
                       on.input<float>(0), on.input<float>(1), on.output<float>(), static_cast<int>(on.n));
    }
}

void run(const engine::stage& on) { run_one(on, "convolution_1d_basic", convolution_1d_basic); }
void run_in_memory(const engine::stage& on) { run_one(on, "convolution_1d_in_memory", convolution_1d_in_memory); }
void run_ghosts(const engine::stage& on) { run_one(on, "convolution_1d_ghosts", convolution_1d_ghosts); }

verdict ratio_of_one(const engine::evidence& e) {
    const double here = ratio(pairs_of_line(e.n()), e.step);
    return seen(here > 0.95 && here < 1.05, number(here, 3) + ": " + std::to_string(2 * pairs_of_line(e.n())) +
                                                " operations, " + std::to_string(loads(e.step)) + " loads");
}

verdict stored_once(const engine::evidence& e) {
    const auto stores = e.step.launches[0].total.global_store_bytes / sizeof(float);
    return seen(stores == e.n(), std::to_string(stores) + " stores for " + std::to_string(e.n()) + " elements of " +
                                     std::to_string(mask_width) + " additions each");
}

verdict divergence(const engine::evidence& e) {
    if (e.n() < 1000) {
        return unseen("needs more than one block");
    }
    const auto c = e.step.launches[0].total;
    const double share = static_cast<double>(c.divergent_branches) / static_cast<double>(c.branches);
    return seen(c.divergent_branches > 0, std::to_string(c.divergent_branches) + " of " + std::to_string(c.branches) +
                                              " branches (" + number(100 * share, 2) +
                                              " %), in the first and last warp");
}

verdict less_divergence(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total.divergent_branches;
    const auto before = other.launches[0].total.divergent_branches;
    if (e.n() < 1000) {
        return unseen("needs more than one block");
    }
    return seen(here < before, std::to_string(here) + " divergent branches, " + std::to_string(before) + " in step 1");
}

} // namespace

engine::step_definition basic() {
    return {
        .about = {"1", "one dimension, basic", "ladder/convolution/01_basic.cu",
                  "a thread for each output element; whatever lies outside counts as 0",
                  "Parallel patterns, The 1D Version"},
        .data = line,
        .run = run,
        .least_bytes = engine::read_and_written,
        .claims = {
            {"ratio of floating point arithmetic to global memory access is ~ 1.0", "Parallel patterns, The 1D Version",
             engine::counted(ratio_of_one).refuted_by(engine::step_in_place("2"))},
            {"Pvalue allows intermediate values to be accumulated in registers to save DRAM bw",
             "Parallel patterns, The 1D Version",
             engine::counted(stored_once).refuted_by(engine::mutant("sums in memory", run_in_memory))},
            {"there will be control flow divergence (due to ghost elements)", "Parallel patterns, The 1D Version",
             engine::counted(divergence).refuted_by(engine::step_in_place("1g"))},
        }};
}

engine::step_definition ghost_elements() {
    return {.about = {"1g", "ghost elements stored", "ladder/convolution/01_basic.cu",
                      "zeros before and behind the input, and nobody has to ask", "Parallel patterns, The 1D Version"},
            .data = line_with_ghosts,
            .run = run_ghosts,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"ghost values that are stored take divergence away", "beyond the lectures",
                 engine::compared("1", less_divergence)},
            }};
}

} // namespace warpfold::ladder::convolution

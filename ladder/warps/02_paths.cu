// SPDX-License-Identifier: MIT
// Two paths in one warp, or in two; a condition that needs no branch, and one that takes it. (380 "Some Observations": "two
// control flow paths will be sequentially traversed for each warp"; 587 "Modulo-Based Iterations and Warp Divergence".)
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr int rounds = 16;

// Two kinds of work that no compiler makes one of: Horner's rule on small whole numbers, with loads in one of them.
__device__ float first_path(float x, const float* input) {
    float value = x;
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) {
        value = value + input[k];
    }
    return value;
}
__device__ float second_path(float x, const float* input) {
    float value = x;
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) {
        value = value - 2 * input[k];
    }
    return value;
}

// Which threads take the first path: every second one, or every second warp.
template <unsigned Together>
__global__ void two_paths(const float* input, float* output, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) {
        if (i / Together % 2 == 0) {
            output[i] = first_path(input[i + rounds], input);
        } else {
            output[i] = second_path(input[i + rounds], input);
        }
    }
}

template <unsigned Together>
engine::sample by_path(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n + rounds, seed);
    float sum = 0;
    for (int k = 0; k < rounds; ++k) {
        sum += in[static_cast<std::size_t>(k)];
    }
    std::vector<float> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = in[i + rounds] + (i / Together % 2 == 0 ? sum : -2 * sum);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

// A choice between two values that are both there: a selection, not a branch.
__global__ void choose(const float* input, float* output, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) {
        const float x = input[i];
        output[i] = x < 0 ? -2 * x : 3 * x;
    }
}

// The same choice, with a store in each branch.
__global__ void choose_by_branch(const float* input, float* output, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) {
        const float x = input[i];
        if (x < 0) {
            reinterpret_cast<volatile float*>(output)[i] = -2 * x;
        } else {
            reinterpret_cast<volatile float*>(output)[i] = 3 * x;
        }
    }
}

engine::sample chosen(std::uint64_t n, std::uint64_t seed) {
    auto in = engine::numbers<float>(n, seed);
    std::vector<float> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        in[i] += in[i] == 0 ? 1.0f : 0.0f; // no signed zeros
        right[i] = in[i] < 0 ? -2 * in[i] : 3 * in[i];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

engine::check whole_blocks(engine::check inner) {
    return engine::counted(engine::guarded(std::move(inner), [](const engine::evidence& e) {
        return std::string(e.n() % threads != 0 ? "needs full blocks: a multiple of 128 elements" : "");
    }));
}

double lanes(const step_result& step) { return step.launches[0].total.average_active_lanes(); }
double instructions(const step_result& step) {
    return static_cast<double>(step.launches[0].total.warp_instructions) / static_cast<double>(step.n / 32);
}

verdict one_after_the_other(const engine::evidence& e) {
    const auto divergent = e.step.launches[0].total.divergent_branches;
    return seen(divergent == e.n() / 32 && lanes(e.step) < 24,
                number(lanes(e.step), 1) + " lanes of 32 at work on average; " + std::to_string(divergent) +
                    " divergent branches in " + std::to_string(e.n() / 32) + " warps");
}

verdict half_the_instructions(const engine::evidence& e, const step_result& other) {
    if (e.n() % (2 * 32) != 0) {
        return unseen("needs an even number of full warps");
    }
    return seen(e.step.launches[0].total.divergent_branches == 0 && instructions(e.step) < 0.7 * instructions(other),
                number(instructions(e.step), 1) + " instructions a warp, " + number(instructions(other), 1) +
                    " where each warp takes both paths; " +
                    std::to_string(e.step.launches[0].total.divergent_branches) + " divergent branches");
}

verdict no_branch(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.divergent_branches == 0 && lanes(e.step) == 32, std::to_string(c.divergent_branches) +
                                                                      " divergent branches, " +
                                                                      number(lanes(e.step), 1) + " lanes of 32");
}

verdict a_branch(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total.divergent_branches;
    return seen(here > 0 && lanes(e.step) < lanes(other),
                std::to_string(here) + " divergent branches, " + number(lanes(e.step), 1) + " lanes of 32");
}

template <class Kernel>
auto launched(const char* name, Kernel kernel) {
    return [=](const engine::stage& on) { run_tree(on, name, kernel); };
}

constexpr const char* source = "ladder/warps/02_paths.cu";
constexpr const char* section = "380, Some Observations";

} // namespace

engine::step_definition half_of_each_warp() {
    return {.about = {"two paths", "every second thread another path", source, "both paths in every warp", section},
            .data = by_path<1>,
            .run = launched("two_paths", two_paths<1>),
            .least_bytes = engine::read_and_written,
            .claims = {{"two control flow paths will be sequentially traversed for each warp", section,
                        whole_blocks(one_after_the_other).refuted_by(engine::step_in_place("one path"))}}};
}

engine::step_definition half_of_the_warps() {
    return {
        .about = {"one path", "every second warp another path", source, "the same paths, one in each warp", section},
        .data = by_path<32>,
        .run = launched("two_paths", two_paths<32>),
        .least_bytes = engine::read_and_written,
        .claims = {{"it is critical to reduce warp divergence for threads running different code paths: half the "
                    "instructions",
                    "587, Summary", engine::compared("two paths", half_the_instructions)},
                   {"faster than with both paths in every warp", "587, Summary", engine::faster_than("two paths")}}};
}

engine::step_definition predicated() {
    return {.about = {"selection", "a selection", source, "both values are there: no branch is needed", section},
            .data = chosen,
            .run = launched("choose", choose),
            .least_bytes = engine::read_and_written,
            .claims = {{"a short condition becomes a selection and does not diverge", "beyond the lectures",
                        whole_blocks(no_branch).refuted_by(engine::step_in_place("branch"))}}};
}

engine::step_definition branched() {
    return {
        .about = {"branch", "a branch", source, "the same condition around two stores", section},
        .data = chosen,
        .run = launched("choose_by_branch", choose_by_branch),
        .least_bytes = engine::read_and_written,
        .claims = {{"threads that do not perform the addition may cost extra cycles depending on the implementation of "
                    "divergence",
                    section, engine::compared("selection", a_branch)}}};
}

} // namespace warpfold::ladder::warps

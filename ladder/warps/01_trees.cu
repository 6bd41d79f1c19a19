// SPDX-License-Identifier: MIT
// The 587 lecture's example of warp divergence: a tree over 128 values, by modulo, packed, sequential, and unrolled. (587
// "Warp Divergence Example", "Pack Active Threads", "Loop Overheads", "Loop Unrolling".)
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

__device__ void load(float* scratch, const float* input, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    scratch[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncthreads();
}

__global__ void sum_mod_128(const float* input, float* partial, std::uint64_t n) {
    __shared__ float scratch[threads];
    const unsigned tid = threadIdx.x;
    load(scratch, input, n);
#pragma unroll 1
    for (unsigned stride = 1; stride < threads; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < threads) {
            scratch[tid] += scratch[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

__global__ void sum_idx_128(const float* input, float* partial, std::uint64_t n) {
    __shared__ float scratch[threads];
    const unsigned tid = threadIdx.x;
    load(scratch, input, n);
#pragma unroll 1
    for (unsigned stride = 1; stride < threads; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index + stride < threads) {
            scratch[index] += scratch[index + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

__global__ void sum_seq_128(const float* input, float* partial, std::uint64_t n) {
    __shared__ float scratch[threads];
    const unsigned tid = threadIdx.x;
    load(scratch, input, n);
#pragma unroll 1
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            scratch[tid] += scratch[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

__global__ void sum_unroll_128(const float* input, float* partial, std::uint64_t n) {
    __shared__ float scratch[threads];
    const unsigned tid = threadIdx.x;
    load(scratch, input, n);
    if (tid < 64) {
        scratch[tid] += scratch[tid + 64];
    }
    __syncthreads();
    if (tid < 32) {
        scratch[tid] += scratch[tid + 32];
    }
    __syncthreads();
    if (tid < 16) {
        scratch[tid] += scratch[tid + 16];
    }
    __syncthreads();
    if (tid < 8) {
        scratch[tid] += scratch[tid + 8];
    }
    __syncthreads();
    if (tid < 4) {
        scratch[tid] += scratch[tid + 4];
    }
    __syncthreads();
    if (tid < 2) {
        scratch[tid] += scratch[tid + 2];
    }
    __syncthreads();
    if (tid < 1) {
        partial[blockIdx.x] = scratch[0] + scratch[1];
    }
}

verdict halving(const engine::evidence& e) {
    const auto here = active(e, strides);
    const auto warps = warps_at_work(e, strides);
    return seen(here == std::vector<std::uint64_t>{64, 32, 16, 8, 4, 2, 1} &&
                    warps == std::vector<std::uint64_t>{4, 4, 4, 4, 4, 2, 1},
                "active threads with stride 1, 2, ..., 64: " + list(here) + "; in warps: " + list(warps));
}

verdict all_four_diverge(const engine::evidence& e) {
    const auto here = divergent(e, strides);
    return seen(std::vector<std::uint64_t>(here.begin(), here.begin() + 5) == std::vector<std::uint64_t>(5, 4),
                "divergent warps of 4 with stride 1, 2, ..., 64: " + list(here));
}

verdict as_few_warps(const engine::evidence& e) {
    const auto here = warps_at_work(e, strides);
    return seen(here == std::vector<std::uint64_t>{2, 1, 1, 1, 1, 1, 1}, "warps with active threads: " + list(here));
}

verdict not_completely(const engine::evidence& e) {
    const auto here = divergent(e, strides);
    const bool first_two = here[0] == 0 && here[1] == 0;
    const bool rest = std::vector<std::uint64_t>(here.begin() + 2, here.end()) == std::vector<std::uint64_t>(5, 1);
    return seen(first_two && rest, "divergent warps of 4 with stride 1, 2, ..., 64: " + list(here));
}

verdict same_active_threads(const engine::evidence& e, const step_result& other) {
    const auto here = active(e, strides);
    const auto c = engine::total(e.step.launches);
    const auto before = engine::total(other.launches);
    return seen(here == active(e.of(other), strides) && engine::bank_conflicts(c) == 0,
                "active threads: " + list(here) + "; " + std::to_string(engine::bank_conflicts(c)) +
                    " bank conflicts, " + std::to_string(engine::bank_conflicts(before)) + " packed");
}

verdict fewer_instructions(const engine::evidence& e, const step_result& other) {
    const auto each = [&](const step_result& s) {
        return static_cast<double>(s.launches[0].total.warp_instructions) / static_cast<double>(4 * e.blocks());
    };
    return seen(each(e.step) < each(other),
                number(each(e.step), 1) + " instructions a warp, " + number(each(other), 1) + " with the loop");
}

verdict constants(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total.branches;
    const auto before = other.launches[0].total.branches;
    return seen(here < before, std::to_string(here / e.blocks()) + " branches a block, " +
                                   std::to_string(before / e.blocks()) + " with the loop");
}

constexpr const char* source = "ladder/warps/01_trees.cu";
constexpr const char* example = "587, Warp Divergence Example";

} // namespace

engine::step_definition modulo() {
    return {
        .about = {"modulo", "active threads by modulo", source, "every second, fourth, eighth thread adds", example},
        .data = partial_sums,
        .run = [](const engine::stage& on) { run_tree(on, "sum_mod_128", sum_mod_128); },
        .least_bytes = floats_read,
        .claims = {{"M=128: active threads shrink by stride: 64 threads 0, 2, 4, ..., 126, 32, 16, 8, 4, 2, 1", example,
                    engine::counted(halving).refuted_by(engine::step_in_place("packed"))},
                   {"warp divergence for stride <= 16: all 4 warps have both active and inactive threads", example,
                    engine::counted(all_four_diverge).refuted_by(engine::step_in_place("packed"))}}};
}

engine::step_definition packed() {
    return {.about = {"packed", "active threads packed", source, "the first threads add, whatever the stride",
                      "587, Pack Active Threads"},
            .data = partial_sums,
            .run = [](const engine::stage& on) { run_tree(on, "sum_idx_128", sum_idx_128); },
            .least_bytes = floats_read,
            .claims = {
                {"as few warps as possible have active threads now", "587, Pack Active Threads",
                 engine::counted(as_few_warps).refuted_by(engine::step_in_place("modulo"))},
                {"we cannot completely remove warp divergence for stride >= 4: there are less than 32 active threads",
                 example, engine::counted(not_completely).refuted_by(engine::step_in_place("modulo"))},
                {"faster than by modulo", "587, Experimental Results: One Reduction Round",
                 engine::faster_than("modulo")}}};
}

engine::step_definition sequential() {
    return {
        .about = {"sequential", "packed, and without conflicts", source, "the stride shrinks instead of growing",
                  "587, Resolve Bank Conflicts via Sequential Accesses"},
        .data = partial_sums,
        .run = [](const engine::stage& on) { run_tree(on, "sum_seq_128", sum_seq_128); },
        .least_bytes = floats_read,
        .claims = {
            {"same active threads although stride updates differently; no bank conflict",
             "587, Resolve Bank Conflicts via Sequential Accesses", engine::compared("packed", same_active_threads)},
            {"faster than packed", "587, Experimental Results: One Reduction Round", engine::faster_than("packed")}}};
}

engine::step_definition unrolled() {
    return {.about = step_description{"unrolled", "the loop unrolled", source, "constants instead of loop variables",
                                      "587, Loop Unrolling"}
                         .leads_to("by shuffles"),
            .data = partial_sums,
            .run = [](const engine::stage& on) { run_tree(on, "sum_unroll_128", sum_unroll_128); },
            .least_bytes = floats_read,
            .claims = {{"unroll a loop to reduce loop overheads", "587, Loop Unrolling",
                        engine::compared("sequential", fewer_instructions)},
                       {"updating loop variables and taking branches", "587, Loop Overheads",
                        engine::compared("sequential", constants)},
                       {"faster than the loop", "587, Experimental Results: Further Optimizations",
                        engine::faster_than("sequential")}}};
}

} // namespace warpfold::ladder::warps

// SPDX-License-Identifier: MIT
// Two things about the lanes of the last warp: the values in its words without the condition tid < s, and the predicate of a
// shuffle, which tells whether there was a lane to read from. (587 "Single Warp Optimization"; 380 "Instruction
// (PTX)".)
#include <algorithm>
#include <cstring>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned values = 64; // the last warp's

// out[32 k + lane]: the first 32 words when all is done; k = 0 with the condition tid < s, 1 as `second_asks` says.
__global__ void words_that_are_left(int* out, const int* in, bool second_asks) {
    __shared__ int scratch[values];
    const unsigned tid = threadIdx.x;
    for (int k = 0; k < 2; ++k) {
        const bool asks = k == 0 || second_asks;
        scratch[tid] = in[tid];
        scratch[tid + 32] = in[tid + 32];
        __syncwarp();
        for (unsigned s = 32; s > 0; s /= 2) {
            const int sum = scratch[tid] + scratch[tid + s];
            __syncwarp();
            if (!asks || tid < s) {
                scratch[tid] = sum;
            }
            __syncwarp();
        }
        out[32 * k + static_cast<int>(tid)] = scratch[tid];
        __syncwarp();
    }
}

engine::sample both_endings(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(values, seed);
    std::vector<std::int32_t> right;
    for (const bool asks : {true, false}) {
        auto words = in;
        for (unsigned s = 32; s > 0; s /= 2) {
            const auto before = words;
            for (unsigned tid = 0; tid < (asks ? s : 32); ++tid) {
                words[tid] = before[tid] + before[tid + s];
            }
        }
        right.insert(right.end(), words.begin(), words.begin() + 32);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_words(const engine::stage& on, bool second_asks) {
    engine::launch(on, "words_that_are_left", words_that_are_left, 1, 32, 0, on.output<int>(), on.input<int>(),
                   second_asks);
}

verdict only_the_first_counts(const engine::evidence& e) {
    const auto words = engine::view<std::int32_t>(e.result);
    unsigned others = 0;
    for (unsigned k = 1; k < 32; ++k) {
        others += words[k] != words[32 + k] ? 1 : 0;
    }
    return seen(others != 0 && words[0] == words[32],
                std::to_string(others) + " of the other 31 words differ, scratch[0] is " + std::to_string(words[0]) +
                    " and " + std::to_string(words[32]));
}

// What lane gets, and whether the shuffle says that there was a lane to get it from: 2 words for each lane and variant.
#define WARPFOLD_SHUFFLE(MODE, OPERAND, BOUND)                                                                         \
    asm volatile("{\n"                                                                                                 \
                 ".reg .pred p;\n"                                                                                     \
                 "shfl.sync." MODE ".b32 %0|p, %2, " OPERAND ", " BOUND ", 0xffffffff;\n"                              \
                 "selp.s32 %1, 1, 0, p;\n"                                                                             \
                 "}"                                                                                                   \
                 : "=r"(got), "=r"(there)                                                                              \
                 : "r"(x))

__global__ void shuffles_with_predicates(int* out, const int* in) {
    const unsigned lane = threadIdx.x;
    const int x = in[lane];
    int got = 0;
    int there = 0;
    const auto leave = [&](unsigned variant) {
        out[64 * variant + lane] = got;
        out[64 * variant + 32 + lane] = there;
    };
    WARPFOLD_SHUFFLE("idx", "5", "31");
    leave(0);
    WARPFOLD_SHUFFLE("up", "2", "0");
    leave(1);
    WARPFOLD_SHUFFLE("down", "3", "31");
    leave(2);
    WARPFOLD_SHUFFLE("bfly", "1", "31");
    leave(3);
}

constexpr unsigned variants = 4;

engine::sample shuffled_with_predicates(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(32, seed);
    std::vector<std::int32_t> right(64 * variants);
    for (unsigned lane = 0; lane < 32; ++lane) {
        const int wanted[variants] = {5, static_cast<int>(lane) - 2, static_cast<int>(lane) + 3,
                                      static_cast<int>(lane) ^ 1};
        for (unsigned k = 0; k < variants; ++k) {
            const bool there = wanted[k] >= 0 && wanted[k] < 32;
            right[64 * k + lane] = in[there ? static_cast<unsigned>(wanted[k]) : lane];
            right[64 * k + 32 + lane] = there ? 1 : 0;
        }
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

verdict says_who_is_there(const engine::evidence& e) {
    const auto words = engine::view<std::int32_t>(e.result);
    std::vector<std::uint64_t> lanes(variants);
    for (unsigned k = 0; k < variants; ++k) {
        lanes[k] = static_cast<std::uint64_t>(std::count(words.begin() + 64 * k + 32, words.begin() + 64 * (k + 1), 1));
    }
    const bool as_there_are = lanes == std::vector<std::uint64_t>{32, 30, 29, 32};
    return seen(as_there_are, "lanes for which it is true, with idx 5, up 2, down 3, bfly 1: " + list(lanes));
}

constexpr const char* source = "ladder/warps/09_last_lanes.cu";

} // namespace

engine::step_definition words_left() {
    return {.about = {"words left", "what the last warp leaves", source, "with the condition tid < s, and without",
                      "587, Single Warp Optimization"},
            .data = both_endings,
            .run = [](const engine::stage& on) { run_words(on, false); },
            .size = [](std::uint64_t) { return std::uint64_t{values}; },
            .claims = {{"this does change program behavior: not a problem, since scratch[0] remains the same",
                        "587, Single Warp Optimization",
                        engine::check(only_the_first_counts)
                            .refuted_by(engine::mutant("the condition both times",
                                                       [](const engine::stage& on) { run_words(on, true); }))}}};
}

engine::step_definition shuffle_predicate() {
    return {.about = {"predicate", "a shuffle's predicate", source, "whether there was a lane to read from",
                      "380, Instruction (PTX)"},
            .data = shuffled_with_predicates,
            .run =
                [](const engine::stage& on) {
                    engine::launch(on, "shuffles_with_predicates", shuffles_with_predicates, 1, 32, 0, on.output<int>(),
                                   on.input<int>());
                },
            .size = [](std::uint64_t) { return std::uint64_t{32}; },
            .claims = {{"shfl.mode.b32 d[|p], a, b, c: optional destination predicate", "380, Instruction (PTX)",
                        engine::check(says_who_is_there)
                            .refuted_by(engine::planted(
                                "the predicate of the first lane true", [](engine::altered_evidence& e) {
                                    const std::int32_t yes = 1; // of `up`
                                    std::memcpy(e.result.data() + (64 + 32) * sizeof yes, &yes, sizeof yes);
                                }))}}};
}

} // namespace warpfold::ladder::warps

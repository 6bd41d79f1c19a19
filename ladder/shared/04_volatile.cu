// SPDX-License-Identifier: MIT
// Volatile, and what goes wrong without it: the compiler may keep what a thread has read of shared memory in a register.
// (759 "Shared Memory: Important Fact".)
#include <vector>

#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

namespace {

constexpr unsigned rounds = 8;

// Thread 0 writes a word, and all threads read it eight times. Without volatile one load serves them all.
__global__ void poll_plain(int* out, int value) {
    __shared__ int word;
    if (threadIdx.x == 0) {
        word = value;
    }
    __syncthreads();
    int sum = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        sum += word;
    }
    out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

__global__ void poll_volatile(int* out, int value) {
    __shared__ volatile int word;
    if (threadIdx.x == 0) {
        word = value;
    }
    __syncthreads();
    int sum = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        sum += word;
    }
    out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

// What replaces volatile: the barrier makes the compiler read again.
__global__ void poll_with_barriers(int* out, int value) {
    __shared__ int word;
    if (threadIdx.x == 0) {
        word = value;
    }
    int sum = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        __syncthreads();
        sum += word;
    }
    out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

std::uint64_t whole_blocks(std::uint64_t n) { return engine::divide_up(n, threads) * threads; }

engine::sample eights(std::uint64_t n, std::uint64_t /*seed*/) {
    return {n, {}, engine::bytes_of(std::vector<std::int32_t>(n, rounds))};
}

void run_one(const engine::stage& on, const char* name, void (*kernel)(int*, int)) {
    if (on.n != 0) {
        engine::launch(on, name, kernel, static_cast<unsigned>(on.n / threads), threads, 0, on.output<int>(), 1);
    }
}

std::uint64_t loads_a_warp(const engine::evidence& e) {
    return e.step.launches[0].total.shared_load_requests / (e.n() / 32);
}

engine::check loads_are(std::uint64_t expected, std::string what) {
    return engine::counted([expected, what = std::move(what)](const engine::evidence& e) {
        return seen(loads_a_warp(e) == expected, std::to_string(loads_a_warp(e)) + " load" +
                                                     (loads_a_warp(e) == 1 ? "" : "s") + " a warp for " +
                                                     std::to_string(rounds) + " reads in the source" + what);
    });
}

constexpr const char* source = "ladder/shared/04_volatile.cu";
constexpr const char* section = "759, Shared Memory: Important Fact";

} // namespace

engine::step_definition kept_in_registers() {
    return {
        .about = {"plain", "eight reads without volatile", source, "what was read once is kept in a register", section},
        .data = eights,
        .run = [](const engine::stage& on) { run_one(on, "poll_plain", poll_plain); },
        .size = whole_blocks,
        .claims = {{"no guarantee for coherence between the shared memory block and the value stored in the register",
                    section,
                    loads_are(1, ": a change by another thread would not be seen")
                        .refuted_by(engine::step_in_place("volatile"))}}};
}

engine::step_definition volatile_accesses() {
    return {.about = {"volatile", "eight reads with volatile", source, "every read of the source is a load", section},
            .data = eights,
            .run = [](const engine::stage& on) { run_one(on, "poll_volatile", poll_volatile); },
            .size = whole_blocks,
            .claims = {{"volatile prevents the compiler from optimizing instructions related to the variable", section,
                        loads_are(rounds, "").refuted_by(engine::step_in_place("plain"))}}};
}

engine::step_definition barrier_instead() {
    return {.about = {"barriers", "eight reads with barriers", source,
                      "a barrier makes the compiler read again, and orders "
                      "what others have written",
                      section},
            .data = eights,
            .run = [](const engine::stage& on) { run_one(on, "poll_with_barriers", poll_with_barriers); },
            .size = whole_blocks,
            .claims = {{"a barrier does it without volatile, which orders nothing between threads",
                        "beyond the lectures", loads_are(rounds, "").refuted_by(engine::step_in_place("plain"))}}};
}

} // namespace warpfold::ladder::shared

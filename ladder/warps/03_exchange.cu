// SPDX-License-Identifier: MIT
// Lanes that exchange values through shared memory: trusting that a warp runs in lockstep, and with __syncwarp. (587 "When
// Only One Warp Remains Active"; 380 "Implicit Synchronization in a Warp", "__syncwarp", "And More...".)
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

__global__ void exchange_in_lockstep(const float* input, float* output, std::uint64_t n) {
    __shared__ volatile float values[threads];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    values[threadIdx.x] = i < n ? input[i] : 0.0f;
    const float other = values[threadIdx.x ^ 1];
    if (i < n) {
        output[i] = other;
    }
}

__global__ void exchange_synchronised(const float* input, float* output, std::uint64_t n) {
    __shared__ float values[threads];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    values[threadIdx.x] = i < n ? input[i] : 0.0f;
    __syncwarp();
    const float other = values[threadIdx.x ^ 1];
    if (i < n) {
        output[i] = other;
    }
}

engine::sample exchanged(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    std::vector<float> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = (i ^ 1) < n ? in[i ^ 1] : 0.0f;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

verdict in_lockstep(const engine::evidence& e) {
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    return seen(e.found->none(), std::string("it came out ") + (e.step.correct ? "right" : "wrong") + "; " +
                                     e.found->in_words() + ": from Volta on a warp's lanes need not run in lockstep");
}

verdict one_warp_barrier(const engine::evidence& e) {
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    const auto& launch = e.step.launches[0];
    const std::uint64_t warps = std::uint64_t{launch.grid[0]} * (threads / 32);
    return seen(e.found->none() && launch.total.warp_barriers == warps && launch.total.barriers == 0,
                number(static_cast<double>(launch.total.warp_barriers) / static_cast<double>(warps), 0) +
                    " __syncwarp a warp, " + std::to_string(launch.total.barriers) + " barriers of the block; " +
                    e.found->in_words());
}

constexpr const char* source = "ladder/warps/03_exchange.cu";

} // namespace

engine::step_definition unordered_exchange() {
    return {.about = {"lockstep", "an exchange in lockstep", source, "nothing between a store and another lane's load",
                      "587, When Only One Warp Remains Active"},
            .data = exchanged,
            .run = [](const engine::stage& on) { run_tree(on, "exchange_in_lockstep", exchange_in_lockstep); },
            .least_bytes = engine::read_and_written,
            .expected = outcome::by_luck,
            .lesson = "volatile makes every access a load or a store, and orders none of them between lanes",
            .finds = "race in shared memory",
            .claims = {{"threads in one warp always execute the same instruction: they are synchronized without "
                        "__syncthreads()",
                        "587, When Only One Warp Remains Active",
                        engine::check(in_lockstep).refuted_by(engine::step_in_place("not volatile"))}}};
}

engine::step_definition ordered_exchange() {
    return {
        .about = {"syncwarp", "an exchange with __syncwarp", source, "re-converge threads and perform a memory fence",
                  "380, __syncwarp"},
        .data = exchanged,
        .run = [](const engine::stage& on) { run_tree(on, "exchange_synchronised", exchange_synchronised); },
        .least_bytes = engine::read_and_written,
        .claims = {{"on Volta and newer, reduction in shared memory must use warp synchronization", "380, And More...",
                    engine::counted(one_warp_barrier).refuted_by(engine::step_in_place("lockstep"))}}};
}

} // namespace warpfold::ladder::warps

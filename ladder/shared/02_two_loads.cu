// SPDX-License-Identifier: MIT
// Two elements a thread into shared memory: neighbours, as on a CPU, or a block apart. (759 "Exercise: Is ShMem
// access below good or bad?", "A Better Array Access Pattern"; 380 "Common Array Bank Conflict Patterns".)
#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

namespace {

__global__ void load_neighbours(int* out, const int* global, std::uint64_t n) {
    __shared__ int shared[2 * threads];
    const unsigned tid = threadIdx.x;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * 2 * threads;
    shared[2 * tid] = first + 2 * tid < n ? global[first + 2 * tid] : 0;
    shared[2 * tid + 1] = first + 2 * tid + 1 < n ? global[first + 2 * tid + 1] : 0;
    __syncthreads();
    for (unsigned k = tid; k < 2 * threads; k += threads) {
        if (first + k < n) {
            out[first + k] = shared[k];
        }
    }
}

__global__ void load_a_block_apart(int* out, const int* global, std::uint64_t n) {
    __shared__ int shared[2 * threads];
    const unsigned tid = threadIdx.x;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * 2 * threads;
    shared[tid] = first + tid < n ? global[first + tid] : 0;
    shared[tid + threads] = first + tid + threads < n ? global[first + tid + threads] : 0;
    __syncthreads();
    for (unsigned k = tid; k < 2 * threads; k += threads) {
        if (first + k < n) {
            out[first + k] = shared[k];
        }
    }
}

engine::sample copied(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(n, seed));
    return {n, {in}, in};
}

void run_one(const engine::stage& on, const char* name, void (*kernel)(int*, const int*, std::uint64_t)) {
    if (on.n != 0) {
        engine::launch(on, name, kernel, static_cast<unsigned>(engine::divide_up(on.n, 2 * threads)), threads, 0,
                       on.output<int>(), on.input<int>(), on.n);
    }
}

engine::check of_full_blocks(engine::check inner) {
    return engine::counted(engine::guarded(std::move(inner), [](const engine::evidence& e) {
        return std::string(e.n() == 0 || e.n() % (2 * threads) != 0 ? "needs full blocks: a multiple of 512 elements"
                                                                    : "");
    }));
}

engine::check passes_are(double expected) {
    return of_full_blocks([expected](const engine::evidence& e) {
        const double here = passes_a_store(e.step.launches[0].by_interval.at(0));
        return seen(here == expected, number(here, 1) + " passes a store");
    });
}

engine::check sectors_are(double expected) {
    return of_full_blocks([expected](const engine::evidence& e) {
        const double here = engine::sectors_a_load(e.step.launches[0].total);
        return seen(here == expected, number(here, 1) + " segments a load");
    });
}

verdict halves_the_bandwidth(const engine::evidence& e) {
    const step_result* const other = e.other("two loads");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU, and step two loads");
    }
    const double times = other->cold->median / e.step.cold->median;
    return seen(times > 1.8, "two neighbours take " + number(times, 2) + "x the time of two a block apart");
}

const auto equal_times = engine::planted("equal times", [](engine::altered_evidence& e) {
    e.other("two loads").cold = e.step.cold = timing{.median = 1, .low = 0.9, .high = 1.1, .samples = 31};
});

constexpr const char* source = "ladder/shared/02_two_loads.cu";
constexpr const char* exercise = "759, Exercise: Is ShMem access below good or bad?";
constexpr const char* conflicts =
    "759, Exercise: Is ShMem access below good or bad?; 380, Common Array Bank Conflict Patterns";
constexpr const char* better = "759, A Better Array Access Pattern; 380, A Better Array Access Pattern";

} // namespace

engine::step_definition two_loads_interleaved() {
    return {.about = {"two loads", "two neighbours a thread", source, "shared[2*tid] and shared[2*tid+1]", exercise},
            .data = copied,
            .run = [](const engine::stage& on) { run_one(on, "load_neighbours", load_neighbours); },
            .least_bytes = engine::read_and_written,
            .claims = {{"2-way-interleaved loads result in 2-way bank conflicts", conflicts,
                        passes_are(2).refuted_by(engine::step_in_place("two apart"))},
                       {"you don't have coalesced global memory loads", exercise,
                        sectors_are(8).refuted_by(engine::step_in_place("two apart"))}}};
}

engine::step_definition two_loads_apart() {
    return {.about = {"two apart", "two a block apart", source, "shared[tid] and shared[tid + blockDim.x]", better},
            .data = copied,
            .run = [](const engine::stage& on) { run_one(on, "load_a_block_apart", load_a_block_apart); },
            .least_bytes = engine::read_and_written,
            .claims = {{"each thread loads one element in every consecutive group: no conflicts", better,
                        passes_are(1).refuted_by(engine::step_in_place("two loads"))},
                       {"and coalesced loads", better, sectors_are(4).refuted_by(engine::step_in_place("two loads"))},
                       {"two neighbours: basically you are halving the device mem bandwidth", exercise,
                        engine::check(halves_the_bandwidth).refuted_by(equal_times)},
                       {"faster than two neighbours", better, engine::faster_than("two loads")}}};
}

} // namespace warpfold::ladder::shared

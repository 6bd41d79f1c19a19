// SPDX-License-Identifier: MIT
// Lanes that wait for lanes of their own warp: each for its neighbour, all for one lock, and half of them for the other
// half that waits itself. From Volta on the lanes of a warp have program counters of their own, and who waits in a loop
// lets the others go on; before, the first two of these hung. (587 "When Only One Warp Remains Active"; 380 "Implicit
// Synchronization in a Warp", "__syncwarp", "And More...".)
#include <cuda/atomic>

#include <stdexcept>
#include <string>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/engine/software_gpu.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

// Each lane adds its number to what the lane above it has left, and waits for that in a loop.
__global__ void chain(const float* input, float* output, std::uint64_t n) {
    __shared__ float sums[threads];
    __shared__ int done[threads];
    using flag = cuda::atomic_ref<int, cuda::thread_scope_block>;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    done[threadIdx.x] = 0;
    __syncwarp();
    float sum = i < n ? input[i] : 0.0f;
    if (threadIdx.x % 32 != 31) {
        while (flag(done[threadIdx.x + 1]).load(cuda::memory_order_acquire) == 0) {
        }
        sum += sums[threadIdx.x + 1];
    }
    sums[threadIdx.x] = sum;
    flag(done[threadIdx.x]).store(1, cuda::memory_order_release);
    if (i < n) {
        output[i] = sum;
    }
}

// A lock for the block: the lane that holds it is in the same loop as the lanes of its warp that wait for it. The last holder
// stores the sum of all.
__global__ void lock(const float* input, float* partial, std::uint64_t n) {
    __shared__ int taken;
    __shared__ float sum;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (threadIdx.x == 0) {
        taken = 0;
        sum = 0;
    }
    __syncthreads();
    const float mine = i < n ? input[i] : 0.0f;
    cuda::atomic_ref<int, cuda::thread_scope_block> mutex(taken);
    while (mutex.exchange(1, cuda::memory_order_acquire) != 0) {
    }
    sum += mine;
    partial[blockIdx.x] = sum;
    mutex.store(0, cuda::memory_order_release);
}

// The lower half waits for a flag; the upper half sets it behind a __syncwarp() that names the lower half too.
__global__ void circle(int* output) {
    __shared__ int flag;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncwarp();
    if (threadIdx.x < 16) {
        while (atomicAdd(&flag, 0) == 0) {
        }
    } else {
        __syncwarp();
        atomicExch(&flag, 1);
    }
    output[threadIdx.x] = 1;
}

engine::sample sums_from_above(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    std::vector<float> right(in);
    for (std::uint64_t i = n; i-- > 0;) {
        right[i] += i % 32 != 31 && i + 1 < n ? right[i + 1] : 0.0f;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

std::vector<std::int32_t> endless_program() {
    if (!on_software_gpu()) {
        throw std::runtime_error("not run on a GPU, where it does not end");
    }
    int* output = nullptr;
    std::vector<std::int32_t> codes{static_cast<std::int32_t>(cudaMalloc(&output, 32 * sizeof(int)))};
    circle<<<1, 32>>>(output);
    codes.push_back(static_cast<std::int32_t>(cudaDeviceSynchronize()));
    return codes;
}

// What it would be if it ended.
engine::sample an_end(std::uint64_t /*n*/, std::uint64_t /*seed*/) {
    const std::vector<std::int32_t> codes{0, 0};
    return {codes.size(), {}, engine::bytes_of(codes)};
}

// In lockstep a lane that waits would keep the others of its warp waiting.
verdict same_instruction(const engine::evidence& e) {
    const std::string ended = "it came to its end, although lanes wait for lanes of their warp";
    if (!e.counted) {
        return seen(false, ended);
    }
    const double lanes = e.step.launches[0].total.average_active_lanes();
    return seen(lanes == 32, number(lanes, 1) + " lanes of 32 at work on average; " + ended);
}

verdict one_at_a_time(const engine::evidence& e) {
    const double lanes = e.step.launches[0].total.average_active_lanes();
    return seen(lanes < 16, number(lanes, 1) + " lanes of 32 at work on average");
}

verdict says_who_waits(const engine::evidence& e) {
    const auto at = e.said.find("deadlock");
    if (at == std::string::npos) {
        return seen(false, "it came to its end");
    }
    std::string said = e.said.substr(at, e.said.find('\n', at) - at);
    for (std::size_t slash = said.rfind('/'); slash != std::string::npos;
         slash = said.rfind('/')) { // files without folders
        const std::size_t space = said.rfind(' ', slash);
        said.erase(space + 1, slash - space);
    }
    return seen(true, said);
}

constexpr const char* source = "ladder/warps/06_progress.cu";
constexpr const char* section = "587, When Only One Warp Remains Active";
constexpr const char* syncwarp = "380, __syncwarp";

} // namespace

std::vector<engine::child_program> child_programs() { return {{"endless", endless_program}}; }

engine::step_definition neighbour_by_neighbour() {
    return {
        .about = {"chain", "each lane waits for the next", source,
                  "a loop that a lane of the same warp has to end: independent thread scheduling", section},
        .data = sums_from_above,
        .run = [](const engine::stage& on) { run_tree(on, "chain", chain); },
        .least_bytes = engine::read_and_written,
        .claims = {{"threads in one warp always execute the same instruction", section,
                    engine::launched(same_instruction).refuted_by(engine::step_in_place("two paths"))},
                   {"lanes that wait take turns with those that work: fewer than half at a time", "beyond the lectures",
                    engine::counted(one_at_a_time).refuted_by(engine::step_in_place("two paths"))}}};
}

engine::step_definition lock_in_a_warp() {
    return {.about = {"lock", "a lock that lanes of a warp share", source,
                      "the lane that has it and those that want it are in one loop", section},
            .data = partial_sums,
            .run = [](const engine::stage& on) { run_tree(on, "lock", lock); },
            .least_bytes = engine::read_and_written,
            .claims = {{"threads in one warp always execute the same instruction", section,
                        engine::launched(same_instruction).refuted_by(engine::step_in_place("two paths"))}}};
}

engine::step_definition circle_of_waits() {
    return {.about = {"endless", "half a warp waits for the other half", source,
                      "__syncwarp() behind a branch: its lanes wait for lanes that wait for them", syncwarp},
            .data = an_end,
            .child_programs = "endless",
            .size = [](std::uint64_t) { return std::uint64_t{2}; },
            .expected = outcome::wrong,
            .lesson =
                "independent lanes get past each other in loops; a barrier of the warp needs all that its mask names, "
                "as a barrier of the block needs all threads",
            .finds = "threads that never meet",
            .claims = {{"re-converge threads: it waits for all of them, and the software GPU says who waits where",
                        syncwarp,
                        engine::check(says_who_waits)
                            .refuted_by(engine::planted("a program that ends, and writes nothing",
                                                        [](engine::altered_evidence& e) { e.said.clear(); }))}}};
}

} // namespace warpfold::ladder::warps

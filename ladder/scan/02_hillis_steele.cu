// SPDX-License-Identifier: MIT
// Scan, step 2: Hillis and Steele in one block, inclusive. Each iteration reads one buffer and writes the other, so that
// no thread overwrites what another has still to read. (Parallel patterns "A Parallel Inclusive Scan Algorithm";
// 759 "Hillis & Steele: Kernel Function".)
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned most_threads = 1024; // "One block in CUDA has at the most 1024 threads"

__global__ void scan_in_two_buffers(int* output, const int* input, unsigned n) {
    __shared__ int buffer[2][most_threads];
    const unsigned tid = threadIdx.x;
    unsigned from = 0;
    buffer[from][tid] = tid < n ? input[tid] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < n; stride *= 2) {
        const unsigned to = 1 - from;
        if (tid >= stride) {
            buffer[to][tid] = buffer[from][tid] + buffer[from][tid - stride];
        } else {
            buffer[to][tid] = buffer[from][tid];
        }
        __syncthreads();
        from = to;
    }
    if (tid < n) {
        output[tid] = buffer[from][tid];
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "scan_in_two_buffers", scan_in_two_buffers, 1, static_cast<unsigned>(on.n), 0,
                       on.output<int>(), on.input<int>(), static_cast<unsigned>(on.n));
    }
}

// A thread that adds loads two elements, one that copies one.
std::vector<std::uint64_t> additions(const engine::evidence& e) {
    return engine::by_interval(e.step.launches[0], 1, engine::log2_up(e.n()), [](const engine::counters& c) {
        return (c.shared_load_bytes - c.shared_store_bytes) / sizeof(int);
    });
}

verdict n_less_stride_active(const engine::evidence& e) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t stride = 1; stride < e.n(); stride *= 2) {
        expected.push_back(e.n() - stride);
    }
    const std::vector<std::uint64_t> here = additions(e);
    return seen(here == expected, "additions by iteration: " + list(here));
}

verdict log_n_iterations(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.step.launches[0]);
    return seen(barriers == 1 + engine::log2_up(e.n()),
                number(barriers - 1, 0) + " iterations for " + std::to_string(e.n()) + " elements, a barrier each");
}

verdict factor_of_log_n(const engine::evidence& e) {
    if (e.n() < 2) {
        return unseen("one element needs no addition");
    }
    const std::uint64_t here = engine::sum(additions(e));
    const unsigned iterations = engine::log2_up(e.n());
    const double factor = static_cast<double>(here) / static_cast<double>(e.n() - 1);
    return seen(factor > iterations - 1.5 && factor <= iterations,
                std::to_string(here) + " additions, " + number(factor, 1) + "x those of step 1: log2(n) is " +
                    std::to_string(iterations) + " here, and 20 for 10^6 elements");
}

} // namespace

engine::step_definition hillis_steele() {
    return {
        .about =
            step_description{
                "2", "Hillis and Steele, two buffers", "ladder/scan/02_hillis_steele.cu",
                "log n times, every thread adds the element a doubling stride before its own; ping and pong",
                "Parallel patterns, A Parallel Inclusive Scan Algorithm"}
                .leads_to("3"),
        .data = inclusive,
        .run = run,
        .size = engine::at_most(most_threads),
        .least_bytes = engine::read_and_written,
        .claims = {
            {"the first-attempt scan executes log(n) iterations", "Parallel patterns, Work Efficiency Considerations",
             engine::counted(log_n_iterations).refuted_by(engine::step_in_place("7"))},
            {"active threads: stride to n-1 (n - stride threads)", "Parallel patterns, A Parallel Scan Algorithm",
             engine::counted(n_less_stride_active).refuted_by(engine::step_in_place("5"))},
            {"a factor of log(n) hurts: 20x for 10^6 elements", "Parallel patterns, Work Efficiency Considerations",
             engine::counted(factor_of_log_n).refuted_by(engine::step_in_place("5"))},
        }};
}

} // namespace warpfold::ladder::scan

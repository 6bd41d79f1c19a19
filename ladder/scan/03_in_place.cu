// SPDX-License-Identifier: MIT
// Scan, step 3: in place with two barriers an iteration: all have read before anyone writes, and all have written before
// anyone reads. (Parallel patterns "How to handle dependencies in that implementation?", "Possible Implementation".)
// Mended: on the slide the barriers stand inside the loop over the strides that a thread takes part in; see 3b.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned most_threads = 1024;

__global__ void scan_in_place(int* output, const int* input, unsigned n) {
    __shared__ int xy[most_threads];
    const unsigned tid = threadIdx.x;
    xy[tid] = tid < n ? input[tid] : 0;
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        const int before = tid >= stride ? xy[tid - stride] : 0;
        __syncthreads();
        xy[tid] += before;
    }
    __syncthreads();
    if (tid < n) {
        output[tid] = xy[tid];
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "scan_in_place", scan_in_place, 1, static_cast<unsigned>(on.n), 0, on.output<int>(),
                       on.input<int>(), static_cast<unsigned>(on.n));
    }
}

verdict two_an_iteration(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.step.launches[0]);
    return seen(barriers == 1 + 2 * engine::log2_up(e.n()), number(barriers, 0) + " barriers a warp: two in each of " +
                                                                std::to_string(engine::log2_up(e.n())) +
                                                                " iterations, one at the end");
}

verdict half_the_shared_memory(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].static_shared_bytes;
    const auto before = other.launches[0].static_shared_bytes;
    return seen(2 * here == before, std::to_string(here) + " bytes, " + std::to_string(before) + " in step 2");
}

verdict where_to_cut(const engine::evidence& e) {
    const auto cuts = engine::view<std::int32_t>(e.result);
    const std::vector<std::uint64_t> here(cuts.begin(), cuts.end());
    const std::int32_t left = 100 - cuts.back();
    return seen(here == std::vector<std::uint64_t>{3, 8, 10, 17, 45, 49, 52, 52, 60, 61} && left == 39,
                "cuts at " + list(here) + "; " + std::to_string(left) + " inches left");
}

} // namespace

engine::step_definition two_barriers() {
    return {
        .about =
            step_description{
                "3", "in place, two barriers", "ladder/scan/03_in_place.cu",
                "one buffer: a barrier between all reads and all writes, and another before the next reads",
                "Parallel patterns, How to handle dependencies in that implementation?"}
                .leads_to("4"),
        .data = inclusive,
        .run = run,
        .size = engine::at_most(most_threads),
        .least_bytes = engine::read_and_written,
        .claims = {
            {"a barrier to ensure all inputs have been generated, another that all threads have secured their inputs",
             "Parallel patterns, How to handle dependencies in that implementation?",
             engine::counted(two_an_iteration).refuted_by(engine::step_in_place("3a"))},
            {"half the shared memory of ping-pong", "beyond the lectures",
             engine::compared("2", half_the_shared_memory)},
        }};
}

engine::step_definition cut_the_sausage() {
    return {.about = {"sausage", "where to cut the sausage", "ladder/scan/03_in_place.cu",
                      "100 inches for ten people: the scan of what they want is where to cut",
                      "Parallel patterns, A Inclusive Scan Application Example"},
            .data = sausage,
            .run = run,
            .size = [](std::uint64_t) { return std::uint64_t{10}; },
            .claims = {
                {"the prefix scan is [3, 8, 10, 17, 45, 49, 52, 52, 60, 61], and 39 inches are left",
                 "Parallel patterns, A Inclusive Scan Application Example",
                 engine::check(where_to_cut)
                     .refuted_by(engine::planted("the exclusive scan",
                                                 [](auto& e) {
                                                     e.result.insert(e.result.begin(), sizeof(std::int32_t),
                                                                     std::byte{0});
                                                     e.result.resize(e.result.size() - sizeof(std::int32_t));
                                                 }))},
            }};
}

} // namespace warpfold::ladder::scan

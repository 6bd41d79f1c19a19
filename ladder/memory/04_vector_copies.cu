// SPDX-License-Identifier: MIT
// Copies by int, int2 and int4, with a remainder, and as on the slide, where the remainder is lost. (380 "Vectorized Memory
// Access".)
// Mended in int2 and int4: on the slides the thread whose index is N/2 or N/4 takes the remainder, and there is no such
// thread where the grid has exactly N/2 or N/4, or where MAX_BLOCKS limits it; the names n and N are mixed.
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

constexpr unsigned copy_threads = 128; // as on the slide
constexpr unsigned most_blocks = 1024;

template <class Vector>
constexpr unsigned width = sizeof(Vector) / sizeof(int);

template <class Vector>
__global__ void device_copy(const int* d_in, int* d_out, std::uint64_t n) {
    const std::uint64_t idx = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (std::uint64_t i = idx; i < n / width<Vector>; i += std::uint64_t{blockDim.x} * gridDim.x) {
        reinterpret_cast<Vector*>(d_out)[i] = reinterpret_cast<const Vector*>(d_in)[i];
    }
    const std::uint64_t rest = n / width<Vector> * width<Vector> + idx;
    if (rest < n) {
        d_out[rest] = d_in[rest];
    }
}

__global__ void device_copy_vector4_kernel(const int* d_in, int* d_out, int n) {
    const int idx = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = idx; i < n / 4; i += static_cast<int>(blockDim.x * gridDim.x)) {
        reinterpret_cast<int4*>(d_out)[i] = reinterpret_cast<const int4*>(d_in)[i];
    }
    // in only one thread, process final elements (if there are any)
    int remainder = n % 4;
    if (idx == n / 4 && remainder != 0) {
        while (remainder) {
            const int at = n - remainder--;
            d_out[at] = d_in[at];
        }
    }
}

unsigned blocks(std::uint64_t vectors) {
    return static_cast<unsigned>(
        std::min<std::uint64_t>(std::max<std::uint64_t>(engine::divide_up(vectors, copy_threads), 1), most_blocks));
}

template <class Vector>
void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "device_copy", device_copy<Vector>, blocks(on.n / width<Vector>), copy_threads, 0,
                       on.input<int>(), on.output<int>(), on.n);
    }
}

void run_slide(const engine::stage& on) {
    engine::launch(on, "device_copy_vector4_kernel", device_copy_vector4_kernel, blocks(on.n / 4), copy_threads, 0,
                   on.input<int>(), on.output<int>(), static_cast<int>(on.n));
}

engine::check loads_for(double expected_bytes) {
    return full_warps([=](const engine::evidence& e) {
        const auto c = e.step.launches[0].total;
        const double bytes = static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_requests);
        return seen(bytes == expected_bytes, number(bytes, 0) + " bytes a load of a warp, " +
                                                 std::to_string(c.global_load_requests) + " loads, " +
                                                 number(moved_for_each(c), 2) + " bytes moved for each");
    });
}

verdict fewer_instructions(const engine::evidence& e, const step_result& other) {
    if (e.n() < 1024) {
        return unseen("needs more than a remainder");
    }
    const auto here = e.step.launches[0].total.thread_instructions;
    const auto before = other.launches[0].total.thread_instructions;
    return seen(here < before, number(static_cast<double>(here) / static_cast<double>(e.n()), 2) +
                                   " instructions an element, " +
                                   number(static_cast<double>(before) / static_cast<double>(e.n()), 2) + " by int");
}

verdict remainder_lost(const engine::evidence& e) {
    const std::string figure = "n = " + std::to_string(e.n()) + ": " + e.step.difference;
    return e.step.correct
               ? seen(true, "nothing is lost")
               : holds_only_for("grids with more than n/4 threads: no thread has the index n/4 here", figure);
}

constexpr const char* source = "ladder/memory/04_vector_copies.cu";
constexpr const char* section = "380, Vectorized Memory Access";

} // namespace

engine::step_definition copy_by_int() {
    return {.about = {"int", "copy by int", source, "a load and a store of 4 bytes", section},
            .data = copy_of,
            .run = run<int>,
            .least_bytes = engine::read_and_written,
            .claims = {{"warp needs 128 bytes", "380, Access Patterns vs. Memory Throughput",
                        loads_for(128).refuted_by(engine::step_in_place("int4"))}}};
}

engine::step_definition copy_by_int2() {
    return {.about = {"int2", "copy by int2", source, "a load and a store of 8 bytes", section},
            .data = copy_of,
            .run = run<int2>,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"LD.E.64: 256 bytes a warp", section, loads_for(256).refuted_by(engine::step_in_place("int"))},
                {"fewer instructions than by int", "beyond the lectures", engine::compared("int", fewer_instructions)},
                {"faster than by int", section, engine::faster_than("int")}}};
}

engine::step_definition copy_by_int4() {
    return {.about = {"int4", "copy by int4", source, "a load and a store of 16 bytes", section},
            .data = copy_of,
            .run = run<int4>,
            .least_bytes = engine::read_and_written,
            .claims = {
                {"LD.E.128: 512 bytes a warp", section, loads_for(512).refuted_by(engine::step_in_place("int"))},
                {"fewer instructions than by int", "beyond the lectures", engine::compared("int", fewer_instructions)},
                {"faster than by int", section, engine::faster_than("int")}}};
}

engine::step_definition copy_of_the_slide() {
    return {.about = {"int4 slide", "copy by int4, as on the slide", source,
                      "512 elements for each block, and a remainder of 3", section},
            .data = copy_of,
            .run = run_slide,
            .size = [](std::uint64_t n) { return std::max<std::uint64_t>(n / 512, 1) * 512 + 3; },
            .expected = outcome::wrong,
            .lesson = "where the grid has exactly n/4 threads, no thread takes the remainder",
            .claims = {{"in only one thread, process final elements (if there are any)", section,
                        engine::check(remainder_lost).refuted_by(engine::on_size(4096))}}};
}

} // namespace warpfold::ladder::memory

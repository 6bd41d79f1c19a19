// SPDX-License-Identifier: MIT
// How many thread-instructions a second the interpreter executes on one core, counters on and off.
//     ./dev bench --benchmark_filter=tree
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "softgpu/machine/launch.hpp"

namespace {

using softgpu::machine::extent;

struct gpu {
    softgpu::memory::device_memory memory{1ull << 32};
    softgpu::machine::module kernels;

    gpu() : kernels(text(), memory) {}

    static std::string text() {
        std::ifstream file(SOFTGPU_KERNELS_PTX);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
};

gpu& the_gpu() {
    static gpu one;
    return one;
}

template <class... Arguments>
std::vector<std::byte> parameter_block(const softgpu::machine::kernel_facts& facts, Arguments... arguments) {
    std::vector<std::byte> block(facts.parameter_bytes);
    std::size_t k = 0;
    ((std::memcpy(block.data() + facts.parameter_offsets[k], &arguments, facts.parameter_sizes[k]), ++k), ...);
    return block;
}

template <class... Arguments>
void run(benchmark::State& state, const char* name, extent grid, extent block, std::uint32_t shared, Arguments... arguments) {
    gpu& g = the_gpu();
    const softgpu::machine::kernel* const k = g.kernels.find_kernel(name);
    if (k == nullptr) {
        state.SkipWithError("no such kernel");
        return;
    }
    const auto parameters = parameter_block(g.kernels.facts(*k), arguments...);
    softgpu::machine::launch_request request;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = shared;
    request.parameters = parameters.data();
    request.workers = 1;
    request.count = true;
    const auto counted = softgpu::machine::launch(g.kernels, *k, request);
    if (counted.error) {
        state.SkipWithError(counted.error.message.c_str());
        return;
    }
    request.count = state.range(0) != 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(softgpu::machine::launch(g.kernels, *k, request));
    }
    const auto per_launch = static_cast<double>(counted.total.thread_instructions);
    state.counters["thread_instructions"] =
        benchmark::Counter(per_launch * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["lanes"] = counted.total.average_active_lanes();
}

constexpr std::size_t n = 1u << 20;

softgpu::memory::address buffer(std::size_t which) {
    static const std::vector<softgpu::memory::address> buffers = [] {
        std::vector<softgpu::memory::address> made;
        for (int k = 0; k < 3; ++k) {
            made.push_back(the_gpu().memory.allocate(n * 4, softgpu::memory::allocation_kind::device));
            auto* const words = reinterpret_cast<std::uint32_t*>(made.back());
            for (std::size_t i = 0; i < n; ++i) {
                // As floats in [0.5, 1): denormal numbers would measure the processor's slow path.
                words[i] = 0x3F000000u | static_cast<std::uint32_t>(i * 2654435761u) >> 9;
            }
        }
        return made;
    }();
    return buffers[which];
}

void tree(benchmark::State& state, const char* name, unsigned block) {
    run(state, name, {static_cast<std::uint32_t>(n / block)}, {block}, block * 4, buffer(0), buffer(1), std::uint64_t{n});
}
void shuffles(benchmark::State& state) { run(state, "shuffles", {64}, {256}, 0, buffer(0), buffer(1), std::uint64_t{n}); }
void polynomial(benchmark::State& state) {
    run(state, "polynomial", {n / 256}, {256}, 0, buffer(0), buffer(1), std::uint64_t{n});
}
void gather(benchmark::State& state, unsigned stride) {
    run(state, "gather", {n / 256}, {256}, 0, buffer(0), buffer(1), std::uint64_t{n}, stride);
}
void matmul(benchmark::State& state) { run(state, "matmul", {16, 16}, {16, 16}, 0, buffer(0), buffer(1), buffer(2), 256); }

} // namespace

#define SPEED(...) BENCHMARK_CAPTURE(__VA_ARGS__)->ArgName("counters")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond)
SPEED(tree, modulo_128, "tree_modulo", 128);
SPEED(tree, strided_128, "tree_strided", 128);
SPEED(tree, sequential_128, "tree_sequential", 128);
SPEED(tree, modulo_1024, "tree_modulo", 1024);
SPEED(tree, sequential_1024, "tree_sequential", 1024);
BENCHMARK(shuffles)->ArgName("counters")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(polynomial)->ArgName("counters")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
SPEED(gather, stride_1, 1);
SPEED(gather, stride_33, 33);
BENCHMARK(matmul)->ArgName("counters")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

int main(int argc, char** argv) {
    std::cout << "interpreter compiled for: " << softgpu::machine::instruction_set() << '\n';
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

// SPDX-License-Identifier: MIT
// Exact sums and segmented sums of 2^26 floats on the host's cores, with two threads: the library, reading only, a plain
// sum, and a oneTBB loop over segments.
#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks/library/host/host_memory.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace {

using namespace warpfold;

constexpr host two{2};
constexpr std::uint64_t count = std::uint64_t{1} << 26;

// In [-1, 1), or with exponents over the whole range of float.
const std::vector<float>& data(bool spread) {
    const auto make = [](bool wide) {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> even(-1, 1);
        std::vector<float> made(count);
        for (float& x : made) {
            x = wide ? std::ldexp(even(random), static_cast<int>(random() % 250) - 125) : even(random);
        }
        return made;
    };
    static const std::vector<float> plain = make(false);
    static const std::vector<float> wide = make(true);
    return spread ? wide : plain;
}

template <class Work>
void over(benchmark::State& state, const std::vector<float>& in, const Work& work) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(work(in));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * in.size() * sizeof(float)));
}
// The bytes of segmented sums: elements, offsets and results.
void count_segments(benchmark::State& state, std::size_t segments) {
    state.SetBytesProcessed(
        static_cast<std::int64_t>(state.iterations() * (count * sizeof(float) + segments * 2 * sizeof(float))));
}

void reading(benchmark::State& state) {
    over(state, data(false), [](const auto& in) { return bench::read_all(two, in.data(), in.size() * sizeof(float)); });
}
void plain_sum(benchmark::State& state) {
    over(state, data(false), [](const auto& in) { return reduce(two, in); });
}
void exact(benchmark::State& state) {
    over(state, data(false), [](const auto& in) { return exact_sum(two, in); });
}
void exact_of_any(benchmark::State& state) {
    over(state, data(true), [](const auto& in) { return exact_sum(two, in); });
}
void exact_of_doubles(benchmark::State& state) {
    static const std::vector<double> in(data(false).begin(), data(false).begin() + count / 2);
    for (auto _ : state) {
        benchmark::DoNotOptimize(exact_sum(two, in));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * in.size() * sizeof(double)));
}
void dot(benchmark::State& state) {
    over(state, data(false),
         [](const auto& in) { return exact_dot(two, in.data(), in.data() + count / 2, count / 2); });
}

std::vector<std::uint32_t> offsets_each(std::uint64_t length) {
    std::vector<std::uint32_t> offsets;
    for (std::uint64_t at = 0; at <= count; at += length) {
        offsets.push_back(static_cast<std::uint32_t>(at));
    }
    return offsets;
}
void segments(benchmark::State& state) {
    const auto offsets = offsets_each(static_cast<std::uint64_t>(state.range(0)));
    std::vector<float> out(offsets.size());
    over(state, data(false), [&](const auto& in) {
        segmented_reduce(two, in.data(), offsets.data(), offsets.size() - 1, out.data());
        return out[0];
    });
    count_segments(state, offsets.size() - 1);
}
void segments_onetbb(benchmark::State& state) {
    const auto offsets = offsets_each(static_cast<std::uint64_t>(state.range(0)));
    std::vector<float> out(offsets.size());
    over(state, data(false), [&](const auto& in) {
        tbb::parallel_for(std::size_t{0}, offsets.size() - 1, [&](std::size_t s) {
            out[s] = std::accumulate(in.data() + offsets[s], in.data() + offsets[s + 1], 0.0f);
        });
        return out[0];
    });
    count_segments(state, offsets.size() - 1);
}

} // namespace

#define TIMED(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()
TIMED(reading);
TIMED(plain_sum);
TIMED(exact);
TIMED(exact_of_any);
TIMED(exact_of_doubles);
TIMED(dot);
TIMED(segments)->Arg(1)->Arg(16)->Arg(256)->Arg(1 << 20)->Arg(1 << 26);
TIMED(segments_onetbb)->Arg(1)->Arg(16)->Arg(256)->Arg(1 << 20)->Arg(1 << 26);

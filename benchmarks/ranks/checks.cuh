// SPDX-License-Identifier: MIT
// Calls over GPUs against the host's calls on the whole array.
#pragma once

#include <cmath>
#include <random>

#include "benchmarks/ranks/rank_of_gpu.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace ranks_benchmark {

struct is_even {
    template <class T>
    __host__ __device__ bool operator()(const T& x) const {
        return static_cast<long long>(x) % 2 == 0;
    }
};

inline void check_calls(const rank_of_gpu& r, std::uint64_t n, unsigned seed) {
    const int rank = r.comm.rank();
    const auto ranks = static_cast<std::uint64_t>(r.comm.size());
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> ints(n);
    std::vector<float> floats(n);
    std::vector<std::uint8_t> flags(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        ints[k] = static_cast<std::int32_t>(random() % 2001) - 1000;
        floats[k] = std::ldexp(static_cast<float>(ints[k]) / 7, static_cast<int>(random() % 80) - 40);
        flags[k] = random() % (n / 3 + 1) == 0 ? 1 : 0;
    }
    // Uneven parts, the first of which is empty for some seeds.
    const auto begin_of = [&](std::uint64_t p) {
        return p == 0 ? 0 : p == ranks ? n : n * p / ranks / (1 + seed % 3) * (seed % 4 != 0 ? 1 : 0);
    };
    const std::uint64_t begin = begin_of(static_cast<std::uint64_t>(rank)),
                        end = begin_of(static_cast<std::uint64_t>(rank) + 1);
    const std::uint64_t count = end - begin;
    const auto part = [&](const auto& of) {
        using V = std::remove_cvref_t<decltype(of)>;
        return V(of.begin() + static_cast<std::ptrdiff_t>(begin), of.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const device_array<std::int32_t> my_ints(part(ints)), out(count);
    const device_array<float> my_floats(part(floats));
    const device_array<std::uint8_t> my_flags(part(flags));
    const auto on = gpu{r.stream}.over(r.comm);
    check(reduce(on, my_ints.data, count) == reduce(host{}, ints), "reduce", rank);
    check(reduce(on, my_ints.data, count, maximum{}) == reduce(host{}, ints, maximum{}), "reduce maximum", rank);
    check(count_if(on, my_ints.data, count, is_even{}) == count_if(host{}, ints, is_even{}), "count_if", rank);
    const auto least = arg_min(on, my_ints.data, count), expected = arg_min(host{}, ints);
    check(least.index == expected.index && least.value == expected.value, "arg_min", rank);
    check(min_max(on, my_floats.data, count).largest == min_max(host{}, floats).largest, "min_max", rank);
    check(same(exact_sum(on, my_floats.data, count), exact_sum(host{}, floats)), "exact_sum", rank);
    check(same(exact_dot(on, my_floats.data, my_floats.data, count), exact_dot(host{}, floats, floats)), "exact_dot",
          rank);
    std::vector<std::int32_t> scanned(n);
    const auto compare = [&](const char* what) {
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(r.stream));
        check(out.read() == part(scanned), what, rank);
    };
    inclusive_scan(host{}, ints, scanned);
    inclusive_scan(on, my_ints.data, count, out.data);
    compare("inclusive_scan");
    exclusive_scan(host{}, ints, scanned, sum{}, reversed, 3);
    exclusive_scan(on, my_ints.data, count, out.data, sum{}, reversed, 3);
    compare("exclusive_scan reversed");
    inclusive_scan(host{}, ints, scanned, sum{}, heads(flags));
    inclusive_scan(on, my_ints.data, count, out.data, sum{}, heads(my_flags.data));
    compare("inclusive_scan of segments");
    for (const std::uint32_t bins : {16u, 1u << 20}) {
        const even_bins<std::int32_t> of{-1000, 1001, std::min(bins, 2001u)};
        check(histogram(on, my_ints.data, count, of) == histogram(host{}, ints, of), "histogram", rank);
    }
}

// A scan that reads its part with the kernel for long arrays, and calls in a graph.
inline void check_long_scan_and_graph(const rank_of_gpu& r) {
    const int rank = r.comm.rank();
    const std::int64_t n = (std::int64_t{1} << 26) + 5, before = n * rank;
    const auto on = gpu{r.stream}.over(r.comm);
    const device_array<std::int32_t> data(std::vector<std::int32_t>(static_cast<std::uint64_t>(n), 1));
    const device_array<std::int64_t> totals(2);
    inclusive_scan(on, data.data, n, data.data);
    const auto results = min_max(gpu{r.stream}, data.data, n);
    check(results.smallest == before + 1 && results.largest == before + n, "long scan, range", rank);
    check(reduce(gpu{r.stream}, data.data, n) == n * before + n * (n + 1) / 2, "long scan, sum", rank);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    WARPFOLD_CHECK_CUDA(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal));
    reduce(on, data.data, 1000, totals.data);
    inclusive_scan(on, data.data, 1000, data.data);
    reduce(on, data.data, 1000, totals.data + 1, maximum{});
    WARPFOLD_CHECK_CUDA(cudaStreamEndCapture(r.stream, &graph));
    WARPFOLD_CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (const std::int32_t value : {1, 2}) {
        const std::vector<std::int32_t> values(1000, value);
        WARPFOLD_CHECK_CUDA(cudaMemcpy(data.data, values.data(), 4000, cudaMemcpyHostToDevice));
        r.meet();
        WARPFOLD_CHECK_CUDA(cudaGraphLaunch(executable, r.stream));
        r.comm.check_enqueued(r.stream);
        const std::int64_t expected = 1000 * value * r.comm.size();
        check(totals.read() == std::vector<std::int64_t>{expected, expected}, "calls in a graph", rank);
    }
    WARPFOLD_CHECK_CUDA(cudaGraphExecDestroy(executable));
    WARPFOLD_CHECK_CUDA(cudaGraphDestroy(graph));
}

inline void check_faults(int gpus) {
    thread_ranks group(gpus, std::chrono::seconds(30));
    group.run([](thread_communicator& threads) {
        WARPFOLD_CHECK_CUDA(cudaSetDevice(threads.rank()));
        cudaStream_t stream = nullptr;
        WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        nccl_communicator comm(threads, stream, std::chrono::milliseconds(300));
        const rank_of_gpu r{threads, comm, stream};
        const device_array<float> in(1);
        const auto ends_in_time = [&] {
            try {
                (void)reduce(gpu{stream}.over(comm), in.data, 1);
            } catch (const time_limit_error&) {
                return true;
            }
            return false;
        };
        if (threads.rank() != 0) {
            check(ends_in_time(), "a call without rank 0", threads.rank());
        }
        r.meet();
        if (threads.rank() == 0) {
            const bool first = ends_in_time(); // with mailboxes the others' values are there
            check(first || ends_in_time(), "a call without the others", 0);
        }
        r.meet();
    });
    std::printf("checks of faults: %d, wrong: %d\n", checks.load(), failures.load());
}

} // namespace ranks_benchmark

// SPDX-License-Identifier: MIT
// Calls over several GPUs of one host: checks every primitive against the host, then prints the times of 1 to N GPUs.
// A rank is a thread with a GPU of its own. benchmarks/ranks/ranks.sh builds and runs it.
//
//   ranks [LOG2...]   log2 of the elements a GPU, default 28 30
#include "warpfold/nccl.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/thread_communicator.hpp"

namespace {

using namespace warpfold;
using clock_type = std::chrono::steady_clock;

std::atomic<int> failures{0}, checks{0};

void check(bool right, const char* what, int rank) {
    ++checks;
    if (!right) {
        ++failures;
        std::printf("WRONG: %s at rank %d\n", what, rank);
    }
}

template <class T>
bool same(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
struct device_array {
    explicit device_array(std::uint64_t n) : size(n) {
        WARPFOLD_CHECK_CUDA(cudaMalloc(&data, std::max<std::uint64_t>(n, 1) * sizeof(T)));
    }
    explicit device_array(const std::vector<T>& of) : device_array(of.size()) {
        WARPFOLD_CHECK_CUDA(cudaMemcpy(data, of.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
    ~device_array() { (void)cudaFree(data); }
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> got(size);
        WARPFOLD_CHECK_CUDA(cudaMemcpy(got.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
        return got;
    }
    T* data = nullptr;
    std::uint64_t size;
};

struct is_even {
    template <class T>
    __host__ __device__ bool operator()(const T& x) const {
        return static_cast<long long>(x) % 2 == 0;
    }
};

// A rank with its GPU, its stream and both communicators.
struct rank_of_gpu {
    thread_communicator& threads;
    nccl_communicator& comm;
    cudaStream_t stream;

    void meet() const {
        char mine = 0;
        std::vector<char> all(static_cast<std::size_t>(threads.size()));
        threads.all_gather(&mine, all.data(), 1, "meet");
    }
};

// Calls work(rank) in a thread for each of the first `gpus` GPUs.
void on_gpus(int gpus, const std::function<void(const rank_of_gpu&)>& work) {
    thread_ranks group(gpus, std::chrono::seconds(120));
    group.run([&](thread_communicator& threads) {
        WARPFOLD_CHECK_CUDA(cudaSetDevice(threads.rank()));
        cudaStream_t stream = nullptr;
        WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        {
            nccl_communicator comm(threads, stream, std::chrono::seconds(60));
            work({threads, comm, stream});
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(stream));
        }
        WARPFOLD_CHECK_CUDA(cudaStreamDestroy(stream));
    });
}

void check_calls(const rank_of_gpu& r, std::uint64_t n, unsigned seed) {
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

// Seconds of one call: the least of several rounds, each from a meeting of all ranks to the last rank's end.
double seconds_of(int gpus, std::uint64_t n, int calls,
                  const std::function<std::function<void()>(const rank_of_gpu&, std::uint64_t)>& prepare) {
    std::vector<double> best(static_cast<std::size_t>(gpus), 1e9);
    std::vector<clock_type::time_point> started(best.size()), ended(best.size());
    double least = 1e9;
    on_gpus(gpus, [&](const rank_of_gpu& r) {
        const auto call = prepare(r, n);
        const auto me = static_cast<std::size_t>(r.comm.rank());
        call();
        for (int round = 0; round < 7; ++round) {
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(r.stream));
            r.meet();
            started[me] = clock_type::now();
            for (int k = 0; k < calls; ++k) {
                call();
            }
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(r.stream));
            ended[me] = clock_type::now();
            r.meet();
            if (me == 0) {
                const std::chrono::duration<double> took =
                    *std::max_element(ended.begin(), ended.end()) - *std::min_element(started.begin(), started.end());
                least = std::min(least, took.count() / calls);
            }
            r.meet();
        }
    });
    return least;
}

// Each makes the data of a rank and returns the call; with one GPU the plain call is measured.
template <class Call>
auto on_floats(bool plain, const Call& call) {
    return [plain, call](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<float>>(n);
        auto out = std::make_shared<device_array<float>>(std::max<std::uint64_t>(n, 1 << 20)); // counts, too
        WARPFOLD_CHECK_CUDA(cudaMemset(in->data, 0x3e, n * sizeof(float)));
        return [&r, in, out, n, plain, call] {
            if (plain) {
                call(gpu{r.stream}, in->data, n, out->data);
            } else {
                call(gpu{r.stream}.over(r.comm), in->data, n, out->data);
            }
        };
    };
}

template <class Call>
void row(const char* name, std::uint64_t n, int gpus, double bytes, int calls, const Call& call) {
    const double one = seconds_of(1, n, calls, on_floats(true, call));
    std::printf("| %-24s | 2^%2.0f | 1 | %10.3f | %8.0f |      |\n", name, std::log2(n), one * 1e3,
                bytes * static_cast<double>(n) / one / 1e9);
    for (int g = 1; g <= gpus; g *= 2) {
        const double all = seconds_of(g, n, calls, on_floats(false, call));
        std::printf("| %-24s | 2^%2.0f | %d over | %10.3f | %8.0f | %4.2f |\n", name, std::log2(n), g, all * 1e3,
                    bytes * static_cast<double>(n) * g / all / 1e9, one / all);
    }
    std::fflush(stdout);
}

void latencies(int gpus) {
    const auto nccl = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto word = std::make_shared<device_array<double>>(n);
        return [&r, word, n] {
            (void)ncclAllReduce(word->data, word->data, n, ncclDouble, ncclSum, r.comm.get(), r.stream);
        };
    };
    const auto reduces = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        auto out = std::make_shared<device_array<double>>(1);
        return [&r, in, out, n] { reduce(gpu{r.stream}.over(r.comm), in->data, n, out->data); };
    };
    const auto values = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        return [&r, in, n] { (void)reduce(gpu{r.stream}.over(r.comm), in->data, n); };
    };
    const auto exact = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        auto out = std::make_shared<device_array<double>>(1);
        WARPFOLD_CHECK_CUDA(cudaMemset(in->data, 0, n * sizeof(double)));
        return [&r, in, out, n] { exact_sum(gpu{r.stream}.over(r.comm), in->data, n, out->data); };
    };
    std::printf("\n| one double a GPU, %d GPUs | us |\n| --- | ---: |\n", gpus);
    std::printf("| ncclAllReduce, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, nccl) * 1e6);
    std::printf("| reduce, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, reduces) * 1e6);
    std::printf("| exact_sum, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, exact) * 1e6);
    std::printf("| reduce, value returned | %.1f |\n", seconds_of(gpus, 1, 200, values) * 1e6);
}

} // namespace

int main(int argc, char** argv) {
    int gpus = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDeviceCount(&gpus));
    int version = 0;
    (void)ncclGetVersion(&version);
    std::printf("GPUs: %d, NCCL %d\n", gpus, version);
    for (int g = 1; g <= gpus; ++g) {
        unsigned seed = 0;
        on_gpus(g, [&](const rank_of_gpu& r) {
            for (const std::uint64_t n : {1, 2, 1023, 100003}) {
                check_calls(r, n, static_cast<unsigned>(n) % 7 + seed);
            }
        });
    }
    std::printf("checks: %d, wrong: %d\n\n", checks.load(), failures.load());
    std::fflush(stdout);
    if (gpus >= 2) {
        latencies(2);
    }
    if (gpus >= 4) {
        latencies(4);
    }
    std::printf("\n| call, float | elements a GPU | GPUs | ms | GB/s | of linear |\n| --- | --- | --- | ---: | ---: | "
                "---: |\n");
    std::vector<int> logs;
    for (int k = 1; k < argc; ++k) {
        logs.push_back(std::atoi(argv[k]));
    }
    if (logs.empty()) {
        logs = {28, 30};
    }
    for (const int log : logs) {
        const std::uint64_t n = std::uint64_t{1} << log;
        row("reduce", n, gpus, 4, 5,
            [](const auto& on, const float* in, std::uint64_t m, float* out) { reduce(on, in, m, out); });
        row("exact_sum", n, gpus, 4, 5,
            [](const auto& on, const float* in, std::uint64_t m, float* out) { exact_sum(on, in, m, out); });
        row("inclusive_scan", n, gpus, 8, 3,
            [](const auto& on, const float* in, std::uint64_t m, float* out) { inclusive_scan(on, in, m, out); });
        for (const std::uint32_t bins : {256u, 1u << 20}) {
            row(bins == 256 ? "histogram, 256 bins" : "histogram, 2^20 bins", n, gpus, 4, 3,
                [bins](const auto& on, const float* in, std::uint64_t m, float* out) {
                    histogram(on, in, m, reinterpret_cast<std::uint32_t*>(out), even_bins<float>{0, 1, bins});
                });
        }
    }
    return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Calls over several GPUs of one host: checks every primitive against the host, then prints the times of 1 to N GPUs.
// A rank is a thread with a GPU of its own. benchmarks/ranks/ranks.sh builds and runs it.
//
//   ranks [LOG2...]   log2 of the elements a GPU, default 28 30
//   ranks --faults    a rank that does not call ends the others at their time limit
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "benchmarks/ranks/by_hand.cuh"
#include "benchmarks/ranks/checks.cuh"

namespace {

using namespace ranks_benchmark;
using clock_type = std::chrono::steady_clock;

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

template <class Member>
void row_by_hand(const char* name, std::uint64_t n, int gpus, double bytes, int calls, Member member) {
    const double all = seconds_of(gpus, n, calls, call_by_hand(member));
    std::printf("| %-24s | 2^%2.0f | %d | %10.3f | %8.0f |      |\n", name, std::log2(n), gpus, all * 1e3,
                bytes * static_cast<double>(n) * gpus / all / 1e9);
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
    const auto scans = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        auto out = std::make_shared<device_array<double>>(n);
        return [&r, in, out, n] { inclusive_scan(gpu{r.stream}.over(r.comm), in->data, n, out->data); };
    };
    std::printf("\n| one double a GPU, %d GPUs | us |\n| --- | ---: |\n", gpus);
    std::printf("| ncclAllReduce, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, nccl) * 1e6);
    std::printf("| reduce, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, reduces) * 1e6);
    std::printf("| exact_sum, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, exact) * 1e6);
    std::printf("| inclusive_scan, enqueued | %.1f |\n", seconds_of(gpus, 1, 200, scans) * 1e6);
    std::printf("| reduce, value returned | %.1f |\n", seconds_of(gpus, 1, 200, values) * 1e6);
    std::printf("| CUB's sum and ncclAllReduce, one float | %.1f |\n",
                seconds_of(gpus, 1, 200, call_by_hand(&by_hand::reduce)) * 1e6);
    std::printf("| CUB's sum, ncclAllGather, CUB's scan, one float | %.1f |\n",
                seconds_of(gpus, 1, 200, call_by_hand(&by_hand::scan)) * 1e6);
}

} // namespace

int main(int argc, char** argv) {
    int gpus = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDeviceCount(&gpus));
    int version = 0;
    (void)ncclGetVersion(&version);
    std::printf("GPUs: %d, NCCL %d\n", gpus, version);
    if (argc == 2 && std::strcmp(argv[1], "--faults") == 0) {
        check_faults(gpus);
        return failures == 0 ? 0 : 1;
    }
    for (int g = 1; g <= gpus; ++g) {
        unsigned seed = 0;
        on_gpus(g, [&](const rank_of_gpu& r) {
            for (const std::uint64_t n : {1, 2, 1023, 100003}) {
                check_calls(r, n, static_cast<unsigned>(n) % 7 + seed);
            }
            check_long_scan_and_graph(r);
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
        row_by_hand("CUB's sum, NCCL", n, gpus, 4, 5, &by_hand::reduce);
        row_by_hand("CUB's scan, NCCL", n, gpus, 8, 3, &by_hand::scan);
        for (const std::uint32_t bins : {256u, 1u << 20}) {
            row(bins == 256 ? "histogram, 256 bins" : "histogram, 2^20 bins", n, gpus, 4, 3,
                [bins](const auto& on, const float* in, std::uint64_t m, float* out) {
                    histogram(on, in, m, reinterpret_cast<std::uint32_t*>(out), even_bins<float>{0, 1, bins});
                });
        }
    }
    return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Calls over several GPUs of one host: checks every primitive against the host, then prints the times of 1 to N GPUs.
// A rank is a thread with a GPU of its own. benchmarks/ranks/ranks.sh builds and runs it.
//
//   ranks [LOG2...]   log2 of the elements a GPU, default 28 30; those from 30 on also of the elements in all
//   ranks --faults    a rank that does not call ends the others at their time limit
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "benchmarks/ranks/by_hand.cuh"
#include "benchmarks/ranks/checks.cuh"
#include "warpfold/convolve.cuh"

namespace {

using namespace ranks_benchmark;
using clock_type = std::chrono::steady_clock;

using call_of_rank = std::function<void()>;

constexpr int calls_in_round = 10; // of the tables of long arrays

// A row of the tables. `prepare` makes the data of a rank and returns its call.
struct measured_call {
    const char* name;
    double bytes; // read and written, an element
    int calls;    // in a round
    std::function<call_of_rank(const rank_of_gpu&, std::uint64_t)> prepare;
    bool plain = false;   // on one GPU, without a communicator
    bool by_hand = false; // a peer
};

// Seconds of one call, at rank 0: the least of several rounds, each from a meeting of all ranks to the last rank's end.
class timer_of_ranks {
public:
    explicit timer_of_ranks(int gpus) : started_(static_cast<std::size_t>(gpus)), ended_(started_.size()) {}

    double operator()(const rank_of_gpu& r, std::uint64_t n, const measured_call& what) {
        const auto call = what.prepare(r, n);
        const auto me = static_cast<std::size_t>(r.comm.rank());
        double least = 1e9;
        call();
        for (int round = 0; round < 7; ++round) {
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(r.stream));
            r.meet();
            started_[me] = clock_type::now();
            for (int k = 0; k < what.calls; ++k) {
                call();
            }
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(r.stream));
            ended_[me] = clock_type::now();
            r.meet();
            const std::chrono::duration<double> took =
                *std::ranges::max_element(ended_) - *std::ranges::min_element(started_);
            least = std::min(least, took.count() / what.calls);
            r.meet();
        }
        return least;
    }

private:
    std::vector<clock_type::time_point> started_, ended_; // by rank
};

template <class Call>
measured_call library_call(const char* name, double bytes, int calls, const Call& call, bool plain) {
    const auto prepare = [=](const rank_of_gpu& r, std::uint64_t n) -> call_of_rank {
        auto in = std::make_shared<device_array<float>>(n);
        auto out = std::make_shared<device_array<float>>(std::max<std::uint64_t>(n, 1 << 20)); // counts, too
        fill_uniform(*in, r.stream);
        return [&r, in, out, n, plain, call] {
            if (plain) {
                call(gpu{r.stream}, in->data, n, out->data);
            } else {
                call(gpu{r.stream}.over(r.comm), in->data, n, out->data);
            }
        };
    };
    return {name, bytes, calls, prepare, plain};
}

std::vector<measured_call> calls_of_tables() {
    std::vector<measured_call> all;
    const auto add = [&](const char* name, double bytes, int calls, const auto& call) {
        all.push_back(library_call(name, bytes, calls, call, true));
        all.push_back(library_call(name, bytes, calls, call, false));
    };
    add("reduce", 4, calls_in_round,
        [](const auto& on, const float* in, std::uint64_t m, float* out) { reduce(on, in, m, out); });
    add("exact_sum", 4, calls_in_round,
        [](const auto& on, const float* in, std::uint64_t m, float* out) { exact_sum(on, in, m, out); });
    add("inclusive_scan", 8, calls_in_round,
        [](const auto& on, const float* in, std::uint64_t m, float* out) { inclusive_scan(on, in, m, out); });
    for (const std::uint32_t bins : {256u, 1u << 20}) {
        add(bins == 256 ? "histogram, 256 bins" : "histogram, 2^20 bins", 4, calls_in_round,
            [bins](const auto& on, const float* in, std::uint64_t m, float* out) {
                histogram(on, in, m, reinterpret_cast<std::uint32_t*>(out), even_bins<float>{0, 1, bins});
            });
    }
    add("convolve, 31 mask values", 8, calls_in_round,
        [](const auto& on, const float* in, std::uint64_t m, float* out) {
            static const std::vector<double> mask(31, 0.25);
            convolve(on, in, m, mask.data(), mask.size(), out, convolve_options{});
        });
    all.push_back({"CUB's sum, NCCL", 4, calls_in_round, call_by_hand(&by_hand::reduce), false, true});
    all.push_back({"CUB's scan, NCCL", 8, calls_in_round, call_by_hand(&by_hand::scan), false, true});
    return all;
}

// Seconds by the index of the call, elements a GPU, GPUs.
using results = std::map<std::tuple<std::size_t, std::uint64_t, int>, double>;

// All calls on 1, 2, 4 ... GPUs: with the elements a GPU that `logs` says, and, from 2^30 on, as many in all.
results measure(int gpus, const std::vector<int>& logs, const std::vector<measured_call>& calls) {
    results found;
    for (int g = 1; g <= gpus; g *= 2) {
        std::set<std::uint64_t> sizes;
        for (const int log : logs) {
            sizes.insert(std::uint64_t{1} << log);
            if (log >= 30) {
                sizes.insert((std::uint64_t{1} << log) / static_cast<std::uint64_t>(g));
            }
        }
        timer_of_ranks seconds(g);
        on_gpus(g, [&](const rank_of_gpu& r) {
            for (const std::uint64_t n : sizes) {
                for (std::size_t k = 0; k < calls.size(); ++k) {
                    if (!calls[k].plain || g == 1) {
                        const double took = seconds(r, n, calls[k]);
                        if (r.comm.rank() == 0) {
                            found[{k, n, g}] = took;
                        }
                    }
                }
            }
        });
    }
    return found;
}

// total: elements in all are the same in each row, else elements a GPU.
void print_scaling(const results& of, int gpus, int log, const std::vector<measured_call>& calls, bool total) {
    const std::uint64_t size = std::uint64_t{1} << log;
    double one = 0;
    for (std::size_t k = 0; k < calls.size(); ++k) {
        for (int g = 1; g <= gpus; g *= 2) {
            const auto at = of.find({k, total ? size / static_cast<std::uint64_t>(g) : size, g});
            if (at == of.end()) {
                continue;
            }
            const double seconds = at->second, elements = static_cast<double>(size) * (total ? 1 : g);
            one = calls[k].plain || (calls[k].by_hand && g == 1) ? seconds : one;
            std::printf("| %-20s | 2^%d | %d%s | %10.3f | %8.0f | %4.2f |\n", calls[k].name, log, g,
                        calls[k].plain || calls[k].by_hand ? "" : " over", seconds * 1e3,
                        calls[k].bytes * elements / seconds / 1e9, one / seconds / (total ? g : 1));
        }
    }
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
    const auto dots = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        auto out = std::make_shared<device_array<double>>(1);
        WARPFOLD_CHECK_CUDA(cudaMemset(in->data, 0, n * sizeof(double)));
        return [&r, in, out, n] { exact_dot(gpu{r.stream}.over(r.comm), in->data, in->data, n, out->data); };
    };
    const auto scans = [](const rank_of_gpu& r, std::uint64_t n) -> std::function<void()> {
        auto in = std::make_shared<device_array<double>>(n);
        auto out = std::make_shared<device_array<double>>(n);
        return [&r, in, out, n] { inclusive_scan(gpu{r.stream}.over(r.comm), in->data, n, out->data); };
    };
    const std::vector<measured_call> all{
        {"ncclAllReduce, enqueued", 0, 200, nccl},
        {"reduce, enqueued", 0, 200, reduces},
        {"exact_sum, enqueued", 0, 200, exact},
        {"exact_dot, enqueued", 0, 200, dots},
        {"inclusive_scan, enqueued", 0, 200, scans},
        {"reduce, value returned", 0, 200, values},
        {"CUB's sum and ncclAllReduce, one float", 0, 200, call_by_hand(&by_hand::reduce)},
        {"CUB's sum, ncclAllGather, CUB's scan, one float", 0, 200, call_by_hand(&by_hand::scan)},
    };
    std::printf("\n| one double a GPU, %d GPUs | us |\n| --- | ---: |\n", gpus);
    timer_of_ranks seconds(gpus);
    on_gpus(gpus, [&](const rank_of_gpu& r) {
        for (const measured_call& call : all) {
            const double took = seconds(r, 1, call);
            if (r.comm.rank() == 0) {
                std::printf("| %s | %.1f |\n", call.name, took * 1e6);
            }
        }
    });
    std::fflush(stdout);
}

// exact_sum of several arrays: in one stream, where a pass waits for the exchange of the array before, or in turn in two
// streams with a communicator each.
void several_arrays(int gpus) {
    constexpr int arrays = 8;
    std::printf(
        "\n| exact_sum of %d arrays of floats, %d GPUs | one stream, us | two streams, us |\n| --- | ---: | ---: |\n",
        arrays, gpus);
    timer_of_ranks seconds(gpus);
    on_gpus(gpus, [&](const rank_of_gpu& r) {
        cudaStream_t other = nullptr;
        WARPFOLD_CHECK_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        cudaEvent_t mark = nullptr;
        WARPFOLD_CHECK_CUDA(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
        {
            nccl_communicator second(r.threads, other);
            for (const int log : {16, 20, 22, 24, 26}) {
                const auto n = std::uint64_t{1} << log;
                const auto prepare = [&](bool two) {
                    return [&, two](const rank_of_gpu& at, std::uint64_t m) -> call_of_rank {
                        auto in = std::make_shared<device_array<float>>(m * arrays);
                        auto out = std::make_shared<device_array<float>>(arrays);
                        fill_uniform(*in, at.stream);
                        return [&, in, out, m, two] {
                            if (two) {
                                WARPFOLD_CHECK_CUDA(cudaEventRecord(mark, at.stream));
                                WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(other, mark, 0));
                            }
                            for (int k = 0; k < arrays; ++k) {
                                const float* const from = in->data + static_cast<std::uint64_t>(k) * m;
                                two&& k % 2 == 1 ? exact_sum(gpu{other}.over(second), from, m, out->data + k)
                                                 : exact_sum(gpu{at.stream}.over(at.comm), from, m, out->data + k);
                            }
                            if (two) {
                                WARPFOLD_CHECK_CUDA(cudaEventRecord(mark, other));
                                WARPFOLD_CHECK_CUDA(cudaStreamWaitEvent(at.stream, mark, 0));
                            }
                        };
                    };
                };
                const double one = seconds(r, n, {"", 0, 20, prepare(false)});
                const double two = seconds(r, n, {"", 0, 20, prepare(true)});
                if (r.comm.rank() == 0) {
                    std::printf("| 2^%d a GPU | %.1f | %.1f |\n", log, one * 1e6, two * 1e6);
                }
            }
        }
        WARPFOLD_CHECK_CUDA(cudaEventDestroy(mark));
        WARPFOLD_CHECK_CUDA(cudaStreamDestroy(other));
    });
    std::fflush(stdout);
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
    if (gpus >= 2) {
        several_arrays(gpus);
    }
    std::vector<int> logs;
    for (int k = 1; k < argc; ++k) {
        logs.push_back(std::atoi(argv[k]));
    }
    if (logs.empty()) {
        logs = {28, 30};
    }
    std::printf("\ncalls in a round: %d\n", calls_in_round);
    const std::vector<measured_call> calls = calls_of_tables();
    const results found = measure(gpus, logs, calls);
    for (const bool total : {false, true}) {
        std::printf("\n| call, float | elements %s | GPUs | ms | GB/s | of linear |\n| --- | --- | --- | ---: | ---: | "
                    "---: |\n",
                    total ? "in all" : "a GPU");
        for (const int log : logs) {
            if (!total || log >= 30) {
                print_scaling(found, gpus, log, calls, total);
            }
        }
    }
    return failures == 0 ? 0 : 1;
}

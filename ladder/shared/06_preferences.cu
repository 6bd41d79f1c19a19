// SPDX-License-Identifier: MIT
// Who gets the memory that L1 and shared memory have in common, by the calls that the lectures name; and shared memory set
// aside by the driver's own call. (380 "L1 Sizing"; 759 "3 Ways to Set Aside Shared Memory", "Shared Memory Architecture".)
#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"
#include "measure/device.hpp"
#include "measure/statistics.hpp"

namespace warpfold::ladder::shared {

namespace {

// 128 bytes of local memory for each thread: the index is known at run time only.
constexpr unsigned words = 32;
constexpr unsigned hops_of_the_step = 8;
__host__ __device__ int through_memory(int x, unsigned hops) {
    int memory[words];
    for (unsigned k = 0; k < words; ++k) {
        memory[k] = x + static_cast<int>(k);
    }
    unsigned at = static_cast<unsigned>(x) % words;
    int sum = 0;
    for (unsigned k = 0; k < hops; ++k) { // reads only: what is stored goes through to L2 in any case
        sum += memory[at];
        at = (5 * at + 1 + (static_cast<unsigned>(sum) & 2)) % words;
    }
    return sum;
}
__global__ void spilling(int* out, const int* in, std::uint64_t n, unsigned hops) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i] = through_memory(in[i], hops);
    }
}

// Each block reverses its part through shared memory; what more it has set aside counts for the occupancy only.
__global__ void reverse_and_wait(int* out, const int* in, std::uint64_t n, std::int64_t cycles) {
    extern __shared__ int values_of_block[];
    const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x;
    values_of_block[threadIdx.x] = first + threadIdx.x < n ? in[first + threadIdx.x] : 0;
    __syncthreads();
    const unsigned other = blockDim.x - 1 - threadIdx.x;
    if (first + other < n) {
        out[first + other] = values_of_block[other];
    }
    const std::int64_t begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

engine::sample spilled_and_copied(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    for (int time = 0; time < 2; ++time) {
        for (const std::int32_t x : in) {
            right.push_back(through_memory(x, hops_of_the_step));
        }
    }
    right.insert(right.end(), in.begin(), in.end());
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_preferences(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto blocks = static_cast<unsigned>(engine::divide_up(on.n, threads));
    const auto function = reinterpret_cast<const void*>(&spilling);
    unsigned part = 0;
    for (const cudaFuncCache preference : {cudaFuncCachePreferL1, cudaFuncCachePreferShared}) {
        WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, preference));
        engine::launch(on, "spilling", spilling, blocks, threads, 0, on.output<int>() + on.n * part++, on.input<int>(),
                       on.n, hops_of_the_step);
    }
    WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone));
    engine::launch(on, "reverse_and_wait", reverse_and_wait, blocks, threads, threads * sizeof(int),
                   on.output<int>() + on.n * part, on.input<int>(), on.n, 0);
}

// Of eleven launches, after one that is not counted.
template <class Launch>
timing times_of(Launch launch) {
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    std::vector<double> seconds;
    for (int sample = 0; sample < 12; ++sample) {
        begin.record(on.handle());
        launch(on.handle());
        end.record(on.handle());
        end.synchronize();
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        if (sample != 0) {
            seconds.push_back(end.seconds_since(begin));
        }
    }
    const auto s = measure::summarize(seconds);
    return {s.median, s.low, s.high, static_cast<unsigned>(s.samples)};
}

std::string microseconds(const timing& t) { return number(t.median * 1e6, 0) + " us"; }

// A claim that one way takes longer than the other. Refuted by equal times.
constexpr timing equal{.median = 1e-4, .low = 0.99e-4, .high = 1.01e-4, .samples = 11};
template <class Times>
engine::check compared_times(Times (*measure)(const engine::evidence&),
                             verdict (*decide)(const engine::evidence&, const Times&)) {
    return engine::measured(measure, decide).refuted_by(engine::figures_in_place("equal times", Times{}));
}

// One block of 1024 threads on each multiprocessor: 128 KiB of local memory there.
struct spilling_times {
    timing l1 = equal, shared = equal; // preferred
};
spilling_times measure_spilling(const engine::evidence& e) {
    const auto blocks = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    constexpr unsigned hops = 512;
    const measure::device_memory in(std::size_t{blocks} * 1024 * sizeof(int));
    const measure::device_memory out(in.bytes());
    WARPFOLD_CUDA_CHECK(cudaMemset(in.data(), 0, in.bytes()));
    const auto function = reinterpret_cast<const void*>(&spilling);
    const auto with = [&](cudaFuncCache preference) {
        WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, preference));
        return times_of([&](cudaStream_t on) {
            spilling<<<blocks, 1024, 0, on>>>(static_cast<int*>(out.data()), static_cast<const int*>(in.data()),
                                              std::uint64_t{blocks} * 1024, hops);
        });
    };
    const spilling_times all{with(cudaFuncCachePreferL1), with(cudaFuncCachePreferShared)};
    WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone));
    return all;
}

verdict large_l1_helps(const engine::evidence& /*e*/, const spilling_times& t) {
    return engine::shorter(t.l1, t.shared,
                           "128 KiB of local memory on a multiprocessor: " + microseconds(t.l1) +
                               " where L1 is preferred, " + microseconds(t.shared) + " where shared memory is");
}

// Eight blocks with 24 KiB each on each multiprocessor, which wait: how often one set has to wait for another.
struct eight_blocks {
    timing l1 = equal, shared = equal, none = equal; // preferred
};
eight_blocks measure_eight_blocks(const engine::evidence& e) {
    const auto function = reinterpret_cast<const void*>(&reverse_and_wait);
    const auto with = [&](cudaFuncCache preference) {
        WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, preference));
        constexpr std::int64_t cycles = 100'000;
        const auto blocks = static_cast<unsigned>(8 * std::max(e.report.device.multiprocessors, 1));
        return times_of(
            [&](cudaStream_t on) { reverse_and_wait<<<blocks, 32, 24 * 1024, on>>>(nullptr, nullptr, 0, cycles); });
    };
    return {with(cudaFuncCachePreferL1), with(cudaFuncCachePreferShared), with(cudaFuncCachePreferNone)};
}

verdict large_shared_helps(const engine::evidence& /*e*/, const eight_blocks& t) {
    return engine::shorter(t.shared, t.l1,
                           "eight blocks with 24 KiB on each multiprocessor: " + microseconds(t.shared) +
                               " where shared memory is preferred, " + microseconds(t.l1) + " where L1 is, " +
                               microseconds(t.none) + " where nothing is said");
}

// What a block may have without asking, against what a multiprocessor has; bytes.
struct shared_memory {
    int without_asking = 0, all = 0;
};
shared_memory attributes() {
    int device = 0;
    shared_memory m;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&m.without_asking, cudaDevAttrMaxSharedMemoryPerBlock, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&m.all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    return m;
}

verdict default_of_kepler(const engine::evidence& e) {
    const auto* const given = e.given<shared_memory>();
    const auto [without_asking, all] = given != nullptr ? *given : attributes();
    const std::string figure = number(without_asking / 1024.0, 0) + " KiB for a block that does not ask, " +
                               number(all / 1024.0, 0) + " KiB on a multiprocessor at most; the rest is L1's";
    return without_asking == 48 * 1024 && all == 48 * 1024 ? seen(true, figure)
                                                           : holds_only_for("Fermi and Kepler", figure);
}

// Without a time.
class signal {
public:
    signal() { WARPFOLD_CUDA_CHECK(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;
    ~signal() { (void)cudaEventDestroy(handle_); }

    // `waits` goes on where `gives` stands now.
    void pass(cudaStream_t gives, cudaStream_t waits) const {
        WARPFOLD_CUDA_CHECK(cudaEventRecord(handle_, gives));
        WARPFOLD_CUDA_CHECK(cudaStreamWaitEvent(waits, handle_, 0));
    }

private:
    cudaEvent_t handle_ = nullptr;
};

__global__ void wait_so_long(std::int64_t cycles) {
    const std::int64_t begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

// Two kernels with a block for each multiprocessor, in two streams: with the same wish for L1 and shared memory, and with
// opposite ones.
struct two_kernels {
    timing alike = equal, opposite = equal;
};
two_kernels measure_two_kernels(const engine::evidence& e) {
    constexpr std::int64_t cycles = 400'000;
    const auto blocks = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    const auto first = reinterpret_cast<const void*>(&wait_so_long);
    const auto second = reinterpret_cast<const void*>(&reverse_and_wait);
    const measure::stream other;
    const signal before;
    const signal after;
    const auto with = [&](int share_of_first, int share_of_second) {
        WARPFOLD_CUDA_CHECK(
            cudaFuncSetAttribute(first, cudaFuncAttributePreferredSharedMemoryCarveout, share_of_first));
        WARPFOLD_CUDA_CHECK(
            cudaFuncSetAttribute(second, cudaFuncAttributePreferredSharedMemoryCarveout, share_of_second));
        return times_of([&](cudaStream_t on) {
            before.pass(on, other.handle());
            wait_so_long<<<blocks, 32, 0, on>>>(cycles);
            reverse_and_wait<<<blocks, 32, 128, other.handle()>>>(nullptr, nullptr, 0, cycles);
            after.pass(other.handle(), on);
        });
    };
    const two_kernels all{with(100, 100), with(0, 100)};
    (void)with(cudaSharedmemCarveoutDefault, cudaSharedmemCarveoutDefault);
    return all;
}

verdict kept_apart_by_sizing(const engine::evidence& /*e*/, const two_kernels& t) {
    return seen(t.opposite.median > 1.5 * t.alike.median,
                "two kernels that wait on every multiprocessor: " + microseconds(t.alike) +
                    " where both prefer shared memory, " + microseconds(t.opposite) + " where one prefers L1");
}

// As through_memory(), and a word of global memory with every hop, each read once.
template <bool InL1>
__global__ void spilling_and_streaming(int* out, const int* stream, unsigned hops) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    const std::uint64_t all = std::uint64_t{blockDim.x} * gridDim.x;
    int memory[words];
    for (unsigned k = 0; k < words; ++k) {
        memory[k] = static_cast<int>(i + k);
    }
    unsigned at = threadIdx.x % words;
    int sum = 0;
    for (unsigned k = 0; k < hops; ++k) {
        int value = 0;
        if constexpr (InL1) {
            asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(value) : "l"(stream + k * all + i));
        } else {
            asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value) : "l"(stream + k * all + i));
        }
        sum += memory[at] + value;
        at = (5 * at + 1 + (static_cast<unsigned>(sum) & 2)) % words;
    }
    out[i] = sum;
}

struct streaming_times {
    timing caching = equal, non_caching = equal;
};
streaming_times measure_streaming(const engine::evidence& e) {
    const auto blocks = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    constexpr unsigned hops = 256;
    const std::size_t words_of_all = std::size_t{blocks} * 1024;
    const measure::device_memory data(words_of_all * hops * sizeof(int));
    const measure::device_memory out(words_of_all * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemset(data.data(), 0, data.bytes()));
    const auto of = [&](auto kernel) {
        return times_of([&](cudaStream_t on) {
            kernel<<<blocks, 1024, 0, on>>>(static_cast<int*>(out.data()), static_cast<const int*>(data.data()), hops);
        });
    };
    return {of(spilling_and_streaming<true>), of(spilling_and_streaming<false>)};
}

verdict spilling_without_l1(const engine::evidence& /*e*/, const streaming_times& t) {
    return engine::shorter(t.non_caching, t.caching,
                           "128 KiB of local memory on a multiprocessor, and a stream of global memory by ld.ca: " +
                               microseconds(t.caching) + "; by ld.cg " + microseconds(t.non_caching));
}

// The driver's calls of CUDA 1: the size is a property of the function, its arguments are put together by hand.
struct third_way_result {
    std::string obstacle; // what the driver lacks or answers
    std::vector<std::int32_t> got, right;
};
third_way_result launch_by_driver(void* driver) {
    using on_function = int (*)(void*, ...);
    const auto call = [&](const char* name) { return reinterpret_cast<on_function>(dlsym(driver, name)); };
    const auto set_shape = call("cuFuncSetBlockShape");
    const auto set_shared = call("cuFuncSetSharedSize");
    const auto set_value = call("cuParamSetv");
    const auto set_size = call("cuParamSetSize");
    const auto launch = call("cuLaunchGrid");
    if (set_shape == nullptr || set_shared == nullptr || set_value == nullptr || set_size == nullptr ||
        launch == nullptr) {
        return {"the driver has no cuFuncSetSharedSize() and cuLaunchGrid() any more", {}, {}};
    }
    constexpr std::uint64_t n = 1024;
    const auto values = engine::numbers(n, 1);
    const measure::device_memory in(n * sizeof(int));
    const measure::device_memory out(n * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(in.data(), values.data(), in.bytes(), cudaMemcpyHostToDevice));
    struct {
        void* out;
        const void* in;
        std::uint64_t n;
        std::int64_t cycles;
    } arguments{out.data(), in.data(), n, 0};
    cudaFunction_t function = nullptr;
    WARPFOLD_CUDA_CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&reverse_and_wait)));
    int answer = set_shape(function, static_cast<int>(threads), 1, 1);
    answer = answer != 0 ? answer : set_shared(function, static_cast<unsigned>(threads * sizeof(int)));
    answer = answer != 0 ? answer : set_value(function, 0, &arguments, static_cast<unsigned>(sizeof arguments));
    answer = answer != 0 ? answer : set_size(function, static_cast<unsigned>(sizeof arguments));
    answer = answer != 0 ? answer : launch(function, static_cast<int>(n / threads), 1);
    if (answer != 0) {
        return {"the driver answers with its error " + std::to_string(answer), {}, {}};
    }
    std::vector<std::int32_t> result(n);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    WARPFOLD_CUDA_CHECK(cudaMemcpy(result.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost));
    return {"", result, values};
}

verdict third_way(const engine::evidence& e) {
    const auto* const given = e.given<third_way_result>();
    void* const driver = e.report.device.software ? nullptr : dlopen("libcuda.so.1", RTLD_NOW);
    if (given == nullptr && driver == nullptr) {
        return unseen("needs NVIDIA's driver");
    }
    const auto [obstacle, got, right] = given != nullptr ? *given : launch_by_driver(driver);
    if (!obstacle.empty()) {
        return seen(false, obstacle);
    }
    return seen(got == right, std::to_string(threads * sizeof(int)) +
                                  " bytes by cuFuncSetSharedSize(), launched by cuLaunchGrid(): " +
                                  (got == right ? "right" : "wrong") + "; deprecated since CUDA 4");
}

constexpr const char* sizing = "380, L1 Sizing";

} // namespace

engine::step_definition preferences() {
    return {.about = {"preferences", "L1 or shared memory, by preference", "ladder/shared/06_preferences.cu",
                      "cudaFuncSetCacheConfig() before a kernel that spills, and one that needs shared memory", sizing},
            .data = spilled_and_copied,
            .run = run_preferences,
            .claims = {
                {"default: 16 KB L1, 48 KB SMEM", sizing,
                 engine::check(default_of_kepler)
                     .refuted_by(engine::figures_in_place("an H200's memory", shared_memory{48 * 1024, 228 * 1024}))},
                {"large L1 can help when using lots of LMEM (spilling registers)", sizing,
                 compared_times(measure_spilling, large_l1_helps)},
                {"large SMEM can help if occupancy is limited by shared memory", sizing,
                 compared_times(measure_eight_blocks, large_shared_helps)},
                {"kernels that require different L1:SMEM sizing cannot run concurrently", sizing,
                 compared_times(measure_two_kernels, kept_apart_by_sizing)},
                {"non-caching loads are better when kernel uses lots of LMEM (register spilling)",
                 "380, Caching vs Non-caching Loads", compared_times(measure_streaming, spilling_without_l1)},
                {"third way: dynamically, via the driver API, cuFuncSetSharedSize()",
                 "759, 3 Ways to Set Aside Shared Memory",
                 engine::check(third_way).refuted_by(
                     engine::figures_in_place("a block in its old order", third_way_result{"", {1, 2}, {2, 1}}))}}};
}

} // namespace warpfold::ladder::shared

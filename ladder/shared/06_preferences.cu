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

// Seconds of the fastest of five.
template <class Launch>
double fastest(Launch launch) {
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    double best = std::numeric_limits<double>::max();
    for (int sample = 0; sample < 5; ++sample) {
        begin.record(on.handle());
        launch(on.handle());
        end.record(on.handle());
        end.synchronize();
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        best = std::min(best, end.seconds_since(begin));
    }
    return best;
}

engine::check on_a_gpu(verdict (*inner)(const engine::evidence&)) {
    return [inner](const engine::evidence& e) { return e.step.cold ? inner(e) : unseen("needs the clock of a GPU"); };
}

// One block of 1024 threads on each multiprocessor: 128 KiB of local memory there.
verdict large_l1_helps(const engine::evidence& e) {
    const auto blocks = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    constexpr unsigned hops = 512;
    const measure::device_memory in(std::size_t{blocks} * 1024 * sizeof(int));
    const measure::device_memory out(in.bytes());
    WARPFOLD_CUDA_CHECK(cudaMemset(in.data(), 0, in.bytes()));
    const auto function = reinterpret_cast<const void*>(&spilling);
    const auto with = [&](cudaFuncCache preference) {
        WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, preference));
        return fastest([&](cudaStream_t on) {
            spilling<<<blocks, 1024, 0, on>>>(static_cast<int*>(out.data()), static_cast<const int*>(in.data()),
                                              std::uint64_t{blocks} * 1024, hops);
        });
    };
    const double l1 = with(cudaFuncCachePreferL1);
    const double shared = with(cudaFuncCachePreferShared);
    WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone));
    return seen(shared > 1.1 * l1, "128 KiB of local memory on a multiprocessor: " + number(l1 * 1e6, 1) +
                                       " us where L1 is preferred, " + number(shared * 1e6, 1) +
                                       " us where shared memory is");
}

// Eight blocks with 24 KiB each on each multiprocessor, which wait: how often one set has to wait for another.
double seconds_of_eight_blocks(int multiprocessors) {
    constexpr std::int64_t cycles = 100'000;
    return fastest([&](cudaStream_t on) {
        reverse_and_wait<<<static_cast<unsigned>(8 * multiprocessors), 32, 24 * 1024, on>>>(nullptr, nullptr, 0,
                                                                                            cycles);
    });
}

verdict large_shared_helps(const engine::evidence& e) {
    const auto function = reinterpret_cast<const void*>(&reverse_and_wait);
    const auto with = [&](cudaFuncCache preference) {
        WARPFOLD_CUDA_CHECK(cudaFuncSetCacheConfig(function, preference));
        return seconds_of_eight_blocks(std::max(e.report.device.multiprocessors, 1));
    };
    const double l1 = with(cudaFuncCachePreferL1);
    const double shared = with(cudaFuncCachePreferShared);
    const double none = with(cudaFuncCachePreferNone);
    return seen(l1 > 1.5 * shared, "eight blocks with 24 KiB on each multiprocessor: " + number(shared * 1e6, 0) +
                                       " us where shared memory is preferred, " + number(l1 * 1e6, 0) +
                                       " us where L1 is, " + number(none * 1e6, 0) + " us where nothing is said");
}

// What a block may have without asking, against what a multiprocessor has.
verdict default_of_kepler(const engine::evidence& e) {
    int device = 0;
    int without_asking = 0;
    int all = 0;
    WARPFOLD_CUDA_CHECK(cudaGetDevice(&device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&without_asking, cudaDevAttrMaxSharedMemoryPerBlock, device));
    WARPFOLD_CUDA_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    (void)e;
    return seen(without_asking == 48 * 1024 && all == 48 * 1024,
                number(without_asking / 1024.0, 0) + " KiB for a block that does not ask, " + number(all / 1024.0, 0) +
                    " KiB on a multiprocessor at most; the rest is L1's");
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
verdict kept_apart_by_sizing(const engine::evidence& e) {
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
        return fastest([&](cudaStream_t on) {
            before.pass(on, other.handle());
            wait_so_long<<<blocks, 32, 0, on>>>(cycles);
            reverse_and_wait<<<blocks, 32, 128, other.handle()>>>(nullptr, nullptr, 0, cycles);
            after.pass(other.handle(), on);
        });
    };
    const double alike = with(100, 100);
    const double opposite = with(0, 100);
    (void)with(cudaSharedmemCarveoutDefault, cudaSharedmemCarveoutDefault);
    return seen(opposite > 1.5 * alike, "two kernels that wait on every multiprocessor: " + number(alike * 1e6, 0) +
                                            " us where both prefer shared memory, " + number(opposite * 1e6, 0) +
                                            " us where one prefers L1");
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

verdict spilling_without_l1(const engine::evidence& e) {
    const auto blocks = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    constexpr unsigned hops = 256;
    const std::size_t words_of_all = std::size_t{blocks} * 1024;
    const measure::device_memory data(words_of_all * hops * sizeof(int));
    const measure::device_memory out(words_of_all * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemset(data.data(), 0, data.bytes()));
    const auto of = [&](auto kernel) {
        return fastest([&](cudaStream_t on) {
            kernel<<<blocks, 1024, 0, on>>>(static_cast<int*>(out.data()), static_cast<const int*>(data.data()), hops);
        });
    };
    const double caching = of(spilling_and_streaming<true>);
    const double other = of(spilling_and_streaming<false>);
    return seen(other < 0.98 * caching,
                "128 KiB of local memory on a multiprocessor, and a stream of global memory by ld.ca: " +
                    number(caching * 1e6, 0) + " us; by ld.cg " + number(other * 1e6, 0) + " us");
}

// The driver's calls of CUDA 1: the size is a property of the function, its arguments are put together by hand.
verdict third_way(const engine::evidence& e) {
    void* const driver = e.report.device.software ? nullptr : dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) {
        return unseen("needs NVIDIA's driver");
    }
    using on_function = int (*)(void*, ...);
    const auto call = [&](const char* name) { return reinterpret_cast<on_function>(dlsym(driver, name)); };
    const auto set_shape = call("cuFuncSetBlockShape");
    const auto set_shared = call("cuFuncSetSharedSize");
    const auto set_value = call("cuParamSetv");
    const auto set_size = call("cuParamSetSize");
    const auto launch = call("cuLaunchGrid");
    if (set_shape == nullptr || set_shared == nullptr || set_value == nullptr || set_size == nullptr ||
        launch == nullptr) {
        return seen(false, "the driver has no cuFuncSetSharedSize() and cuLaunchGrid() any more");
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
        return seen(false, "the driver answers with its error " + std::to_string(answer));
    }
    std::vector<std::int32_t> result(n);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    WARPFOLD_CUDA_CHECK(cudaMemcpy(result.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost));
    return seen(result == values, std::to_string(threads * sizeof(int)) +
                                      " bytes by cuFuncSetSharedSize(), launched by cuLaunchGrid(): " +
                                      (result == values ? "right" : "wrong") + "; deprecated since CUDA 4");
}

constexpr const char* sizing = "380, L1 Sizing";

} // namespace

engine::step_definition preferences() {
    return {.about = {"preferences", "L1 or shared memory, by preference", "ladder/shared/06_preferences.cu",
                      "cudaFuncSetCacheConfig() before a kernel that spills, and one that needs shared memory", sizing},
            .data = spilled_and_copied,
            .run = run_preferences,
            .claims = {
                {"default: 16 KB L1, 48 KB SMEM", sizing, default_of_kepler},
                {"large L1 can help when using lots of LMEM (spilling registers)", sizing, on_a_gpu(large_l1_helps)},
                {"large SMEM can help if occupancy is limited by shared memory", sizing, on_a_gpu(large_shared_helps)},
                {"kernels that require different L1:SMEM sizing cannot run concurrently", sizing,
                 on_a_gpu(kept_apart_by_sizing)},
                {"non-caching loads are better when the kernel uses lots of LMEM (register spilling)",
                 "380, Caching vs Non-caching Loads", on_a_gpu(spilling_without_l1)},
                {"third way: dynamically, via the driver API, cuFuncSetSharedSize()",
                 "759, 3 Ways to Set Aside Shared Memory", third_way}}};
}

} // namespace warpfold::ladder::shared

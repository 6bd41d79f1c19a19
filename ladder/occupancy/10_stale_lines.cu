// SPDX-License-Identifier: MIT
// Lines that an L1 cache keeps while another multiprocessor writes them: handed from one block to another by ld.ca and by ld.cg,
// from one grid to the next, and words that the host changes meanwhile. (380 "PTX Cache Operators".)
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned most_lines = 64; // 8 KiB: an L1 cache has room for all of them
constexpr unsigned line_words = 32;

enum class way { ca, cg };

template <way Way>
__device__ int read(const int* at) {
    int value = 0;
    if constexpr (Way == way::cg) {
        asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    } else {
        asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    }
    return value;
}

__device__ unsigned multiprocessor() {
    unsigned number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

__device__ void raise(unsigned* flag, unsigned to) { atomicExch(flag, to); }
__device__ void await(unsigned* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
}

// A word in each line, all of them 0. Block 1 reads them; block 0 then writes the input there; block 1 reads them again and
// outputs them. Both blocks are resident at once. Fences: around the flags, on both sides, as the memory model requires.
// `where`: the multiprocessors of the blocks.
template <way Way, bool Fences>
__global__ void hand_over(int* out, int* values, unsigned* flags, const int* in, unsigned n, unsigned* where) {
    if (where != nullptr) {
        where[blockIdx.x] = multiprocessor();
    }
    const auto fence = [] {
        if (Fences) {
            __threadfence();
        }
    };
    if (blockIdx.x == 0) {
        await(flags);
        fence();
        for (unsigned k = 0; k < n; ++k) {
            values[k * line_words] = in[k];
        }
        fence();
        raise(flags + 1, 1);
        return;
    }
    int before = 0;
    for (unsigned k = 0; k < n; ++k) {
        before |= read<Way>(values + k * line_words);
    }
    fence();
    raise(flags, before == 0 ? 1 : 2); // only when all have been read
    await(flags + 1);
    fence();
    for (unsigned k = 0; k < n; ++k) {
        out[k] = read<Way>(values + k * line_words);
    }
}

constexpr std::size_t flag_bytes = 2 * sizeof(unsigned);
constexpr std::size_t value_bytes(std::uint64_t n) { return n * line_words * sizeof(int); }

struct place {
    int* out;
    int* values;
    unsigned* flags;
    const int* in;
    unsigned n;
    unsigned* where;
};

template <way Way, bool Fences>
void run_once(cudaStream_t stream, place p) {
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(p.values, 0, value_bytes(p.n), stream));
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(p.flags, 0, flag_bytes, stream));
    void* arguments[] = {&p.out, &p.values, &p.flags, &p.in, &p.n, &p.where};
    WARPFOLD_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&hand_over<Way, Fences>), 2, 1,
                                                    arguments, 0, stream));
}

template <way Way, bool Fences>
void run_hand_over(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    run_once<Way, Fences>(on.stream, {on.output<int>(), on.temporary<int>(), on.temporary<unsigned>(value_bytes(on.n)),
                                      on.input<int>(), static_cast<unsigned>(on.n), nullptr});
    if (on.launches != nullptr) {
        auto& record = on.launches->emplace_back();
        record.kernel = record.symbol = "hand_over";
        record.grid[0] = 2;
    }
}

// Words that the reader found as they were before, of `runs` times as many as there are lines.
constexpr unsigned runs = 16;
struct staleness {
    unsigned words = 0;
    unsigned writer = 0, reader = 0; // multiprocessors
};
template <way Way, bool Fences>
staleness measure_staleness() {
    std::vector<int> in(most_lines);
    std::iota(in.begin(), in.end(), 1);
    const measure::device_memory input(in.size() * sizeof(int));
    const measure::device_memory output(input.bytes());
    const measure::device_memory values(value_bytes(most_lines));
    const measure::device_memory flags(flag_bytes);
    const measure::device_memory where(2 * sizeof(unsigned));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(input.data(), in.data(), input.bytes(), cudaMemcpyHostToDevice));
    const measure::stream on;
    staleness all;
    for (unsigned k = 0; k < runs; ++k) {
        run_once<Way, Fences>(on.handle(), {static_cast<int*>(output.data()), static_cast<int*>(values.data()),
                                            static_cast<unsigned*>(flags.data()), static_cast<const int*>(input.data()),
                                            most_lines, static_cast<unsigned*>(where.data())});
        on.synchronize();
        std::vector<int> got(most_lines);
        unsigned places[2];
        WARPFOLD_CUDA_CHECK(cudaMemcpy(got.data(), output.data(), output.bytes(), cudaMemcpyDeviceToHost));
        WARPFOLD_CUDA_CHECK(cudaMemcpy(places, where.data(), sizeof places, cudaMemcpyDeviceToHost));
        all.words += static_cast<unsigned>(std::count(got.begin(), got.end(), 0));
        all.writer = places[0];
        all.reader = places[1];
    }
    return all;
}

std::string of_all(unsigned words) { return std::to_string(words) + " of " + std::to_string(runs * most_lines); }

// `inner` on a GPU, or where a counter-example gives the figures.
engine::check on_a_gpu(engine::check inner) {
    return engine::guarded(std::move(inner), [](const engine::evidence& e) {
        return std::string(e.report.device.software && !e.figures.has_value() ? "the software GPU has no caches" : "");
    });
}
// What the counter-example gives, or what `measure` finds here.
template <class Figures>
Figures given_or(const engine::evidence& e, Figures (*measure)()) {
    return e.given<Figures>() != nullptr ? *e.given<Figures>() : measure();
}
template <class Figures>
engine::check against(verdict (*inner)(const engine::evidence&), std::string what, Figures figures) {
    return on_a_gpu(engine::check(inner).refuted_by(engine::figures_in_place(std::move(what), figures)));
}

verdict may_be_stale(const engine::evidence& e) {
    const auto cached = given_or<staleness>(e, measure_staleness<way::ca, false>);
    return seen(cached.words != 0, of_all(cached.words) + " words that multiprocessor " +
                                       std::to_string(cached.writer) +
                                       " has written are still the old ones when multiprocessor " +
                                       std::to_string(cached.reader) + " reads them again by ld.ca");
}

verdict coherent_at_l2(const engine::evidence& e) {
    const auto in_l2 = given_or<staleness>(e, measure_staleness<way::cg, true>);
    return seen(in_l2.words == 0, of_all(in_l2.words) + " words read by ld.cg are old ones");
}

verdict fence_empties_l1(const engine::evidence& e) {
    const auto fenced = given_or<staleness>(e, measure_staleness<way::ca, true>);
    return seen(fenced.words == 0,
                of_all(fenced.words) + " words are old ones by ld.ca behind __threadfence() on both sides");
}

// Each block reads all words, so that they are in its multiprocessor's cache, and counts those that differ from `wanted`.
__global__ void read_all(int* differing, const int* values, const int* wanted, unsigned n) {
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x) {
        if (read<way::ca>(values + k * line_words) != (wanted == nullptr ? 0 : wanted[k])) {
            atomicAdd(differing, 1);
        }
    }
}
__global__ void write_all(int* values, const int* in, unsigned n) {
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x) {
        values[k * line_words] = in[k];
    }
}

void run_grids(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto n = static_cast<unsigned>(on.n);
    int* const values = on.temporary<int>();
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(values, 0, value_bytes(on.n), on.stream));
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, 2 * sizeof(int), on.stream));
    engine::launch(on, "read_all", read_all, on.multiprocessors, 32, 0, on.output<int>(), values, nullptr, n);
    engine::launch(on, "write_all", write_all, 1, 32, 0, values, on.input<int>(), n);
    engine::launch(on, "read_all", read_all, on.multiprocessors, 32, 0, on.output<int>() + 1, values, on.input<int>(),
                   n);
}

engine::sample lines_of(std::uint64_t n, std::uint64_t seed) {
    auto in = engine::numbers(n, seed);
    for (auto& value : in) {
        value += 1001; // none is 0
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(in)};
}
engine::sample none_differs(std::uint64_t n, std::uint64_t seed) {
    auto s = lines_of(n, seed);
    s.right = engine::bytes_of(std::vector<std::int32_t>{0, 0});
    return s;
}

verdict invalidated_between_grids(const engine::evidence& e) {
    const auto differing = engine::view<std::int32_t>(e.result);
    return seen(differing[1] == 0,
                std::to_string(differing[1]) + " of " + std::to_string(e.n() * e.step.launches.at(0).grid[0]) +
                    " words are old ones for the third grid, whose blocks read by ld.ca what the first grid has "
                    "read and the second has written");
}

const auto old_words = engine::planted("three old words", [](engine::altered_evidence& e) {
    e.report.device.software = false;
    e.result.at(sizeof(std::int32_t)) = std::byte{3};
});

// Reads two words of the host's memory in turn until one has changed, or the time is over; leaves how often it has read, 0
// where they never changed. With one word ptxas would take the load out of the loop: an operator says nothing of memory's order.
template <cache_operator Operator>
__global__ void watch_the_host(unsigned* out, const unsigned* words, std::int64_t cycles) {
    const std::int64_t begin = clock64();
    unsigned reads = 0;
    unsigned value = 0;
    do {
        const unsigned* const at = words + reads % 2;
        if constexpr (Operator == cache_operator::cv) {
            asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        } else {
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        }
        ++reads;
    } while (value == 0 && clock64() - begin < cycles);
    *out = value == 0 ? 0 : reads;
}

template <cache_operator Operator>
unsigned reads_until_it_changed() {
    constexpr std::size_t bytes = 2 * sizeof(unsigned);
    void* host = nullptr;
    void* mapped = nullptr;
    WARPFOLD_CUDA_CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
    const std::unique_ptr<void, void (*)(void*)> owner(host, [](void* p) { (void)cudaFreeHost(p); });
    WARPFOLD_CUDA_CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    auto* const words = static_cast<volatile unsigned*>(host);
    words[0] = 0;
    words[1] = 0;
    const measure::device_memory out(sizeof(unsigned));
    const measure::stream on;
    watch_the_host<Operator><<<1, 1, 0, on.handle()>>>(static_cast<unsigned*>(out.data()),
                                                       static_cast<const unsigned*>(mapped), 60'000'000);
    WARPFOLD_CUDA_CHECK(cudaGetLastError());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    words[0] = 1;
    words[1] = 1;
    on.synchronize();
    unsigned reads = 0;
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&reads, out.data(), sizeof reads, cudaMemcpyDeviceToHost));
    return reads;
}

struct reads_of_a_change {
    unsigned cv = 0, ca = 0; // until it is seen; 0: never
};
reads_of_a_change measure_changes() {
    return {reads_until_it_changed<cache_operator::cv>(), reads_until_it_changed<cache_operator::ca>()};
}
verdict fetches_again(const engine::evidence& e) {
    const auto reads = given_or<reads_of_a_change>(e, measure_changes);
    const auto text = [](unsigned count) {
        return count == 0 ? std::string("is not seen in 60 million cycles")
                          : "is seen by read number " + std::to_string(count);
    };
    return seen(reads.cv != 0,
                "what the host writes 5 ms later " + text(reads.cv) + " by ld.cv; by ld.ca it " + text(reads.ca));
}

constexpr const char* source = "ladder/occupancy/10_stale_lines.cu";
constexpr const char* operators = "380, PTX Cache Operators";

engine::step_definition step(const char* id, const char* title, const char* idea, void (*run)(const engine::stage&)) {
    return {.about = {id, title, source, idea, operators},
            .data = lines_of,
            .run = run,
            .size = engine::at_most(most_lines),
            .scratch_bytes = [](std::uint64_t n) { return value_bytes(n) + flag_bytes; }};
}

} // namespace

engine::step_definition stale_lines() {
    auto s =
        step("stale lines", "lines of another multiprocessor, by ld.ca",
             "a block reads words, another writes them, the first reads them again", run_hand_over<way::ca, false>);
    s.expected = outcome::by_luck;
    s.lesson = "an L1 cache may keep lines that another multiprocessor has written since";
    s.finds = "race in global memory";
    s.claims = {{"multiple L1 caches are not coherent: the second thread may get stale L1 cache data by ld.ca",
                 operators, against(may_be_stale, "no old word", staleness{0, 0, 1})}};
    return s;
}

engine::step_definition fresh_lines() {
    auto s = step("fresh lines", "the same by ld.cg", "with fences around the flags, and words read from the L2 cache",
                  run_hand_over<way::cg, true>);
    s.about.follows = "stale lines";
    s.claims = {{"global data is coherent at the L2 level", operators,
                 against(coherent_at_l2, "three old words", staleness{3, 0, 1})},
                {"a fence of the reader has the same effect for ld.ca", "beyond the lectures",
                 against(fence_empties_l1, "three old words", staleness{3, 0, 1})},
                {".cv: consider cached system memory lines stale, fetch again", operators,
                 against(fetches_again, "a change that is never seen", reads_of_a_change{0, 0})}};
    return s;
}

engine::step_definition dependent_grids() {
    auto s = step("next grid", "the same from grid to grid", "a grid reads, the next one writes, a third reads again",
                  run_grids);
    s.data = none_differs;
    s.claims = {
        {"the driver must invalidate global L1 lines between dependent grids: stores of the first are correctly "
         "fetched by the second's ld.ca",
         operators, on_a_gpu(engine::launched(invalidated_between_grids).refuted_by(old_words))}};
    return s;
}

} // namespace warpfold::ladder::occupancy

// SPDX-License-Identifier: MIT
// How a warp's fetches through a texture are split: four threads a query, 32 bytes a query. (380 "Read-Only Cache", "Read-Only
// Cache Operation".)
// On a GPU the clock says how many threads a cycle are served, and what memory would have to move.
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"
#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::ladder::memory {

namespace {

// Which word thread i of n fetches of 3 n.
enum class pattern { consecutive, structures, scattered };
__host__ __device__ std::uint64_t word_of(pattern p, std::uint64_t i, std::uint64_t n) {
    if (p == pattern::consecutive) {
        return i;
    }
    return p == pattern::structures ? 3 * i : (i * 2654435761u + 12345) % (3 * n);
}
constexpr pattern all_patterns[] = {pattern::consecutive, pattern::structures, pattern::scattered};

__global__ void fetch(float* out, cudaTextureObject_t words, pattern p, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i] = tex1Dfetch<float>(words, static_cast<int>(word_of(p, i, n)));
    }
}
__global__ void load(float* out, const float* words, pattern p, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        out[i] = words[word_of(p, i, n)];
    }
}

engine::sample fetched(std::uint64_t n, std::uint64_t seed) {
    const auto words = engine::numbers<float>(3 * n, seed);
    std::vector<float> right;
    for (const pattern p : all_patterns) {
        for (std::uint64_t i = 0; i < n; ++i) {
            right.push_back(words[word_of(p, i, n)]);
        }
    }
    return {n, {engine::bytes_of(words)}, engine::bytes_of(right), engine::value_type::float32};
}

class texture_of_words {
public:
    texture_of_words(const void* words, std::size_t bytes) {
        cudaResourceDesc what{};
        what.resType = cudaResourceTypeLinear;
        what.res.linear.devPtr = const_cast<void*>(words);
        what.res.linear.desc = cudaCreateChannelDesc<float>();
        what.res.linear.sizeInBytes = bytes;
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType;
        WARPFOLD_CUDA_CHECK(cudaCreateTextureObject(&handle_, &what, &how, nullptr));
    }
    texture_of_words(const texture_of_words&) = delete;
    texture_of_words& operator=(const texture_of_words&) = delete;
    ~texture_of_words() { (void)cudaDestroyTextureObject(handle_); }

    [[nodiscard]] cudaTextureObject_t handle() const { return handle_; }

private:
    cudaTextureObject_t handle_ = 0;
};

void run_queries(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const std::size_t bytes = 3 * on.n * sizeof(float);
    // The beginning of an allocation is aligned for textures.
    WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(on.scratch, on.in[0], bytes, cudaMemcpyDeviceToDevice, on.stream));
    const texture_of_words words(on.scratch, bytes);
    float* out = on.output<float>();
    for (const pattern p : all_patterns) {
        engine::launch(on, "fetch", fetch, blocks_for(on.n), threads, 0, out, words.handle(), p, on.n);
        out += on.n;
    }
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream)); // the texture goes
}

// Queries of 32 bytes by four threads each that a warp makes on average, by the lecture's rule.
double queries_of(pattern p, std::uint64_t n) {
    std::uint64_t all = 0;
    const std::uint64_t looked_at = std::min<std::uint64_t>(n, 1u << 16);
    for (std::uint64_t four = 0; four < looked_at; four += 4) {
        std::set<std::uint64_t> segments;
        for (std::uint64_t i = four; i < std::min(four + 4, n); ++i) {
            segments.insert(word_of(p, i, n) * sizeof(float) / 32);
        }
        all += segments.size();
    }
    return static_cast<double>(all) / static_cast<double>(warps_of(looked_at));
}

// One block, whose warps fetch words of the same KiB again and again: cycles of a multiprocessor for each fetch of a warp.
template <bool Texture>
__global__ void fetch_again(float* out, cudaTextureObject_t words, const float* plain, unsigned rounds,
                            std::int64_t* cycles) {
    float sum = 0;
    unsigned at = threadIdx.x % 256;
    __syncthreads();
    const std::int64_t begin = clock64();
    for (unsigned k = 0; k < rounds; ++k) {
#pragma unroll
        for (unsigned u = 0; u < 8; ++u) {
            const unsigned word = at ^ (32 * u);
            float fetched_word = 0;
            if constexpr (Texture) {
                fetched_word = tex1Dfetch<float>(words, static_cast<int>(word));
            } else {
                asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(fetched_word) : "l"(plain + word));
            }
            sum += fetched_word;
        }
        at = (at + 32) % 256;
    }
    __syncthreads();
    const std::int64_t end = clock64();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        *cycles = end - begin;
    }
}

template <bool Texture>
double cycles_a_fetch() {
    constexpr unsigned rounds = 128;
    const measure::device_memory words(4096);
    const measure::device_memory out(1024 * sizeof(float));
    const measure::device_memory cycles(sizeof(std::int64_t));
    WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 0, words.bytes()));
    const texture_of_words texture(words.data(), words.bytes());
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (int sample = 0; sample < 3; ++sample) {
        fetch_again<Texture><<<1, 1024>>>(static_cast<float*>(out.data()), texture.handle(),
                                          static_cast<const float*>(words.data()), rounds,
                                          static_cast<std::int64_t*>(cycles.data()));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        std::int64_t taken = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
        best = std::min(best, taken);
    }
    return static_cast<double>(best) / (32.0 * 8 * rounds);
}

// Of one warp's fetch.
struct cycles_by_path {
    double texture = 0, plain = 0;
};
cycles_by_path measure_cycles(const engine::evidence& /*e*/) {
    return {cycles_a_fetch<true>(), cycles_a_fetch<false>()};
}

verdict eight_at_least(const engine::evidence& e, const cycles_by_path& t) {
    const auto by_address = [&](pattern p) { return number(queries_of(p, e.n()), 1); };
    return seen(t.texture > 7, number(t.texture, 1) + " cycles a fetch of a warp, " + number(32 / t.texture, 1) +
                                   " threads a cycle; by plain loads " + number(t.plain, 1) +
                                   "; queries of consecutive, 12-byte and scattered words by the lecture's rule: " +
                                   by_address(pattern::consecutive) + ", " + by_address(pattern::structures) + ", " +
                                   by_address(pattern::scattered));
}

// Times of words fetched from memory that no cache holds, through the texture and by plain loads.
struct times_by_path {
    timing consecutive, scattered, scattered_plain;
    std::uint64_t words = 0;
    double gb_per_s = 0; // the copy ceiling of the run
};
times_by_path measure_times(const engine::evidence& e) {
    constexpr std::uint64_t n = std::uint64_t{1} << 26;
    const measure::device_memory words(n * sizeof(float));
    const measure::device_memory out(n * sizeof(float));
    WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 0, words.bytes()));
    const texture_of_words texture(words.data(), words.bytes());
    const measure::stream on;
    measure::timer clock(on, e.report.device.l2_bytes);
    const auto timed = [&](auto launch) {
        const auto s = clock.cold(
            [&] {
                launch();
                WARPFOLD_CUDA_CHECK(cudaGetLastError());
            },
            {.samples = 15, .least = 5, .seconds = 1});
        return timing{s.median, s.low, s.high, static_cast<unsigned>(s.samples)};
    };
    const auto by_texture = [&](pattern p, std::uint64_t count) {
        return timed([&, p, count] {
            fetch<<<blocks_for(count), threads, 0, on.handle()>>>(static_cast<float*>(out.data()), texture.handle(), p,
                                                                  count);
        });
    };
    constexpr std::uint64_t third = n / 3; // a pattern of `count` words reaches over three times as many
    return {by_texture(pattern::consecutive, n), by_texture(pattern::scattered, third), timed([&] {
                load<<<blocks_for(third), threads, 0, on.handle()>>>(static_cast<float*>(out.data()),
                                                                     static_cast<const float*>(words.data()),
                                                                     pattern::scattered, third);
            }),
            n, e.report.device.copy_gb_per_s.value_or(0)};
}

// Two queries need each segment of consecutive words: if both missed, twice the bytes would have to come.
verdict at_most_one_miss(const engine::evidence& /*e*/, const times_by_path& t) {
    const double twice = static_cast<double>(t.words) * (4 + 4 + 4) / t.consecutive.median * 1e-9;
    return seen(twice > t.gb_per_s, "two misses of each segment would be " + number(twice, 0) +
                                        " GB/s; this memory moves " + number(t.gb_per_s, 0));
}

verdict better_for_scattered(const engine::evidence& /*e*/, const times_by_path& t) {
    return engine::shorter(t.scattered, t.scattered_plain,
                           "scattered words: " + number(t.scattered.median * 1e6, 1) + " us through the texture, " +
                               number(t.scattered_plain.median * 1e6, 1) + " us by plain loads");
}

const times_by_path slow{.consecutive = {.median = 400e-6, .low = 399e-6, .high = 401e-6, .samples = 15},
                         .scattered = {.median = 100e-6, .low = 99e-6, .high = 101e-6, .samples = 15},
                         .scattered_plain = {.median = 100e-6, .low = 99e-6, .high = 101e-6, .samples = 15},
                         .words = 1u << 26,
                         .gb_per_s = 4257};

constexpr const char* operation = "380, Read-Only Cache Operation";

} // namespace

engine::step_definition texture_queries() {
    return {.about = {"queries", "a texture's queries", "ladder/memory/08_queries.cu",
                      "consecutive, 12 bytes apart and scattered words, fetched through a texture", operation},
            .data = fetched,
            .run = run_queries,
            .size = engine::at_most(1u << 22),
            .scratch_bytes = [](std::uint64_t n) { return 3 * n * sizeof(float); },
            .claims = {{"warp addresses are converted to queries 4 threads at a time: a minimum of 8 queries per warp",
                        operation,
                        engine::measured(measure_cycles, eight_at_least)
                            .refuted_by(engine::figures_in_place("an H200's cycles", cycles_by_path{4.0, 1.4}))},
                       {"if data within a 32-B segment is needed by multiple threads in a warp, segment misses at "
                        "most once",
                        operation,
                        engine::measured(measure_times, at_most_one_miss)
                            .refuted_by(engine::figures_in_place("a time that two misses would take", slow))},
                       {"generally better for scattered reads than L1", "380, Read-Only Cache",
                        engine::measured(measure_times, better_for_scattered)
                            .refuted_by(engine::figures_in_place("equal times", slow))}}};
}

} // namespace warpfold::ladder::memory

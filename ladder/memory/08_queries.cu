// SPDX-License-Identifier: MIT
// How a warp's fetches through a texture are split: four threads a query, 32 bytes a query. (380 "Read-Only Cache", "Read-Only
// Cache Operation".)
// Queries are counted on the host, from the addresses that the kernel fetches; on a GPU the clock says how many threads a
// cycle are served.
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"
#include "measure/device.hpp"

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

// Of a warp on average: queries of 32 bytes by four threads each, and segments of 32 bytes, each asked for once.
struct split {
    double queries = 0, segments = 0;
};
split split_of(pattern p, std::uint64_t n) {
    split all;
    const std::uint64_t looked_at = std::min<std::uint64_t>(n, 1u << 16);
    for (std::uint64_t first = 0; first < looked_at; first += 32) {
        std::set<std::uint64_t> of_the_warp;
        for (std::uint64_t four = first; four < first + 32; four += 4) {
            std::set<std::uint64_t> of_the_query;
            for (std::uint64_t i = four; i < std::min(four + 4, n); ++i) {
                of_the_query.insert(word_of(p, i, n) * sizeof(float) / 32);
            }
            all.queries += static_cast<double>(of_the_query.size());
            of_the_warp.merge(of_the_query);
        }
        all.segments += static_cast<double>(of_the_warp.size());
    }
    const auto warps = static_cast<double>(warps_of(looked_at));
    return {all.queries / warps, all.segments / warps};
}

constexpr const char* counted_here = " (addresses counted on the host)";

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

verdict eight_at_least(const engine::evidence& e) {
    if (e.n() < 1024 || e.n() % 32 != 0) {
        return unseen("needs full warps: a multiple of 32 elements, 1024 at least");
    }
    const split one = split_of(pattern::consecutive, e.n());
    const split three = split_of(pattern::structures, e.n());
    const split any = split_of(pattern::scattered, e.n());
    std::string figure =
        "queries a warp for consecutive words, 12-byte structures, scattered words: " + number(one.queries, 1) + ", " +
        number(three.queries, 1) + ", " + number(any.queries, 1) + counted_here;
    const bool counted = std::min({one.queries, three.queries, any.queries}) >= 8;
    if (!e.step.cold) {
        return seen(counted, std::move(figure));
    }
    const double texture = cycles_a_fetch<true>();
    return seen(counted && texture > 7, number(texture, 1) + " cycles a fetch of a warp, " + number(32 / texture, 1) +
                                            " threads a cycle; by plain loads " + number(cycles_a_fetch<false>(), 1) +
                                            "; " + figure);
}

verdict at_most_one_miss(const engine::evidence& e) {
    if (e.n() < 1024 || e.n() % 32 != 0) {
        return unseen("needs full warps: a multiple of 32 elements, 1024 at least");
    }
    const split one = split_of(pattern::consecutive, e.n());
    const split three = split_of(pattern::structures, e.n());
    return seen(one.segments == 4 && one.queries == 8 && three.segments < three.queries,
                "segments a warp needs: " + number(one.segments, 1) + " by " + number(one.queries, 1) +
                    " queries where words are consecutive, " + number(three.segments, 1) + " by " +
                    number(three.queries, 1) + " where they are 12 bytes apart: the other queries hit" + counted_here);
}

verdict better_for_scattered(const engine::evidence& e) {
    if (!e.step.cold) {
        return unseen("needs times, so a GPU");
    }
    const measure::device_memory words(3 * e.n() * sizeof(float));
    const measure::device_memory out(e.n() * sizeof(float));
    WARPFOLD_CUDA_CHECK(cudaMemset(words.data(), 0, words.bytes()));
    const texture_of_words texture(words.data(), words.bytes());
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    double seconds[2] = {1, 1};
    for (int sample = 0; sample < 5; ++sample) {
        for (const bool by_texture : {false, true}) {
            begin.record(on.handle());
            if (by_texture) {
                fetch<<<blocks_for(e.n()), threads, 0, on.handle()>>>(static_cast<float*>(out.data()), texture.handle(),
                                                                      pattern::scattered, e.n());
            } else {
                load<<<blocks_for(e.n()), threads, 0, on.handle()>>>(static_cast<float*>(out.data()),
                                                                     static_cast<const float*>(words.data()),
                                                                     pattern::scattered, e.n());
            }
            end.record(on.handle());
            end.synchronize();
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            seconds[by_texture ? 1 : 0] = std::min(seconds[by_texture ? 1 : 0], end.seconds_since(begin));
        }
    }
    return seen(seconds[1] < 0.97 * seconds[0], "scattered words: " + number(seconds[1] * 1e6, 1) +
                                                    " us through the texture, " + number(seconds[0] * 1e6, 1) +
                                                    " us by plain loads");
}

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
                        operation, eight_at_least},
                       {"if data within a 32-B segment is needed by multiple threads in a warp, the segment misses at "
                        "most once",
                        operation, at_most_one_miss},
                       {"generally better for scattered reads than L1", "380, Read-Only Cache", better_for_scattered}}};
}

} // namespace warpfold::ladder::memory

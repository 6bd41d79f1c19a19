// SPDX-License-Identifier: MIT
// Access patterns of a warp's loads: aligned, permuted, misaligned, one word, scattered, neighbours, strided. (380 "Access
// Patterns vs. Memory Throughput", "Caching Load", "Non-caching Load", "Global Memory Access Patterns".)
// The software GPU counts segments of 32 bytes, as memory moves them on every GPU since Maxwell. What the lecture says of
// lines of 128 bytes (caching loads) is counted here on the host, from the same addresses.
#include <algorithm>
#include <set>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

// Which element thread i of n reads.
struct in_order {
    static constexpr std::uint64_t more = 0; // elements behind n that are read too
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t /*n*/) { return i; }
};
struct permutation { // within each 32
    static constexpr std::uint64_t more = 0;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t n) {
        const std::uint64_t other = i / 32 * 32 + (i * 11 + 5) % 32;
        return other < n ? other : i;
    }
};
template <unsigned Offset>
struct shifted {
    static constexpr std::uint64_t more = Offset;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t /*n*/) { return i + Offset; }
};
struct one_word { // for each warp
    static constexpr std::uint64_t more = 0;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t /*n*/) { return i / 32 * 32; }
};
struct anywhere {
    static constexpr std::uint64_t more = 0;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t n) {
        std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        return (z ^ (z >> 27)) % n;
    }
};

template <class Pattern>
__global__ void gather(int* output, const int* input, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        output[i] = input[Pattern::of(i, n)];
    }
}

template <class Pattern>
engine::sample gathered(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n + Pattern::more, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = in[Pattern::of(i, n)];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

template <class Pattern>
void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "gather", gather<Pattern>, blocks_for(on.n), threads, 0, on.output<int>(), on.input<int>(),
                       on.n);
    }
}

std::uint64_t each_once(std::uint64_t n) { return 2 * n * sizeof(int); }

// Pieces of so many bytes that warps touch, on average, by the pattern's own addresses; of the first 2048 warps.
template <class Pattern>
double pieces(std::uint64_t n, std::uint64_t bytes) {
    std::uint64_t all = 0;
    const std::uint64_t looked_at = std::min<std::uint64_t>(n, 1u << 16);
    for (std::uint64_t first = 0; first < looked_at; first += 32) {
        std::set<std::uint64_t> touched;
        for (std::uint64_t i = first; i < first + 32 && i < n; ++i) {
            touched.insert(Pattern::of(i, n) * sizeof(int) / bytes);
        }
        all += touched.size();
    }
    return static_cast<double>(all) / static_cast<double>(warps_of(looked_at));
}

std::string percent(double share) { return number(100 * share, share < 0.1 ? 3 : 1) + " %"; }

template <class Pattern>
engine::check segments(double expected, double needed_bytes) {
    return full_warps([=](const engine::evidence& e) {
        const double here = sectors_a_load(e.step.launches[0].total);
        return seen(here == expected && pieces<Pattern>(e.n(), 32) == here,
                    number(here, 2) + " segments of 32 bytes a load: of " + number(32 * here, 0) + " bytes moved, " +
                        number(needed_bytes, 0) + " are needed: " + percent(needed_bytes / (32 * here)));
    });
}

// The lecture's caching load: a transaction is a line of 128 bytes.
template <class Pattern>
engine::check lines(double expected, double needed_bytes) {
    return [=](const engine::evidence& e) {
        if (e.n() < 1024 || e.n() % 32 != 0) {
            return unseen("needs full warps: a multiple of 32 elements, 1024 at least");
        }
        const double here = pieces<Pattern>(e.n(), 128);
        const bool nearly = here > 0.99 * expected && here < 1.01 * expected; // the last warp may end at a line's end
        return seen(nearly, number(here, 2) + " lines of 128 bytes: " + percent(needed_bytes / (128 * here)) +
                                " (addresses counted on the host: today's GPUs move 32 bytes)");
    };
}

// Warps misaligned by 1 to 8 elements, one behind the other.
template <unsigned... Offset>
void run_shifts(const engine::stage& on, std::integer_sequence<unsigned, Offset...>) {
    if (on.n != 0) {
        (engine::launch(on, "gather", gather<shifted<Offset + 1>>, blocks_for(on.n), threads, 0,
                        on.output<int>() + Offset * on.n, on.input<int>(), on.n),
         ...);
    }
}
constexpr unsigned shifts = 8;
void run_misaligned(const engine::stage& on) { run_shifts(on, std::make_integer_sequence<unsigned, shifts>{}); }

engine::sample shifted_copies(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n + shifts, seed);
    std::vector<std::int32_t> right;
    for (unsigned offset = 1; offset <= shifts; ++offset) {
        right.insert(right.end(), in.begin() + offset, in.begin() + offset + static_cast<std::ptrdiff_t>(n));
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

std::vector<double> segments_of_shifts(const engine::evidence& e) {
    std::vector<double> all;
    for (const auto& launch : e.step.launches) {
        all.push_back(sectors_a_load(launch.total));
    }
    return all;
}

verdict at_most_five(const engine::evidence& e) {
    const auto all = segments_of_shifts(e);
    bool holds = true;
    for (unsigned k = 0; k + 1 < shifts; ++k) {
        holds = holds && all[k] == 5;
    }
    return seen(holds, "segments a load, misaligned by 1 to 8 elements: " + list(all, 0) +
                           "; of 160 bytes 128 are needed: 80 %");
}

verdict some_four(const engine::evidence& e) {
    const double here = segments_of_shifts(e).back();
    return seen(here == 4, number(here, 0) + " segments where the offset is 8 elements, 32 bytes: 100 %");
}

verdict scattered_share(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    const double n = sectors_a_load(c);
    const double used = static_cast<double>(c.global_load_bytes) / (32.0 * static_cast<double>(c.global_load_sectors));
    return seen(n > 4 && std::abs(used - 128 / (n * 32)) < 1e-9, "N = " + number(n, 2) + " segments: " + percent(used));
}

verdict four_times_lines(const engine::evidence& e) {
    const double segments_of = sectors_a_load(e.step.launches[0].total) * 32;
    const double lines_of = pieces<anywhere>(e.n(), 128) * 128;
    return seen(lines_of / segments_of > 3.5,
                number(lines_of / segments_of, 2) + "x the bytes with lines of 128 bytes");
}

verdict scattered_lines(const engine::evidence& e) {
    const double n = pieces<anywhere>(e.n(), 128);
    return seen(n > 4, "N = " + number(n, 2) + " lines of 128 bytes, so " + number(n - 1, 2) +
                           " replays: " + percent(32 * 4 / (n * 128)) +
                           " (addresses counted on the host: today's GPUs move 32 bytes and replay nothing)");
}

verdict slower(const engine::evidence& e) {
    const step_result* const other = e.other("aligned");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU");
    }
    const double times = e.step.cold->median / other->cold->median;
    return seen(times > 1.1, number(times, 2) + "x the time of step aligned");
}

// x[i] = a[i + 1] - a[i], and x[i] = a[64 i] - a[i], with as many elements as a has.
__global__ void difference(int* x, const int* a, std::uint64_t n, unsigned times, unsigned plus) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        x[i] = a[times * i + plus] - a[i];
    }
}

constexpr unsigned stride = 64;

template <unsigned Times, unsigned Plus>
engine::sample differences(std::uint64_t n, std::uint64_t seed) {
    const auto a = engine::numbers(Times * n + Plus, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = a[Times * i + Plus] - a[i];
    }
    return {n, {engine::bytes_of(a)}, engine::bytes_of(right)};
}

template <unsigned Times, unsigned Plus>
void run_difference(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "difference", difference, blocks_for(on.n), threads, 0, on.output<int>(), on.input<int>(),
                       on.n, Times, Plus);
    }
}

verdict nearly_as_aligned(const engine::evidence& e) {
    const double here = sectors_a_load(e.step.launches[0].total);
    return seen(here == 4.5, number(here, 2) + " segments a load: 5 of the one, 4 of the other, most of them the same");
}

verdict a_segment_each(const engine::evidence& e) {
    const double here = sectors_a_load(e.step.launches[0].total);
    return seen(here == 18, number(here, 2) + " segments a load: 32 of the strided one, 4 of the other");
}

constexpr const char* patterns = "380, Access Patterns vs. Memory Throughput";
constexpr const char* caching = "380, Caching Load";

} // namespace

engine::step_definition aligned() {
    return {.about = {"aligned", "aligned, consecutive", "ladder/memory/01_patterns.cu",
                      "a warp reads 32 words that follow each other, from a multiple of 128 bytes", patterns},
            .data = gathered<in_order>,
            .run = run<in_order>,
            .least_bytes = each_once,
            .claims = {{"4 segments, bus utilization 100 %", patterns, segments<in_order>(4, 128)},
                       {"1 cache-line, no replays, bus utilization 100 %", caching, lines<in_order>(1, 128)}}};
}

engine::step_definition permuted() {
    return {.about = {"permuted", "aligned, permuted", "ladder/memory/01_patterns.cu",
                      "the same words, each lane another", patterns},
            .data = gathered<permutation>,
            .run = run<permutation>,
            .least_bytes = each_once,
            .claims = {{"4 segments, bus utilization 100 %", patterns, segments<permutation>(4, 128)},
                       {"1 cache-line, no replays, bus utilization 100 %", caching, lines<permutation>(1, 128)}}};
}

engine::step_definition misaligned() {
    return {.about = {"misaligned", "misaligned, consecutive", "ladder/memory/01_patterns.cu",
                      "consecutive words that begin 1 to 8 elements behind a multiple of 128 bytes", patterns},
            .data = shifted_copies,
            .run = run_misaligned,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return shifts * each_once(n); },
            .claims = {{"at most 5 segments, bus utilization at least 80 %", patterns, full_warps(at_most_five)},
                       {"some misaligned patterns will fall within 4 segments: 100 %", patterns, full_warps(some_four)},
                       {"2 cache-lines, 1 replay, bus utilization 50 %", caching, lines<shifted<1>>(2, 128)}}};
}

engine::step_definition same_word() {
    return {.about = {"same word", "all lanes the same word", "ladder/memory/01_patterns.cu", "a broadcast", patterns},
            .data = gathered<one_word>,
            .run = run<one_word>,
            .least_bytes = [](std::uint64_t n) { return n * sizeof(int) + warps_of(n) * 32; },
            .claims = {{"a single segment, bus utilization 12.5 %", patterns, segments<one_word>(1, 4)},
                       {"a single cache-line, bus utilization 3.125 %", caching, lines<one_word>(1, 4)}}};
}

engine::step_definition scattered() {
    return {.about = {"scattered", "scattered, a[rand(i)]", "ladder/memory/01_patterns.cu", "every lane anywhere",
                      patterns},
            .data = gathered<anywhere>,
            .run = run<anywhere>,
            .least_bytes = each_once,
            .claims = {{"N segments, bus utilization 128 / (N x 32)", patterns, full_warps(scattered_share)},
                       {"N cache-lines, (N-1) replays, bus utilization 32 x 4B / (N x 128B)", caching, scattered_lines},
                       {"4x higher than caching loads", "380, Non-caching Load", full_warps(four_times_lines)},
                       {"random array access: slower", "380, Global Memory Access Patterns", slower}}};
}

engine::step_definition neighbours() {
    return {
        .about = {"neighbours", "x[i] = a[i+1] - a[i]", "ladder/memory/01_patterns.cu",
                  "one load aligned, the other a word off", "380, Global Memory Access Patterns"},
        .data = differences<1, 1>,
        .run = run_difference<1, 1>,
        .least_bytes = each_once,
        .claims = {{"~OK: x[i] = a[i+1] - a[i]", "380, Global Memory Access Patterns", full_warps(nearly_as_aligned)}}};
}

engine::step_definition strided() {
    return {.about = {"strided", "x[i] = a[64*i] - a[i]", "ladder/memory/01_patterns.cu", "every lane another segment",
                      "380, Global Memory Access Patterns"},
            .data = differences<stride, 0>,
            .run = run_difference<stride, 0>,
            .size = engine::at_most(1u << 20),
            .least_bytes = [](std::uint64_t n) { return 3 * n * sizeof(int); },
            .claims = {
                {"slower: x[i] = a[64*i] - a[i]", "380, Global Memory Access Patterns", full_warps(a_segment_each)}}};
}

} // namespace warpfold::ladder::memory

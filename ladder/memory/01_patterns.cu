// SPDX-License-Identifier: MIT
// Access patterns of a warp's loads: aligned, permuted, misaligned, one word, scattered, neighbours, strided. (380 "Access
// Patterns vs. Memory Throughput", "Caching Load", "Non-caching Load", "Global Memory Access Patterns".)
// The software GPU counts segments of 32 bytes, as memory moves them on every GPU since Maxwell. What the lecture says of
// caching loads, which move lines of 128 bytes, is compared with these.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/elements.cuh"
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
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t /*n*/) { return i + more; }
};
struct one_word { // for each warp
    static constexpr std::uint64_t more = 0;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t /*n*/) { return i / 32 * 32; }
};
struct anywhere {
    static constexpr std::uint64_t more = 0;
    __host__ __device__ static std::uint64_t of(std::uint64_t i, std::uint64_t n) { return random_place(i, n); }
};

template <class Pattern>
__global__ void gather(int* output, const int* input, std::uint64_t n) {
    const std::uint64_t i = index();
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
        const double here = engine::sectors_a_load(e.step.launches[0].total);
        return seen(here == expected && pieces<Pattern>(e.n(), 32) == here,
                    number(here, 2) + " segments of 32 bytes a load: of " + number(32 * here, 0) + " bytes moved, " +
                        number(needed_bytes, 0) + " are needed: " + percent(needed_bytes / (32 * here)));
    });
}

// The lecture's caching load moves whole lines of 128 bytes: so many bytes for each load of a warp, by what it needs.
template <class Pattern>
engine::check moves_lines(double needed_bytes) {
    return full_warps([=](const engine::evidence& e) {
        const double lines = pieces<Pattern>(e.n(), 128);
        const double moved = 32 * engine::sectors_a_load(e.step.launches[0].total);
        const std::string figure = number(moved, 0) + " bytes moved a load: " + percent(needed_bytes / moved) + "; " +
                                   number(lines, 2) + " lines of 128 bytes would be " +
                                   percent(needed_bytes / (128 * lines));
        // The last warp may end at a line's end.
        return std::abs(moved - 128 * lines) < 1.28 * lines
                   ? seen(true, figure)
                   : holds_only_for("GPUs whose transactions are lines of 128 bytes", figure);
    });
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

verdict at_most_five(const engine::evidence& e) {
    const auto all = loads_by_launch(e);
    const double most = *std::max_element(all.begin(), all.end());
    return seen(most <= 5, "segments a load, misaligned by 1 to 8 elements: " + list(all, 0) + "; of " +
                               number(32 * most, 0) + " bytes 128 are needed: " + percent(4 / most));
}

verdict some_four(const engine::evidence& e) {
    const auto all = loads_by_launch(e);
    return seen(std::count(all.begin(), all.end(), 4.0) != 0,
                number(all.back(), 0) + " segments where the offset is 8 elements, 32 bytes");
}

verdict scattered_share(const engine::evidence& e) {
    const double moved = 32 * engine::sectors_a_load(e.step.launches[0].total);
    const double n = pieces<anywhere>(e.n(), 32);
    return seen(std::abs(moved - 32 * n) < 0.01 * moved, "N = " + number(n, 2) + " segments by the addresses; " +
                                                             number(moved, 0) +
                                                             " bytes moved: " + percent(128 / moved));
}

// x[i] = a[i + 1] - a[i], and x[i] = a[64 i] - a[i], with as many elements as a has.
__global__ void difference(int* x, const int* a, std::uint64_t n, unsigned times, unsigned plus) {
    const std::uint64_t i = index();
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

// Of bytes that move.
verdict nearly_all_used(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(moved_for_each(c) < 1.25,
                number(engine::sectors_a_load(c), 2) +
                    " segments a load, 5 of the one, 4 of the other, most of them the same: " +
                    percent(1 / moved_for_each(c)) + " of the bytes moved are used");
}

verdict more_bytes(const engine::evidence& e, const step_result& other) {
    const double here = moved_for_each(e.step.launches[0].total);
    const double there = moved_for_each(other.launches[0].total);
    return seen(here > there,
                number(here, 2) + " bytes moved for each that is loaded, " + number(there, 2) + " in step " + other.id);
}

constexpr const char* patterns = "380, Access Patterns vs. Memory Throughput";
constexpr const char* caching = "380, Caching Load";
constexpr const char* global_patterns = "380, Global Memory Access Patterns";
const auto misaligned_instead = engine::step_in_place("misaligned");
const auto scattered_instead = engine::step_in_place("scattered");

} // namespace

engine::step_definition aligned() {
    return {.about = {"aligned", "aligned, consecutive", "ladder/memory/01_patterns.cu",
                      "a warp reads 32 words that follow each other, from a multiple of 128 bytes", patterns},
            .data = gathered<in_order>,
            .run = run<in_order>,
            .least_bytes = engine::read_and_written,
            .claims = {{"aligned, consecutive: addresses fall within 4 segments, bus utilization 100 %", patterns,
                        segments<in_order>(4, 128).refuted_by(misaligned_instead)},
                       {"aligned, consecutive: 1 cache-line, 128 bytes move across the bus on a miss, 100 %", caching,
                        moves_lines<in_order>(128).refuted_by(misaligned_instead)}}};
}

engine::step_definition permuted() {
    return {.about = {"permuted", "aligned, permuted", "ladder/memory/01_patterns.cu",
                      "the same words, each lane another", patterns},
            .data = gathered<permutation>,
            .run = run<permutation>,
            .least_bytes = engine::read_and_written,
            .claims = {{"aligned, permuted: addresses fall within 4 segments, bus utilization 100 %", patterns,
                        segments<permutation>(4, 128).refuted_by(misaligned_instead)},
                       {"aligned, permuted: 1 cache-line, 128 bytes move across the bus on a miss, 100 %", caching,
                        moves_lines<permutation>(128).refuted_by(misaligned_instead)}}};
}

engine::step_definition misaligned() {
    return {.about = {"misaligned", "misaligned, consecutive", "ladder/memory/01_patterns.cu",
                      "consecutive words that begin 1 to 8 elements behind a multiple of 128 bytes", patterns},
            .data = shifted_copies,
            .run = run_misaligned,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return shifts * engine::read_and_written(n); },
            .claims = {{"misaligned: addresses fall within at most 5 segments, bus utilization at least 80 %", patterns,
                        full_warps(at_most_five).refuted_by(scattered_instead)},
                       {"some misaligned patterns will fall within 4 segments, so 100 % utilization", patterns,
                        full_warps(some_four).refuted_by(scattered_instead)},
                       {"offset from perfect alignment: 2 cache-lines, 256 bytes move, bus utilization 50 %", caching,
                        moves_lines<shifted<1>>(128).refuted_by(engine::step_in_place("aligned"))}}};
}

engine::step_definition same_word() {
    return {.about = {"same word", "all lanes the same word", "ladder/memory/01_patterns.cu", "a broadcast", patterns},
            .data = gathered<one_word>,
            .run = run<one_word>,
            .least_bytes = [](std::uint64_t n) { return n * sizeof(int) + warps_of(n) * 32; },
            .claims = {{"the same word: addresses fall within a single segment, bus utilization 12.5 %", patterns,
                        segments<one_word>(1, 4).refuted_by(engine::step_in_place("aligned"))},
                       {"the same word: a single cache-line, 128 bytes move, bus utilization 3.125 %", caching,
                        moves_lines<one_word>(4).refuted_by(scattered_instead)}}};
}

engine::step_definition scattered() {
    return {.about = {"scattered", "scattered, a[rand(i)]", "ladder/memory/01_patterns.cu", "every lane anywhere",
                      patterns},
            .data = gathered<anywhere>,
            .run = run<anywhere>,
            .least_bytes = engine::read_and_written,
            .claims = {{"scattered: N x 32 bytes move across the bus, bus utilization 128 / (N x 32)", patterns,
                        full_warps(scattered_share).refuted_by(engine::step_in_place("aligned"))},
                       {"scattered: N cache-lines, N x 128 bytes move, bus utilization 32 x 4B / (N x 128B)", caching,
                        moves_lines<anywhere>(128).refuted_by(engine::step_in_place("aligned"))},
                       {"random array access: slower", global_patterns, engine::slower_than("aligned")}}};
}

engine::step_definition neighbours() {
    return {.about = {"neighbours", "x[i] = a[i+1] - a[i]", "ladder/memory/01_patterns.cu",
                      "one load aligned, the other a word off", global_patterns},
            .data = differences<1, 1>,
            .run = run_difference<1, 1>,
            .size = engine::at_most(1u << 20),
            .least_bytes = engine::read_and_written,
            .claims = {{"~OK: x[i] = a[i+1] - a[i]", global_patterns,
                        full_warps(nearly_all_used).refuted_by(engine::step_in_place("strided"))}}};
}

engine::step_definition strided() {
    return {.about = {"strided", "x[i] = a[64*i] - a[i]", "ladder/memory/01_patterns.cu", "every lane another segment",
                      global_patterns},
            .data = differences<stride, 0>,
            .run = run_difference<stride, 0>,
            .size = engine::at_most(1u << 20),
            .least_bytes = [](std::uint64_t n) { return 3 * n * sizeof(int); },
            .claims = {{"slower: x[i] = a[64*i] - a[i]", global_patterns, engine::slower_than("neighbours")},
                       {"avoid patterns with large strides between threads: they move bytes that are not used",
                        "380, Summary: GMEM Optimization", engine::compared("neighbours", more_bytes)}}};
}

} // namespace warpfold::ladder::memory

// SPDX-License-Identifier: MIT
// What a load of a warp costs by the lines that its addresses fall in, and by the size of its words: the lecture's replays, as
// cycles of the L1 cache. (380 "Access Via L1", "Caching Load", "Non-caching Load", "Compute Capab. 3.x", "Read-Only Cache".)
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::memory {

namespace {

enum class path { ca, cg, nc };

// Words of 4 bytes that a warp's lanes load, from a multiple of 128 bytes on.
enum pattern : unsigned {
    consecutive_words,
    permuted_words,
    misaligned_words,
    one_word,
    two_lines,
    four_lines,
    eight_lines,
    all_lines
};
constexpr unsigned patterns = 8;
__host__ __device__ unsigned word_of(unsigned p, unsigned lane) {
    switch (p) {
    case consecutive_words: return lane;
    case permuted_words: return (11 * lane + 5) % 32;
    case misaligned_words: return lane + 1;
    case one_word: return 0;
    default: break;
    }
    const unsigned lines = p == all_lines ? 32 : 2u << (p - two_lines);
    return lane % lines * 32 + lane / lines;
}

// The loads of a round begin in rows of their own, each round elsewhere: ptxas makes one load of two of one address.
constexpr unsigned rows = 8;
constexpr unsigned words_of_a_row = 33 * 32;

template <path Path, class Word>
__device__ Word load(const Word* at) {
    if constexpr (Path == path::ca) {
        return __ldca(at);
    } else if constexpr (Path == path::cg) {
        return __ldcg(at);
    } else {
        return __ldg(at);
    }
}
__device__ int first_of(int x) { return x; }
__device__ int first_of(int2 x) { return x.x; }
__device__ int first_of(int4 x) { return x.x; }

// Each warp of the one block loads all rows `rounds` times; twice over with `cycles`, of which the second is timed.
template <path Path, class Word>
__global__ void load_rows(int* out, const Word* data, unsigned p, unsigned row, unsigned rounds, std::int64_t* cycles) {
    const Word* const own = data + word_of(p, threadIdx.x % 32);
    int sum = 0;
    std::int64_t begin = 0;
#pragma unroll 1
    for (unsigned pass = cycles == nullptr ? 1 : 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
            for (unsigned u = 0; u < rows; ++u) {
                sum += first_of(load<Path>(own + (round + u) % rows * row));
            }
        }
        __syncthreads();
    }
    const std::int64_t end = clock64();
    out[threadIdx.x] = sum;
    if (cycles != nullptr && threadIdx.x == 0) {
        *cycles = end - begin;
    }
}

constexpr unsigned rounds_of_the_step = 2;

engine::sample sums_of_rows(std::uint64_t /*n*/, std::uint64_t seed) {
    const auto in = engine::numbers(rows * words_of_a_row, seed);
    std::vector<std::int32_t> right;
    for (unsigned p = 0; p < patterns; ++p) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            std::int32_t sum = 0;
            for (unsigned row = 0; row < rows; ++row) {
                sum += in[row * words_of_a_row + word_of(p, lane)];
            }
            right.push_back(static_cast<std::int32_t>(rounds_of_the_step) * sum);
        }
    }
    return {right.size(), {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_rows(const engine::stage& on) {
    int* out = on.output<int>();
    for (unsigned p = 0; p < patterns; ++p) {
        engine::launch(on, "load_rows", load_rows<path::ca, int>, 1, 32, 0, out, on.input<int>(), p, words_of_a_row,
                       rounds_of_the_step, nullptr);
        out += 32;
    }
}

verdict several_transactions(const engine::evidence& e) {
    const auto here = loads_by_launch(e);
    return seen(here[consecutive_words] == 4 && here[misaligned_words] == 5 && here[all_lines] == 32,
                "segments a load: " + list(here, 0) +
                    ", consecutive, permuted, misaligned, of one word, and of 2, 4, 8 and 32 lines");
}

// Cycles of a load of a warp where 32 warps load at once.
struct load_cycles {
    std::array<double, patterns> ca{}, cg{}, nc{}; // by pattern
    std::array<double, 3> by_size{};               // words of 4, 8, 16 bytes, consecutive, by ld.ca
};

template <path Path, class Word>
double cycles_of(unsigned p, unsigned row) {
    constexpr unsigned warps = 32;
    constexpr unsigned rounds = 64;
    const measure::device_memory data(rows * words_of_a_row * sizeof(int));
    const measure::device_memory out(32 * warps * sizeof(int));
    const measure::device_memory cycles(sizeof(std::int64_t));
    WARPFOLD_CUDA_CHECK(cudaMemset(data.data(), 0, data.bytes()));
    std::int64_t best = 0;
    for (int sample = 0; sample < 5; ++sample) {
        load_rows<Path, Word><<<1, 32 * warps>>>(static_cast<int*>(out.data()), static_cast<const Word*>(data.data()),
                                                 p, row, rounds, static_cast<std::int64_t*>(cycles.data()));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        std::int64_t taken = 0;
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&taken, cycles.data(), sizeof taken, cudaMemcpyDeviceToHost));
        best = best == 0 ? taken : std::min(best, taken);
    }
    return static_cast<double>(best) / (warps * rounds * rows);
}

load_cycles measure_loads(const engine::evidence& /*e*/) {
    static const load_cycles all = [] {
        load_cycles c;
        for (unsigned p = 0; p < patterns; ++p) {
            c.ca[p] = cycles_of<path::ca, int>(p, words_of_a_row);
            c.cg[p] = cycles_of<path::cg, int>(p, words_of_a_row);
            c.nc[p] = cycles_of<path::nc, int>(p, words_of_a_row);
        }
        c.by_size = {cycles_of<path::ca, int>(consecutive_words, 64), cycles_of<path::ca, int2>(consecutive_words, 64),
                     cycles_of<path::ca, int4>(consecutive_words, 64)};
        return c;
    }();
    return all;
}

// As the lecture says: a load of N lines takes N times as long, of two words 2 and of four words 4 times, except by ld.nc.
constexpr load_cycles with_replays{.ca = {2, 2, 4, 2, 4, 8, 16, 64},
                                   .cg = {2, 2, 4, 2, 4, 8, 16, 64},
                                   .nc = {2, 2, 2, 2, 2, 2, 2, 2},
                                   .by_size = {2, 4, 8}};
load_cycles changed(void (*change)(load_cycles&)) {
    load_cycles all = with_replays;
    change(all);
    return all;
}

bool times(double here, double there, double expected) {
    return here > 0.8 * expected * there && here < 1.2 * expected * there;
}

std::string in_words(const std::array<double, patterns>& c) {
    return "cycles a load: " + list(std::vector<double>(c.begin(), c.end()), 1) +
           ", consecutive, permuted, misaligned, of one word, and of 2, 4, 8 and 32 lines";
}

using cycles_by_pattern = std::array<double, patterns> load_cycles::*;

template <cycles_by_pattern By>
verdict no_replays(const engine::evidence& /*e*/, const load_cycles& c) {
    const auto& t = c.*By;
    return seen(times(t[permuted_words], t[consecutive_words], 1) && times(t[one_word], t[consecutive_words], 1),
                in_words(t));
}

template <cycles_by_pattern By>
verdict one_replay(const engine::evidence& /*e*/, const load_cycles& c) {
    return seen(times((c.*By)[misaligned_words], (c.*By)[consecutive_words], 2), in_words(c.*By));
}

template <cycles_by_pattern By>
verdict replay_for_each(const engine::evidence& /*e*/, const load_cycles& c) {
    const auto& t = c.*By;
    return seen(times(t[two_lines], t[consecutive_words], 2) && times(t[four_lines], t[consecutive_words], 4) &&
                    times(t[eight_lines], t[consecutive_words], 8) && times(t[all_lines], t[consecutive_words], 32),
                in_words(t));
}

verdict requests_by_size(const engine::evidence& /*e*/, const load_cycles& c) {
    const auto& t = c.by_size;
    return seen(times(t[1], t[0], 2) && times(t[2], t[0], 4),
                "cycles a load of words of 4, 8 and 16 bytes: " + list({t[0], t[1], t[2]}, 1));
}

verdict not_by_read_only(const engine::evidence& /*e*/, const load_cycles& c) {
    return seen(c.nc[all_lines] < 0.75 * c.ca[all_lines], "a load of 32 lines takes " + number(c.nc[all_lines], 1) +
                                                              " cycles by ld.nc, " + number(c.ca[all_lines], 1) +
                                                              " by ld.ca");
}

engine::check about(verdict (*decide)(const engine::evidence&, const load_cycles&), std::string instead,
                    void (*change)(load_cycles&)) {
    return engine::measured(measure_loads, decide)
        .refuted_by(engine::figures_in_place(std::move(instead), changed(change)));
}

constexpr const char* l1 = "380, Access Via L1";
constexpr const char* caching = "380, Caching Load";
constexpr const char* non_caching = "380, Non-caching Load";

} // namespace

engine::step_definition replays() {
    return {.about = {"replays", "what a load costs", "ladder/memory/10_replays.cu",
                      "loads of a warp that hit in L1, by lines and by the size of words", l1},
            .data = sums_of_rows,
            .run = run_rows,
            .claims = {{"address pattern may require multiple transactions for an instruction", l1,
                        engine::counted(several_transactions)
                            .refuted_by(engine::launches_exchanged(consecutive_words, all_lines))},
                       {"if N transactions are needed, there will be (N-1) replays of the instruction", l1,
                        about(replay_for_each<&load_cycles::ca>, "32 lines at the price of 8",
                              [](load_cycles& c) { c.ca[all_lines] = c.ca[eight_lines]; })},
                       {"aligned, permuted and the same word: no replays", caching,
                        about(no_replays<&load_cycles::ca>, "permuted words at twice the price",
                              [](load_cycles& c) { c.ca[permuted_words] *= 2; })},
                       {"offset from perfect alignment: 1 replay (2 transactions)", caching,
                        about(one_replay<&load_cycles::ca>, "misaligned words at the price of aligned ones",
                              [](load_cycles& c) { c.ca[misaligned_words] = c.ca[consecutive_words]; })},
                       {"scattered: (N-1) replays (N transactions)", caching,
                        about(replay_for_each<&load_cycles::ca>, "two lines at the price of one",
                              [](load_cycles& c) { c.ca[two_lines] = c.ca[consecutive_words]; })},
                       {"aligned, permuted and the same word: no replays", non_caching,
                        about(no_replays<&load_cycles::cg>, "one word at twice the price",
                              [](load_cycles& c) { c.cg[one_word] *= 2; })},
                       {"offset from perfect alignment: 1 replay (2 transactions)", non_caching,
                        about(one_replay<&load_cycles::cg>, "misaligned words at the price of aligned ones",
                              [](load_cycles& c) { c.cg[misaligned_words] = c.cg[consecutive_words]; })},
                       {"scattered: (N-1) replays (N transactions)", non_caching,
                        about(replay_for_each<&load_cycles::cg>, "32 lines at the price of 8",
                              [](load_cycles& c) { c.cg[all_lines] = c.cg[eight_lines]; })},
                       {"two memory requests, one for each half-warp, if the size is 8 bytes; four if it is 16",
                        "380, Compute Capab. 3.x (Kepler, Part 1)",
                        about(requests_by_size, "one price for all sizes",
                              [](load_cycles& c) {
                                  c.by_size = {2, 2, 2};
                              })},
                       {"the read-only cache does not require replay for multiple transactions (L1 does)",
                        "380, Read-Only Cache",
                        about(not_by_read_only, "ld.nc at the price of ld.ca", [](load_cycles& c) { c.nc = c.ca; })}}};
}

} // namespace warpfold::ladder::memory

// SPDX-License-Identifier: MIT
// Words of every size that a load takes whole, stores by every cache operator, scattered loads that leave the L1 cache out,
// and the atomic functions. (380 "Access Via L1", "GMEM Writes", "Caching vs Non-caching Loads"; parallel patterns
// "Implementation 3".)
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

__device__ std::uint64_t index() { return threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; }

template <class Word>
__global__ void copy_words(Word* out, const Word* in, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        out[i] = in[i];
    }
}

constexpr unsigned sizes[] = {16, 8, 4, 2, 1}; // each stays aligned behind those before it

// The first n words of the input, of each size.
engine::sample words_of_all_sizes(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(4 * n, seed));
    engine::bytes right;
    for (const unsigned size : sizes) {
        right.insert(right.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(size * n));
    }
    return {n, {in}, right};
}

template <class Word>
void copy_words_of(const engine::stage& on, std::size_t& done) {
    engine::launch(on, "copy_words", copy_words<Word>, blocks_for(on.n), threads, 0,
                   reinterpret_cast<Word*>(on.output<std::byte>() + done), on.input<Word>(), on.n);
    done += on.n * sizeof(Word);
}

void run_words(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    std::size_t done = 0;
    copy_words_of<int4>(on, done);
    copy_words_of<int2>(on, done);
    copy_words_of<int>(on, done);
    copy_words_of<short>(on, done);
    copy_words_of<char>(on, done);
}

verdict one_load_each(const engine::evidence& e) {
    std::vector<double> bytes;
    bool one = true;
    for (const auto& launch : e.step.launches) {
        one = one && launch.total.global_load_requests == warps_of(e.n());
        bytes.push_back(static_cast<double>(launch.total.global_load_bytes) /
                        static_cast<double>(launch.total.global_load_requests));
    }
    return seen(one, "one load a warp each, of " + list(bytes, 0) + " bytes");
}

verdict required_segments(const engine::evidence& e) {
    std::vector<double> here;
    for (const auto& launch : e.step.launches) {
        here.push_back(sectors_a_store(launch.total));
    }
    return seen(here == std::vector<double>{16, 8, 4, 2, 1},
                "segments a store of 16, 8, 4, 2, 1 bytes a lane: " + list(here, 0));
}

verdict split_requests(const engine::evidence& e) {
    std::vector<double> here;
    for (std::size_t k = 0; k < 3; ++k) {
        const auto& c = e.step.launches[k].total;
        here.push_back(static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_requests) / 128);
    }
    return seen(here == std::vector<double>{4, 2, 1},
                "lines of 128 bytes a load of 16, 8, 4 bytes a lane: " + list(here, 0));
}

enum class store_by { wb, cg, cs, wt };

template <store_by Operator>
__global__ void store_with(int* out, const int* in, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        if constexpr (Operator == store_by::wb) {
            __stwb(out + i, in[i]);
        } else if constexpr (Operator == store_by::cg) {
            __stcg(out + i, in[i]);
        } else if constexpr (Operator == store_by::cs) {
            __stcs(out + i, in[i]);
        } else {
            __stwt(out + i, in[i]);
        }
    }
}

engine::sample four_copies(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right;
    for (unsigned k = 0; k < 4; ++k) {
        right.insert(right.end(), in.begin(), in.end());
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_store_operators(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const auto one = [&](auto kernel, unsigned k) {
        engine::launch(on, "store_with", kernel, blocks_for(on.n), threads, 0, on.output<int>() + k * on.n,
                       on.input<int>(), on.n);
    };
    one(store_with<store_by::wb>, 0);
    one(store_with<store_by::cg>, 1);
    one(store_with<store_by::cs>, 2);
    one(store_with<store_by::wt>, 3);
}

verdict same_stores(const engine::evidence& e) {
    std::vector<double> here;
    for (const auto& launch : e.step.launches) {
        here.push_back(sectors_a_store(launch.total));
    }
    const auto [least, most] = std::minmax_element(here.begin(), here.end());
    return seen(*least == *most || e.n() % 8 != 0, "segments a store with wb, cg, cs, wt: " + list(here, 2));
}

// As the step "scattered", with loads that are kept in L2 only.
__host__ __device__ std::uint64_t anywhere(std::uint64_t i, std::uint64_t n) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return (z ^ (z >> 27)) % n;
}

__global__ void gather_in_l2(int* output, const int* input, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        output[i] = __ldcg(input + anywhere(i, n));
    }
}

engine::sample gathered(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = in[anywhere(i, n)];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_gather_in_l2(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "gather_in_l2", gather_in_l2, blocks_for(on.n), threads, 0, on.output<int>(),
                       on.input<int>(), on.n);
    }
}

verdict same_as_caching(const engine::evidence& e, const step_result& other) {
    const double here = sectors_a_load(e.step.launches[0].total);
    const double there = sectors_a_load(other.launches[0].total);
    return seen(here == there, number(here, 1) + " segments a load; " + number(there, 1) + " by ld.ca");
}

verdict clearly_faster(const engine::evidence& e) {
    const step_result* const other = e.other("scattered");
    if (!e.step.cold || other == nullptr || !other->cold) {
        return unseen("needs times, so a GPU");
    }
    const double speedup = other->cold->median / e.step.cold->median;
    return seen(speedup > 1.02, number(speedup, 2) + "x as fast: the L1 cache, too, fetches segments, not lines");
}

// Each thread applies every function to a word of its own and keeps what it returns.
constexpr unsigned functions = 10;
__global__ void apply_atomics(int* words, int* returned, double* reals, const int* in, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i >= n) {
        return;
    }
    const int x = in[i];
    int* const w = words + i * functions;
    int* const r = returned + i * functions;
    for (unsigned k = 0; k < functions; ++k) {
        w[k] = 12;
    }
    r[0] = atomicAdd(w + 0, x);
    r[1] = atomicSub(w + 1, x);
    r[2] = static_cast<int>(atomicInc(reinterpret_cast<unsigned*>(w + 2), 12u));
    r[3] = static_cast<int>(atomicDec(reinterpret_cast<unsigned*>(w + 3), 11u));
    r[4] = atomicMin(w + 4, x);
    r[5] = atomicMax(w + 5, x);
    r[6] = atomicExch(w + 6, x);
    r[7] = atomicAnd(w + 7, x);
    r[8] = atomicOr(w + 8, x);
    r[9] = atomicCAS(w + 9, x % 2 == 0 ? 12 : 13, x);
    reals[i] = 0.5;
    atomicAdd(reals + i, static_cast<double>(x));
}

engine::sample applied(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<double> reals;
    std::vector<std::int32_t> words;
    for (const std::int32_t x : in) {
        reals.push_back(0.5 + x);
        // atomicInc and atomicDec begin again where their bound is passed: at 12 of 12, and at 12 above 11.
        for (const std::int32_t value :
             {12 + x, 12 - x, 0, 11, std::min(12, x), std::max(12, x), x, 12 & x, 12 | x, x % 2 == 0 ? x : 12}) {
            words.push_back(value);
        }
    }
    engine::bytes right = engine::bytes_of(reals);
    const auto tail = engine::bytes_of(words);
    right.insert(right.end(), tail.begin(), tail.end());
    const auto old = engine::bytes_of(std::vector<std::int32_t>(n * functions, 12));
    right.insert(right.end(), old.begin(), old.end());
    return {n, {engine::bytes_of(in)}, right};
}

void run_functions(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    auto* const reals = on.output<double>();
    auto* const words = reinterpret_cast<int*>(reals + on.n);
    engine::launch(on, "apply_atomics", apply_atomics, blocks_for(on.n), threads, 0, words, words + functions * on.n,
                   reals, on.input<int>(), on.n);
}

verdict old_values(const engine::evidence& e) {
    return seen(e.step.correct, "add, sub, inc, dec, min, max, exch, and, or, CAS: each returns what was there");
}

verdict compare_and_swap(const engine::evidence& e) {
    return seen(e.step.correct,
                "where the old value is the one compared with, val; else the old one stays (the slide has "
                "compare for the comparison)");
}

verdict doubles(const engine::evidence& e) {
    return seen(e.report.device.compute_major >= 6 && e.step.correct,
                "compute capability " + std::to_string(e.report.device.compute_major) + "." +
                    std::to_string(e.report.device.compute_minor) + ", and the sums are right");
}

constexpr const char* source = "ladder/memory/07_words.cu";
constexpr const char* third = "Parallel patterns, Implementation 3";

} // namespace

engine::step_definition word_sizes() {
    return {.about = {"words", "words of 16, 8, 4, 2 and 1 bytes", source, "the sizes that one load of a thread takes",
                      "380, Access Via L1"},
            .data = words_of_all_sizes,
            .run = run_words,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return 2 * 31 * n; },
            .claims = {{"natively supported word sizes per thread: 1, 2, 4, 8, 16 bytes", "380, Access Via L1",
                        full_warps(one_load_each)},
                       {"only the required segments will be sent", "380, GMEM Writes", full_warps(required_segments)},
                       {"two requests of half a warp if the size is 8 bytes, four if it is 16",
                        "380, Compute Capab. 3.x (Kepler, Part 2)", full_warps(split_requests)}}};
}

engine::step_definition store_operators() {
    return {.about = {"store operators", "PTX cache operators of stores", source, "st.wb, st.cg, st.cs and st.wt",
                      "380, PTX Cache Operators", false, "operators"},
            .data = four_copies,
            .run = run_store_operators,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return 8 * n * sizeof(int); },
            .claims = {{"they say where a line is kept, not what is written", "PTX ISA, Cache Operators",
                        full_warps(same_stores)}}};
}

engine::step_definition scattered_in_l2() {
    return {.about = {"scattered cg", "scattered, not cached in L1", source, "the same addresses by ld.cg",
                      "380, Caching vs Non-caching Loads", false, "scattered"},
            .data = gathered,
            .run = run_gather_in_l2,
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"caching in L2 only can reduce over-fetch in the case of scattered accesses",
                        "380, Compute Capab. 3.x (Kepler, Part 1)", engine::compared("scattered", same_as_caching)},
                       {"non-caching loads are better if the warp address pattern is scattered",
                        "380, Caching vs Non-caching Loads", clearly_faster}}};
}

engine::step_definition atomic_functions() {
    return {.about = {"atomics", "the atomic functions", source, "every one on a word of each thread's own", third},
            .data = applied,
            .run = run_functions,
            .size = engine::at_most(1u << 16),
            .claims = {
                {"read the old value, calculate a new value, and write it: the old one is returned", third, old_values},
                {"CAS (compare and swap): old == compare ? val : old", third, compare_and_swap},
                {"atomicAdd for double precision requires compute capability 6.0 or higher", third, doubles}}};
}

} // namespace warpfold::ladder::memory

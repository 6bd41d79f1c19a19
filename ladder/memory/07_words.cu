// SPDX-License-Identifier: MIT
// Words of every size that a load takes whole, stores by every cache operator, scattered loads that leave the L1 cache out,
// and the atomic functions. (380 "Access Via L1", "GMEM Writes", "Caching vs Non-caching Loads"; parallel patterns
// "Implementation 3".)
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/engine/command.hpp"
#include "ladder/engine/definition/data.hpp"
#include "ladder/memory/elements.cuh"
#include "ladder/memory/steps.hpp"

namespace warpfold::ladder::memory {

namespace {

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
                        static_cast<double>(32 * launch.total.global_load_requests));
    }
    return seen(one && bytes == std::vector<double>(std::begin(sizes), std::end(sizes)),
                "one load a warp each, of " + list(bytes, 0) + " bytes a lane");
}

verdict required_segments(const engine::evidence& e) {
    const auto here = stores_by_launch(e);
    return seen(here == std::vector<double>{16, 8, 4, 2, 1},
                "segments a store of 16, 8, 4, 2, 1 bytes a lane: " + list(here, 0));
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
    const auto here = stores_by_launch(e);
    return seen(here == std::vector<double>(4, 4.0), "segments a store with wb, cg, cs, wt: " + list(here, 0));
}

// As the step "scattered", with loads that are kept in L2 only.
__global__ void gather_in_l2(int* output, const int* input, std::uint64_t n) {
    const std::uint64_t i = index();
    if (i < n) {
        output[i] = __ldcg(input + random_place(i, n));
    }
}

engine::sample gathered(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = in[random_place(i, n)];
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_gather_in_l2(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "gather_in_l2", gather_in_l2, blocks_for(on.n), threads, 0, on.output<int>(),
                       on.input<int>(), on.n);
    }
}

verdict less_fetched(const engine::evidence& e, const step_result& other) {
    const double here = engine::sectors_a_load(e.step.launches[0].total);
    const double there = engine::sectors_a_load(other.launches[0].total);
    const std::string figure = number(here, 1) + " segments a load; " + number(there, 1) + " by ld.ca";
    return here == there ? no_difference(figure) : seen(here < there, figure);
}

verdict four_times_used(const engine::evidence& e, const step_result& other) {
    const double times = moved_for_each(other.launches[0].total) / moved_for_each(e.step.launches[0].total);
    const std::string figure = number(times, 2) + "x: loads that are cached move segments, too";
    return times > 3.5 ? seen(true, figure)
                       : holds_only_for("GPUs whose caching loads move lines of 128 bytes", figure);
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

// Where the words that one function has changed begin in the output, and the words that it has returned.
std::span<const std::int32_t> changed_words(const engine::evidence& e) {
    return engine::view<std::int32_t>(e.result).subspan(2 * e.n(), functions * e.n());
}
std::span<const std::int32_t> returned_words(const engine::evidence& e) {
    return engine::view<std::int32_t>(e.result).subspan((2 + functions) * e.n(), functions * e.n());
}

verdict old_values(const engine::evidence& e) {
    const auto returned = returned_words(e);
    const auto old = static_cast<std::uint64_t>(std::count(returned.begin(), returned.end(), 12));
    return seen(old == returned.size(), std::to_string(old) + " of " + std::to_string(returned.size()) +
                                            " calls of add, sub, inc, dec, min, max, exch, and, or, CAS return 12, "
                                            "what was there");
}

// The new value in the place of the old one, of the first thread's atomicAdd.
const auto new_value_returned = engine::planted("a call that returns the new value", [](engine::altered_evidence& e) {
    const std::size_t words = 2 * e.step.n * sizeof(int);
    if (e.step.n == 0) {
        return;
    }
    std::copy_n(e.result.begin() + words, sizeof(int), e.result.begin() + words + functions * e.step.n * sizeof(int));
});

verdict compare_and_swap(const engine::evidence& e) {
    const auto in = engine::view<std::int32_t>(e.data.in[0]);
    const auto words = changed_words(e);
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < e.n(); ++i) {
        right += words[functions * i + 9] == (in[i] % 2 == 0 ? in[i] : 12) ? 1 : 0;
    }
    return seen(right == e.n(), std::to_string(right) + " of " + std::to_string(e.n()) +
                                    " words are val where old == compare, else old");
}

// atomicExch in the place of atomicCAS.
const auto always_swapped = engine::planted("words that are always swapped", [](engine::altered_evidence& e) {
    for (std::uint64_t i = 0; i < e.step.n; ++i) {
        const auto words = e.result.begin() + static_cast<std::ptrdiff_t>((2 * e.step.n + functions * i) * sizeof(int));
        std::copy_n(words + 6 * sizeof(int), sizeof(int), words + 9 * sizeof(int));
    }
});

// Whether ptxas takes an atomic operation in a program for a compute capability: 5.0, and 6.0.
struct taken_by_target {
    bool by_50 = false, by_60 = false;
};
std::optional<taken_by_target> taken(const std::string& operation) {
    const auto by = [&](const char* target) {
        return engine::assemble(std::string(".version 6.4\n.target ") + target +
                                    "\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p; "
                                    ".reg .f64 %d; .reg .b32 %r;\nld.param.u64 %p, [p];\n" +
                                    operation + "\nret;\n}\n",
                                "sm_80", {});
    };
    if (!by("sm_60").there) {
        return std::nullopt;
    }
    return taken_by_target{!by("sm_50").cubin.empty(), !by("sm_60").cubin.empty()};
}

verdict doubles(const engine::evidence& e) {
    const auto* const given = e.given<taken_by_target>();
    const auto by = given != nullptr ? *given : taken("atom.global.add.f64 %d, [%p], 0d3FF0000000000000;");
    if (!by) {
        return unseen("needs ptxas");
    }
    const auto text = [](bool one) { return one ? " takes" : " refuses"; };
    return seen(by->by_60 && !by->by_50, std::string("ptxas") + text(by->by_50) + " it in a program for sm_50, and" +
                                             text(by->by_60) + " it in one for sm_60");
}

const auto of_integers = engine::planted("atomicAdd of integers", [](engine::altered_evidence& e) {
    e.figures = taken("atom.global.add.u32 %r, [%p], 1;").value_or(taken_by_target{});
});

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
            .claims = {{"natively supported word sizes per thread: 1B, 2B, 4B, 8B, 16B", "380, Access Via L1",
                        full_warps(one_load_each).refuted_by(engine::step_in_place("structures"))},
                       {"only the required segments will be sent", "380, GMEM Writes",
                        full_warps(required_segments).refuted_by(engine::launches_exchanged(0, 4))}}};
}

engine::step_definition store_operators() {
    return {.about = {"store operators", "PTX cache operators of stores", source, "st.wb, st.cg, st.cs and st.wt",
                      "380, PTX Cache Operators", false, "operators"},
            .data = four_copies,
            .run = run_store_operators,
            .size = engine::at_most(1u << 22),
            .least_bytes = [](std::uint64_t n) { return 8 * n * sizeof(int); },
            .claims = {{"they say where a line is kept, not what is written", "beyond the lectures",
                        full_warps(same_stores).refuted_by(engine::step_in_place("stores"))}}};
}

engine::step_definition scattered_in_l2() {
    return {.about = {"scattered cg", "scattered, not cached in L1", source, "the same addresses by ld.cg",
                      "380, Caching vs Non-caching Loads", false, "scattered"},
            .data = gathered,
            .run = run_gather_in_l2,
            .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(int); },
            .claims = {{"caching in L2 only can reduce over-fetch in the case of scattered accesses",
                        "380, Compute Capab. 3.x (Kepler, Part 1)", engine::compared("scattered", less_fetched)},
                       {"bus utilization 128 / (N x 32): 4x higher than caching loads", "380, Non-caching Load",
                        engine::compared("scattered", four_times_used)},
                       {"non-caching loads are better if the warp address pattern is scattered",
                        "380, Caching vs Non-caching Loads", engine::faster_than("scattered")}}};
}

engine::step_definition atomic_functions() {
    return {.about = {"atomics", "the atomic functions", source, "every one on a word of each thread's own", third},
            .data = applied,
            .run = run_functions,
            .size = engine::at_most(1u << 16),
            .claims = {{"read the old value, calculate a new value, and write it: the old one is returned", third,
                        engine::launched(old_values).refuted_by(new_value_returned)},
                       {"CAS (compare and swap): old == compare ? val : old", third,
                        engine::launched(compare_and_swap).refuted_by(always_swapped)},
                       {"atomicAdd for double precision requires compute capability 6.0 or higher", third,
                        engine::check(doubles).refuted_by(of_integers)}}};
}

} // namespace warpfold::ladder::memory

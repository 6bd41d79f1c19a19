// SPDX-License-Identifier: MIT
// Banks: which one an address is in, strides from 1 to 64, one word for all or for some, elements of 1, 2, 4 and 8 bytes.
// (759 "How Addresses Map to Banks on Fermi", "Bank Addressing Examples", "Other Examples", "Linear Addressing", "Data
// types and bank conflicts".)
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

namespace {

constexpr unsigned most_stride = 64;
constexpr unsigned words = 32 * most_stride;

// One warp: fills shared memory in order, then lane k reads the word `step` * (k / `group`).
__global__ void read_strided(int* out, const int* in, unsigned step, unsigned group) {
    __shared__ int shrd[words];
    for (unsigned k = threadIdx.x; k < words; k += 32) {
        shrd[k] = in[k];
    }
    __syncthreads();
    out[threadIdx.x] = shrd[step * (threadIdx.x / group)];
}

// Lane 3 reads word `a`, lane 8 word `b`; the others read what lane 3 does.
__global__ void read_two(int* out, const int* in, unsigned a, unsigned b) {
    __shared__ int shrd[1024];
    for (unsigned k = threadIdx.x; k < 1024; k += 32) {
        shrd[k] = in[k];
    }
    __syncthreads();
    out[threadIdx.x] = shrd[threadIdx.x == 8 ? b : a];
}

engine::sample strided(std::uint64_t /*n*/, std::uint64_t seed) {
    const auto in = engine::numbers(words, seed);
    std::vector<std::int32_t> right;
    for (unsigned s = 1; s <= most_stride; ++s) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            right.push_back(in[s * lane]);
        }
    }
    return {32 * most_stride, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_strides(const engine::stage& on) {
    for (unsigned s = 1; s <= most_stride; ++s) {
        engine::launch(on, "read_strided", read_strided, 1, 32, 0, on.output<int>() + 32 * (s - 1), on.input<int>(), s,
                       1);
    }
}

struct pair {
    unsigned a, b;
};
constexpr pair pairs[]{{50, 178}, {4, 128}, {31, 50}, {50, 50}, {0, 128}};

engine::sample two_words(std::uint64_t /*n*/, std::uint64_t seed) {
    const auto in = engine::numbers(1024, seed);
    std::vector<std::int32_t> right;
    for (const pair p : pairs) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            right.push_back(in[lane == 8 ? p.b : p.a]);
        }
    }
    return {right.size(), {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_two(const engine::stage& on) {
    int* out = on.output<int>();
    for (const pair p : pairs) {
        engine::launch(on, "read_two", read_two, 1, 32, 0, out, on.input<int>(), p.a, p.b);
        out += 32;
    }
}

constexpr unsigned groups[]{32, 16, 8, 2, 1}; // lanes that share a word; 32: broadcast

engine::sample shared_words(std::uint64_t /*n*/, std::uint64_t seed) {
    const auto in = engine::numbers(words, seed);
    std::vector<std::int32_t> right;
    for (const unsigned group : groups) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            right.push_back(in[lane / group]);
        }
    }
    return {right.size(), {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_shared_words(const engine::stage& on) {
    int* out = on.output<int>();
    for (const unsigned group : groups) {
        engine::launch(on, "read_strided", read_strided, 1, 32, 0, out, on.input<int>(), 1, group);
        out += 32;
    }
}

// Passes of the one load that follows the barrier.
double passes(const softgpu::observe::launch_record& launch) { return passes_a_load(launch.by_interval.at(1)); }

std::vector<double> passes_by_launch(const engine::evidence& e) {
    std::vector<double> all;
    for (const auto& launch : e.step.launches) {
        all.push_back(passes(launch));
    }
    return all;
}

unsigned common_divisor(unsigned a, unsigned b) { return b == 0 ? a : common_divisor(b, a % b); }

verdict fine_where_odd(const engine::evidence& e) {
    bool holds = true;
    std::vector<std::uint64_t> seen_free;
    for (unsigned s = 1; s <= most_stride; ++s) {
        const bool is_free = passes(e.step.launches[s - 1]) == 1;
        holds = holds && is_free == (s % 2 == 1);
        if (is_free) {
            seen_free.push_back(s);
        }
    }
    return seen(holds, "free of conflicts: s = " + list(seen_free));
}

verdict common_factors(const engine::evidence& e) {
    bool holds = true;
    std::vector<double> here;
    for (unsigned s = 1; s <= most_stride; ++s) {
        const double p = passes(e.step.launches[s - 1]);
        holds = holds && p == common_divisor(s, 32);
        if ((s & (s - 1)) == 0) {
            here.push_back(p);
        }
    }
    return seen(holds, "passes of a load with s = 1, 2, 4, ..., 64: " + list(here, 0) +
                           "; always the greatest common divisor of s and 32");
}

verdict worst_case(const engine::evidence& e) {
    const double p = passes(e.step.launches[31]);
    return seen(p == 32, number(p, 0) + " passes with a stride of 32");
}

verdict four_banks(const engine::evidence& e) {
    const double p = passes(e.step.launches[7]);
    return seen(p == 8, number(p, 0) + " passes with a stride of 8, where only banks 0, 8, 16 and 24 are accessed");
}

verdict two_way(const engine::evidence& e) {
    const auto here = passes_by_launch(e);
    return seen(here == std::vector<double>{2, 1, 1, 1, 2},
                "passes for words 50 and 178: " + number(here[0], 0) + "; 4 and 128: " + number(here[1], 0) +
                    "; 31 and 50: " + number(here[2], 0) + "; 50 and 50: " + number(here[3], 0) +
                    "; 0 and 128: " + number(here[4], 0));
}

verdict no_conflict(const engine::evidence& e) {
    const auto here = passes_by_launch(e);
    return seen(here == std::vector<double>(5, 1.0),
                "passes where 32, 16, 8, 2 and 1 lanes read the same word: " + list(here, 0));
}

// Elements of every width, one a lane.
template <class T>
__global__ void read_elements(T* out, const T* in) {
    __shared__ T shrd[threads];
    shrd[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = shrd[threads - 1 - threadIdx.x];
}

constexpr unsigned widths[]{1, 2, 4, 8};

engine::sample of_all_widths(std::uint64_t /*n*/, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers(2 * threads, seed));
    engine::bytes right;
    for (const unsigned width : widths) {
        for (unsigned k = 0; k < threads; ++k) {
            const auto at = in.begin() + (threads - 1 - k) * width;
            right.insert(right.end(), at, at + width);
        }
    }
    return {threads, {in}, right};
}

void run_widths(const engine::stage& on) {
    std::byte* out = on.output<std::byte>();
    const auto one = [&]<class T>(T) {
        engine::launch(on, "read_elements", read_elements<T>, 1, threads, 0, reinterpret_cast<T*>(out), on.input<T>());
        out += threads * sizeof(T);
    };
    one(std::uint8_t{});
    one(std::uint16_t{});
    one(std::uint32_t{});
    one(std::uint64_t{});
}

verdict narrow_ones(const engine::evidence& e) {
    const auto here = passes_by_launch(e);
    return seen(here[0] == 1 && here[1] == 1 && here[2] == 1,
                "passes of a load of char, short, int: " + list({here[0], here[1], here[2]}, 0));
}

verdict wide_ones(const engine::evidence& e) {
    const auto c = e.step.launches[3].by_interval.at(1);
    return seen(passes_a_load(c) == 2 && c.shared_load_bank_conflicts == 0,
                number(passes_a_load(c), 0) +
                    " passes of a load of double, none of them a conflict: a warp's 256 bytes take "
                    "two in any case, a half warp each");
}

constexpr const char* source = "ladder/shared/01_banks.cu";

} // namespace

engine::step_definition bank_of_an_address() {
    return {
        .about = {"banks", "the bank of an address", source,
                  "word k is in bank k % 32: lane 3 reads one, lane 8 another",
                  "759, How Addresses Map to Banks on Fermi"},
        .data = two_words,
        .run = run_two,
        .claims = {
            {"myShMemVar[50] and [178] are both in bank 18: a two-way conflict; [4] and [128], [31] and [50] are not",
             "759, How Addresses Map to Banks on Fermi",
             engine::counted(two_way).refuted_by(engine::launches_exchanged(0, 1))}}};
}

engine::step_definition strides() {
    return {.about = {"strides", "strides of 1 to 64 words", source, "foo = sharedM[baseIndex + s * threadIdx.x]",
                      "759, Linear Addressing"},
            .data = strided,
            .run = run_strides,
            .claims = {
                {"bank-conflict-free if s shares no common factors with the number of banks", "759, Linear Addressing",
                 engine::counted(common_factors).refuted_by(engine::launches_exchanged(2, 3))},
                {"you are fine if s is odd", "759, Linear Addressing",
                 engine::counted(fine_where_odd).refuted_by(engine::launches_exchanged(2, 3))},
                {"the 32 threads access only banks 0, 8, 16 and 24", "759, Bank Addressing Examples",
                 engine::counted(four_banks).refuted_by(engine::launches_exchanged(7, 6))},
                {"worst case: 32 threads access 32 different words in the same bank; cost = max # of accesses to a "
                 "single bank",
                 "759, Shared Memory Bank Conflicts",
                 engine::counted(worst_case).refuted_by(engine::launches_exchanged(31, 30))}}};
}

engine::step_definition one_word() {
    return {
        .about = {"broadcast", "broadcast and multicast", source, "all lanes, or some, read the same word",
                  "759, Other Examples"},
        .data = shared_words,
        .run = run_shared_words,
        .claims = {{"no conflict: all threads access the same word (broadcast), or several the same (multicast)",
                    "759, Other Examples", engine::counted(no_conflict).refuted_by(engine::step_in_place("banks"))}}};
}

engine::step_definition element_widths() {
    return {.about = {"widths", "char, short, int and double", source, "an element of each width for each lane",
                      "759, Data types and bank conflicts"},
            .data = of_all_widths,
            .run = run_widths,
            .claims = {{"no conflicts with char, short and 32-bit types: different bytes of the same word are accessed",
                        "759, Data types and bank conflicts",
                        engine::counted(narrow_ones).refuted_by(engine::launches_exchanged(2, 3))},
                       {"8-byte elements go by half warps", "beyond the lectures",
                        engine::counted(wide_ones).refuted_by(engine::launches_exchanged(2, 3))}}};
}

} // namespace warpfold::ladder::shared

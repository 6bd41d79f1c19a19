// SPDX-License-Identifier: MIT
// The slides' pictures of both trees over eight values, row by row: up-sweep and down-sweep with the indices that their threads
// have, and reduction with post-scan. (759 "Parallel Scan Algorithm: Solution #2", "The Down-Sweep Phase"; parallel patterns
// "Parallel Scan - Reduction Step", "Inclusive Post Scan Step".)
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned values = 8;
constexpr unsigned levels = 3;

// Value x_i is 2^i, so that each sum of some of them says which.
__device__ void leave_row(int*& rows, const int* temp, unsigned thid) {
    __syncthreads();
    rows[2 * thid] = temp[2 * thid];
    rows[2 * thid + 1] = temp[2 * thid + 1];
    rows += values;
    __syncthreads();
}

// The slide's prescan of eight values by four threads; rows after each level up, after the zero, after each level down. Indices:
// bi of each level up, then ai, -1 of threads with nothing to do.
__global__ void rows_of_prescan(int* rows, int* indices, const int* g_idata) {
    __shared__ int temp[values];
    const unsigned thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (unsigned d = values >> 1; d > 0; d >>= 1) {
        __syncthreads();
        const int ai = offset * (2 * static_cast<int>(thid) + 1) - 1;
        const int bi = offset * (2 * static_cast<int>(thid) + 2) - 1;
        if (thid < d) {
            temp[bi] += temp[ai];
        }
        indices[thid] = thid < d ? bi : -1;
        indices[levels * values / 2 + thid] = thid < d ? ai : -1;
        indices += values / 2;
        offset <<= 1;
        leave_row(rows, temp, thid);
    }
    if (thid == 0) {
        temp[values - 1] = 0;
    }
    leave_row(rows, temp, thid);
    for (unsigned d = 1; d < values; d *= 2) {
        offset >>= 1;
        if (thid < d) {
            const int ai = offset * (2 * static_cast<int>(thid) + 1) - 1;
            const int bi = offset * (2 * static_cast<int>(thid) + 2) - 1;
            const int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
        leave_row(rows, temp, thid);
    }
}

// The inclusive form: up as before, then each sum of the tree is added to the value half its span after it.
__global__ void rows_of_post_scan(int* rows, const int* input) {
    __shared__ int xy[values];
    const unsigned tid = threadIdx.x;
    xy[2 * tid] = input[2 * tid];
    xy[2 * tid + 1] = input[2 * tid + 1];
    for (unsigned stride = 1; stride < values; stride *= 2) {
        __syncthreads();
        const unsigned index = (tid + 1) * stride * 2 - 1;
        if (index < values) {
            xy[index] += xy[index - stride];
        }
    }
    leave_row(rows, xy, tid);
    for (unsigned stride = values / 4; stride > 0; stride /= 2) {
        const unsigned index = (tid + 1) * stride * 2 - 1;
        if (index + stride < values) {
            xy[index + stride] += xy[index];
        }
        leave_row(rows, xy, tid);
    }
}

struct span_of {
    int first, last; // x_first..x_last; nothing where last is below first
};
constexpr span_of one(int k) { return {k, k}; }
constexpr span_of nothing{0, -1};
using row = std::array<span_of, values>;

// As drawn on the slides.
constexpr std::array<row, 10> drawn{{
    // d = 0, 1, 2 up
    {one(0), {0, 1}, one(2), {2, 3}, one(4), {4, 5}, one(6), {6, 7}},
    {one(0), {0, 1}, one(2), {0, 3}, one(4), {4, 5}, one(6), {4, 7}},
    {one(0), {0, 1}, one(2), {0, 3}, one(4), {4, 5}, one(6), {0, 7}},
    // "Zero", and down
    {one(0), {0, 1}, one(2), {0, 3}, one(4), {4, 5}, one(6), nothing},
    {one(0), {0, 1}, one(2), nothing, one(4), {4, 5}, one(6), {0, 3}},
    {one(0), nothing, one(2), {0, 1}, one(4), {0, 3}, one(6), {0, 5}},
    {nothing, one(0), {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}},
    // reduction, and two post-scan steps
    {one(0), {0, 1}, one(2), {0, 3}, one(4), {4, 5}, one(6), {0, 7}},
    {one(0), {0, 1}, one(2), {0, 3}, one(4), {0, 5}, one(6), {0, 7}},
    {one(0), {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}},
}};
constexpr unsigned prescan_rows = 7;

// j 2^(k+1) - 1 and j 2^(k+1) - 2^k - 1, level by level, as printed.
constexpr std::array<std::int32_t, 2 * levels * values / 2> printed_indices{1, 3, 5, 7, 3, 7, -1, -1, 7, -1, -1, -1,
                                                                            0, 2, 4, 6, 1, 5, -1, -1, 3, -1, -1, -1};

std::int32_t sum_of(const span_of& s) {
    std::int32_t sum = 0;
    for (int i = s.first; i <= s.last; ++i) {
        sum += 1 << i;
    }
    return sum;
}

engine::sample of_the_slides(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> in;
    for (unsigned i = 0; i < values; ++i) {
        in.push_back(1 << i);
    }
    std::vector<std::int32_t> right;
    for (const row& r : drawn) {
        for (const span_of& s : r) {
            right.push_back(sum_of(s));
        }
    }
    right.insert(right.end(), printed_indices.begin(), printed_indices.end());
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run(const engine::stage& on) {
    int* const rows = on.output<int>();
    engine::launch(on, "rows_of_prescan", rows_of_prescan, 1, values / 2, 0, rows, rows + drawn.size() * values,
                   on.input<int>());
    engine::launch(on, "rows_of_post_scan", rows_of_post_scan, 1, values / 2, 0, rows + prescan_rows * values,
                   on.input<int>());
}

// "x0..x3" of a sum of powers of two that lie side by side.
std::string in_words(std::int32_t sum) {
    if (sum == 0) {
        return "0";
    }
    int first = 0;
    while ((sum >> first & 1) == 0) {
        ++first;
    }
    int last = first;
    while ((sum >> (last + 1) & 1) != 0) {
        ++last;
    }
    std::string text = "x";
    text += std::to_string(first);
    if (last != first) {
        text += "..x";
        text += std::to_string(last);
    }
    return text;
}

// Refuted by the row before it in its place.
engine::check row_as_drawn(unsigned which) {
    const engine::check as_drawn = [which](const engine::evidence& e) {
        const auto here = engine::view<std::int32_t>(e.result).subspan(which * values, values);
        bool same = true;
        std::string figure;
        for (unsigned k = 0; k < values; ++k) {
            same = same && here[k] == sum_of(drawn[which][k]);
            figure += (k == 0 ? "" : ", ") + in_words(here[k]);
        }
        return seen(same, figure);
    };
    return as_drawn.refuted_by(engine::planted("the row before it", [which](engine::altered_evidence& e) {
        constexpr std::size_t row_bytes = values * sizeof(std::int32_t);
        std::memcpy(e.result.data() + which * row_bytes, e.result.data() + (which - 1) * row_bytes, row_bytes);
    }));
}

verdict indices_as_printed(const engine::evidence& e) {
    const auto all = engine::view<std::int32_t>(e.result).subspan(drawn.size() * values);
    std::string figure;
    for (unsigned level = 0; level < 2 * levels; ++level) {
        figure += level == 0 ? "" : level == levels ? " and " : "; ";
        for (unsigned k = 0; k < values / 2; ++k) {
            const auto index = all[level * values / 2 + k];
            if (index >= 0) {
                figure += k == 0 ? "" : " ";
                figure += std::to_string(index);
            }
        }
    }
    return seen(std::equal(all.begin(), all.end(), printed_indices.begin(), printed_indices.end()), figure);
}

// What the threads would have that are multiples of the stride: their own places, not those after them.
void one_place_lower(engine::altered_evidence& e) {
    for (std::size_t k = drawn.size() * values; k < e.result.size() / sizeof(std::int32_t); ++k) {
        std::int32_t index = 0;
        std::memcpy(&index, e.result.data() + k * sizeof index, sizeof index);
        index -= index > 0 ? 1 : 0;
        std::memcpy(e.result.data() + k * sizeof index, &index, sizeof index);
    }
}

constexpr const char* second = "759, Parallel Scan Algorithm: Solution #2";
constexpr const char* down = "759, The Down-Sweep Phase";
constexpr const char* post = "Parallel patterns, Inclusive Post Scan Step";

} // namespace

engine::step_definition trees_of_eight() {
    return {
        .about = {"trees", "the slides' trees of eight values", "ladder/scan/05_example.cu",
                  "what stands in shared memory after each level", second},
        .data = of_the_slides,
        .run = run,
        .size = [](std::uint64_t) { return std::uint64_t{values}; },
        .claims = {
            {"the lead elements' indices j 2^(k+1) - 1 are 1 3 5 7, 3 7 and 7, their mates' 0 2 4 6, 1 5 and 3",
             "759, Picture and Pseudocode",
             engine::check(indices_as_printed).refuted_by(engine::planted("each index one lower", one_place_lower))},
            {"the root holds the sum of all leaves", "759, A common parallel algorithm pattern: Balanced Trees",
             row_as_drawn(2)},
            {"in the end x0, (x0..x1), ..., (x0..x6) behind a zero", down, row_as_drawn(6)},
            {"after the reduction step: in place, the last value is the final one",
             "Parallel patterns, Parallel Scan - Reduction Step", row_as_drawn(7)},
            {"the post-scan step completes x0..x5, and then x0..x2, x0..x4 and x0..x6", post, row_as_drawn(9)}}};
}

} // namespace warpfold::ladder::scan

// SPDX-License-Identifier: MIT
// Scan, the lectures' example: eight values, iteration by iteration, and the exclusive scan of the same. (Parallel patterns "A
// Parallel Inclusive Scan Algorithm", "Inclusive Scan", "Scan / Parallel Prefix Sum".)
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned values = 8;
constexpr unsigned iterations = 3;

// rows: what the buffers hold after each iteration; behind them the exclusive scan, by a shift of the input.
__global__ void rows_of_a_scan(int* rows, const int* input) {
    __shared__ int buffer[2][values];
    const unsigned tid = threadIdx.x;
    for (const bool exclusive : {false, true}) {
        unsigned from = 0;
        buffer[from][tid] = !exclusive ? input[tid] : tid == 0 ? 0 : input[tid - 1];
        __syncthreads();
        for (unsigned stride = 1; stride < values; stride *= 2) {
            const unsigned to = 1 - from;
            buffer[to][tid] = buffer[from][tid] + (tid >= stride ? buffer[from][tid - stride] : 0);
            __syncthreads();
            from = to;
            if (!exclusive || 2 * stride >= values) {
                rows[tid] = buffer[from][tid];
                rows += values;
            }
        }
        __syncthreads();
    }
}

// As printed on the slides.
constexpr std::array<std::int32_t, values> printed{3, 1, 7, 0, 4, 1, 6, 3};
constexpr std::array<std::array<std::int32_t, values>, iterations + 1> printed_rows{{
    {3, 4, 8, 7, 4, 5, 7, 9},
    {3, 4, 11, 11, 12, 12, 11, 14},
    {3, 4, 11, 11, 15, 16, 22, 25},
    {0, 3, 4, 11, 11, 15, 16, 22},
}};

engine::sample of_the_slide(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right;
    for (const auto& row : printed_rows) {
        right.insert(right.end(), row.begin(), row.end());
    }
    return {n, {engine::bytes_of(std::vector<std::int32_t>(printed.begin(), printed.end()))}, engine::bytes_of(right)};
}

std::string row_in_words(const engine::evidence& e, unsigned row) {
    const auto all = engine::view<std::int32_t>(e.result);
    std::vector<double> row_values;
    for (unsigned k = 0; k < values; ++k) {
        row_values.push_back(all[row * values + k]);
    }
    return list(row_values, 0);
}

engine::check rows_as_printed(unsigned first, unsigned last) {
    return [first, last](const engine::evidence& e) {
        std::string figure;
        bool same = true;
        for (unsigned row = first; row <= last; ++row) {
            const auto here = engine::view<std::int32_t>(e.result).subspan(row * values, values);
            same = same && std::equal(here.begin(), here.end(), printed_rows[row].begin());
            figure += (row == first ? "" : "; ") + row_in_words(e, row);
        }
        return seen(same, figure);
    };
}

// Row `from` of the result in the place of row `to`.
engine::counterexample row_in_place(std::string what, unsigned from, unsigned to) {
    return engine::planted(std::move(what), [from, to](engine::altered_evidence& e) {
        constexpr std::size_t row_bytes = values * sizeof(std::int32_t);
        std::memcpy(e.result.data() + to * row_bytes, e.result.data() + from * row_bytes, row_bytes);
    });
}

} // namespace

engine::step_definition eight_values() {
    return {.about = {"eight", "the lecture's eight values", "ladder/scan/02_example.cu",
                      "Hillis and Steele, iteration by iteration", "Parallel patterns, A Parallel Scan Algorithm"},
            .data = of_the_slide,
            .run =
                [](const engine::stage& on) {
                    engine::launch(on, "rows_of_a_scan", rows_of_a_scan, 1, values, 0, on.output<int>(),
                                   on.input<int>());
                },
            .size = [](std::uint64_t) { return std::uint64_t{values}; },
            .claims = {{"3 1 7 0 4 1 6 3 becomes 3 4 11 11 15 16 22 25, by way of the buffers T1, T0 and T1",
                        "Parallel patterns, A Parallel Scan Algorithm",
                        rows_as_printed(0, iterations - 1).refuted_by(row_in_place("no second iteration", 0, 1))},
                       {"its exclusive scan is 0 3 4 11 11 15 16 22", "Parallel patterns, Scan / Parallel Prefix Sum",
                        rows_as_printed(iterations, iterations)
                            .refuted_by(row_in_place("the inclusive scan", iterations - 1, iterations))}}};
}

} // namespace warpfold::ladder::scan

// SPDX-License-Identifier: MIT
// All ladders, in their order: what the command lists and parses before it loads any. The library of a ladder is
// libwarpfold_ladder_NAME.so.
#pragma once

#include <array>
#include <cstdint>

#include "ladder/engine/definition/parameters.hpp"

namespace warpfold::ladder {

struct catalogue_entry {
    const char* name;
    const char* summary;
    parameter_set takes{};
    // n in `warpfold ladder all` and `warpfold explain`; 0: the ladder's own default.
    std::uint64_t brief_n_counted = 0; // on the software GPU
    std::uint64_t brief_n_timed = 0;   // on a GPU
};

inline constexpr std::array<catalogue_entry, 12> catalogue{{
    {"reduce",
     "many values to one: sum, min, max, product, from the first kernel of the lectures to CUB",
     {.block = true, .type = true, .op = true, .finish = true},
     1u << 16,
     1u << 24},
    {"scan", "all running totals of an array: Hillis and Steele, balanced trees, look-back, to CUB"},
    {"histogram", "counts by bin: sections, interleaved, atomics, private copies, to CUB"},
    {"convolution", "weighted sums of neighbours: masks in constant memory, tiles, halos, one and two dimensions"},
    {"memory", "a laboratory: access patterns, structures, stores, wide copies, constant, local and read-only memory"},
    {"shared", "a laboratory: banks, strides, broadcasts, widths, volatile, ways to set shared memory aside"},
    {"matmul", "matrix products: naive, one tile, both in tiles, square ones"},
    {"transpose", "rows to columns: naive, through a tile, through a padded tile"},
    {"warps", "a laboratory: divergence, packing, unrolling, selections, shuffles, order and waiting in a warp"},
    {"occupancy", "a laboratory: the calculator, latency and throughput of arithmetic and memory, bytes in flight"},
    {"streams",
     "a laboratory: copies and kernels at the same time, timelines, events, default streams, host functions"},
    {"errors", "a laboratory: what the runtime answers to bad launches, to what does not fit and to crashes, and when"},
}};

} // namespace warpfold::ladder

// SPDX-License-Identifier: MIT
// The ladders and laboratories there are beside `reduce`: what the command lists before it loads any.
#pragma once

#include <array>

namespace warpfold::ladder {

struct catalogue_entry {
    const char* name;
    const char* summary;
};

inline constexpr std::array<catalogue_entry, 11> catalogue{{
    {"scan", "all running totals of an array: Hillis and Steele, balanced trees, look-back, to CUB"},
    {"histogram", "counts by bin: sections, interleaved, atomics, private copies, to CUB"},
    {"convolution", "weighted sums of neighbours: masks in constant memory, tiles, halos, one and two dimensions"},
    {"memory", "a laboratory: access patterns, structures, stores, wide copies, constant, local and read-only memory"},
    {"shared", "a laboratory: banks, strides, broadcasts, widths, volatile, ways to set shared memory aside"},
    {"matmul", "matrix products: naive, one tile, both in tiles, square ones"},
    {"transpose", "rows to columns: naive, through a tile, through a padded tile"},
    {"warps", "a laboratory: divergence, packing, unrolling, selections, shuffles, order and waiting in a warp"},
    {"occupancy", "a laboratory: the calculator, latency and throughput of arithmetic and memory, bytes in flight"},
    {"streams", "a laboratory: copies and kernels at the same time, timelines, events, default streams, host functions"},
    {"errors", "a laboratory: what the runtime answers to bad launches, to what does not fit and to crashes, and when"},
}};

} // namespace warpfold::ladder

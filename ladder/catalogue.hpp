// SPDX-License-Identifier: MIT
// The ladders and laboratories there are beside `reduce`: what the command lists before it loads any.
#pragma once

#include <array>

namespace warpfold::ladder {

struct catalogue_entry {
    const char* name;
    const char* summary;
};

inline constexpr std::array<catalogue_entry, 3> catalogue{{
    {"scan", "all running totals of an array: Hillis and Steele, balanced trees, look-back, to CUB"},
    {"histogram", "counts by bin: sections, interleaved, atomics, private copies, to CUB"},
    {"convolution", "weighted sums of neighbours: masks in constant memory, tiles, halos, one and two dimensions"},
}};

} // namespace warpfold::ladder

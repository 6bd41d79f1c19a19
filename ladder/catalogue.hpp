// SPDX-License-Identifier: MIT
// The ladders and laboratories there are beside `reduce`: what the command lists before it loads any.
#pragma once

#include <array>

namespace warpfold::ladder {

struct catalogue_entry {
    const char* name;
    const char* summary;
};

inline constexpr std::array<catalogue_entry, 1> catalogue{{
    {"scan", "all running totals of an array: Hillis and Steele, balanced trees, look-back, to CUB"},
}};

} // namespace warpfold::ladder

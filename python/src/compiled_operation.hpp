// SPDX-License-Identifier: MIT
// Operations of users, which warpfold/_expression compiles for the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"

namespace warpfold::python {

// Computes elements [begin, end) of `out` from arrays without gaps, or, of a reduction, the result of this part.
using compiled_operation = void(std::uint64_t begin, std::uint64_t end, const char* const* arrays, char* out);

// run() for parts of `part` elements, on all cores.
inline void run_parts(compiled_operation* run, std::uint64_t size, std::uint64_t part,
                      const std::vector<const char*>& arrays, char* out) {
    detail::parallel_for(host{}.threads, (size + part - 1) / part,
                         [&](std::uint64_t k) { run(k * part, std::min(size, (k + 1) * part), arrays.data(), out); });
}

} // namespace warpfold::python

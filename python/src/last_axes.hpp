// SPDX-License-Identifier: MIT
// The axes of reductions: those that the array has behind the results'.
#pragma once

#include <numeric>
#include <vector>

#include "python/src/array.hpp"
#include "warpfold/along_axis.hpp"

namespace warpfold::python {

inline axes last_axes(const array& in, const array& out) {
    std::vector<int> last(in.shape.size() - out.shape.size());
    std::iota(last.begin(), last.end(), static_cast<int>(out.shape.size()));
    return axes(last);
}

} // namespace warpfold::python

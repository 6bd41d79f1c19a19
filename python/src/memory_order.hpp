// SPDX-License-Identifier: MIT
// How the elements of an array lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "python/src/array.hpp"

namespace warpfold::python {

// Whether elements follow each other without gaps, at a multiple of their size.
[[nodiscard]] inline bool is_plain(const array& of) {
    const std::int64_t bytes = size_of(of.type);
    return (of.size() == 0 || of.at.is_contiguous(bytes)) &&
           reinterpret_cast<std::uintptr_t>(of.data) % static_cast<std::uintptr_t>(bytes) == 0;
}

// The same elements in the order in which they lie in memory, for results that do not depend on the order of the caller's. None if
// the array has this order. Axes of one element are left out.
[[nodiscard]] inline std::optional<array> in_memory_order(const array& of) {
    std::vector<layout::axis> axes = of.at.axes();
    std::int64_t first = 0; // in bytes
    bool is_changed = false;
    for (layout::axis& one : axes) {
        if (one.stride < 0) {
            first += static_cast<std::int64_t>(one.extent - 1) * one.stride;
            one.stride = -one.stride;
            is_changed = true;
        }
    }
    // Repeated elements, of stride 0, come first: others have neighbours.
    const auto is_outer = [](const layout::axis& a, const layout::axis& b) {
        return a.stride == 0 ? b.stride != 0 : b.stride != 0 && a.stride > b.stride;
    };
    if (!is_changed && std::is_sorted(axes.begin(), axes.end(), is_outer)) {
        return std::nullopt;
    }
    std::stable_sort(axes.begin(), axes.end(), is_outer);
    std::vector<std::int64_t> shape, strides;
    for (const layout::axis& one : axes) {
        shape.push_back(static_cast<std::int64_t>(one.extent));
        strides.push_back(one.stride);
    }
    return array(of.data + first, of.type, std::move(shape), std::move(strides));
}

} // namespace warpfold::python

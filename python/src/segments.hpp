// SPDX-License-Identifier: MIT
// Segments of an array that are read without conversions: one element behind the other, or side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "python/src/array.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::python {

inline constexpr std::uint64_t part_size = std::uint64_t{1} << 16; // elements that a thread takes at a time, about
inline constexpr std::uint64_t most_columns = 256;

// work(unit) for each unit of `elements` elements, on all cores.
template <class Work>
void for_groups(std::uint64_t units, std::uint64_t elements, const Work& work) {
    const std::uint64_t together = std::max<std::uint64_t>(1, part_size / std::max<std::uint64_t>(1, elements));
    detail::parallel_for(host{}.threads, (units + together - 1) / together, [&](std::uint64_t group) {
        for (std::uint64_t unit = group * together; unit < std::min(units, (group + 1) * together); ++unit) {
            work(unit);
        }
    });
}

// True if the array's last axis is the segments, and `axis` from the last one has no gaps.
template <class T>
bool is_dense(const array& in, std::uint64_t length, std::size_t axis) {
    return in.view<const T>(in.type) && in.shape.size() >= axis &&
           static_cast<std::uint64_t>(in.shape.back()) == length &&
           in.strides[in.strides.size() - axis] == static_cast<std::int64_t>(sizeof(T));
}

template <class T>
struct rows {
    const T* operator()(std::uint64_t s) const {
        return reinterpret_cast<const T*>(in->data + in->at.offset(s * length));
    }

    const array* in;
    std::uint64_t length;
};

// The segments, if the elements of each are neighbours.
template <class T>
std::optional<rows<T>> rows_of(const array& in, std::uint64_t length) {
    if (in.contiguous<const T>(in.type) == nullptr && !is_dense<T>(in, length, 1)) {
        return std::nullopt;
    }
    return rows<T>{&in, length};
}

// If the first elements of neighbouring segments are neighbours: work(from, step, first, width) for groups of segments
// [first, first + width), with element k of the first one at from[k * step]. Else false.
template <class T, class Work>
bool for_columns(const array& in, std::uint64_t length, const Work& work) {
    constexpr std::uint64_t worthwhile = 8;
    if (!is_dense<T>(in, length, 2) || in.shape[in.shape.size() - 2] < static_cast<std::int64_t>(worthwhile)) {
        return false;
    }
    const std::uint64_t inner = in.shape[in.shape.size() - 2];
    const std::uint64_t groups = (inner + most_columns - 1) / most_columns;
    const std::int64_t step = in.strides.back() / static_cast<std::int64_t>(sizeof(T));
    for_groups(in.size() / length / inner * groups, length * std::min(inner, most_columns), [&](std::uint64_t unit) {
        const std::uint64_t column = unit % groups * most_columns, first = unit / groups * inner + column;
        const T* const from = reinterpret_cast<const T*>(in.data + in.at.offset(first * length));
        detail::with_widest_vectors([&] {
            work(from, step, first, std::min(most_columns, inner - column));
            return 0;
        });
    });
    return true;
}

} // namespace warpfold::python

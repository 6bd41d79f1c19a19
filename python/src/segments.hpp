// SPDX-License-Identifier: MIT
// Segments of an array that are read without conversions: one element behind the other, or side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include "python/src/array.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::python {

inline constexpr std::uint64_t part_size = std::uint64_t{1} << 16; // elements that a thread takes at a time, about
inline constexpr std::uint64_t most_columns = 256;

// Elements that are compared side by side.
template <class T>
inline constexpr std::uint64_t lanes = sizeof(T) == 1                                   ? 128
                                       : sizeof(T) <= 4 && !std::is_floating_point_v<T> ? 64
                                                                                        : 32;
// As wide as T: comparisons of vectors give such numbers.
template <class T>
using flag = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

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
    const bool is_dense = in.view<const T>(in.type) && !in.shape.empty() &&
                          static_cast<std::uint64_t>(in.shape.back()) == length &&
                          in.strides.back() == static_cast<std::int64_t>(sizeof(T));
    if (in.contiguous<const T>(in.type) == nullptr && !is_dense) {
        return std::nullopt;
    }
    return rows<T>{&in, length};
}

// The same elements of neighbouring segments. IsDense: they are neighbours, too.
template <class T, bool IsDense>
class columns {
public:
    columns(const T* from, std::int64_t step, std::int64_t apart, std::uint64_t width)
        : from_(from), step_(step), apart_(apart), width_(width) {}

    // Element k of each; they may be in `room`.
    const T* operator()(std::uint64_t k, T* room) const {
        const T* const first = from_ + static_cast<std::int64_t>(k) * step_;
        if constexpr (IsDense) {
            return first;
        }
        for (std::uint64_t c = 0; c < width_; ++c) {
            room[c] = first[static_cast<std::int64_t>(c) * apart_];
        }
        return room;
    }

private:
    const T* from_;
    std::int64_t step_, apart_;
    std::uint64_t width_;
};

// If the last axis is the segments, and elements of neighbouring segments are closer than those of one:
// work(columns, first, width) for groups of segments [first, first + width). Else false.
template <class T, class Work>
bool for_columns(const array& in, std::uint64_t length, const Work& work) {
    constexpr std::int64_t worthwhile = 8;
    if (!in.view<const T>(in.type) || in.shape.size() < 2 || static_cast<std::uint64_t>(in.shape.back()) != length ||
        in.shape.end()[-2] < worthwhile || std::abs(in.strides.end()[-2]) >= std::abs(in.strides.back())) {
        return false;
    }
    const auto inner = static_cast<std::uint64_t>(in.shape.end()[-2]);
    const std::uint64_t groups = (inner + most_columns - 1) / most_columns;
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t step = in.strides.back() / bytes, apart = in.strides.end()[-2] / bytes;
    for_groups(in.size() / length / inner * groups, length * std::min(inner, most_columns), [&](std::uint64_t unit) {
        const std::uint64_t column = unit % groups * most_columns, first = unit / groups * inner + column;
        const T* const from = reinterpret_cast<const T*>(in.data + in.at.offset(first * length));
        const std::uint64_t width = std::min(most_columns, inner - column);
        detail::with_widest_vectors([&] {
            apart == 1 ? work(columns<T, true>(from, step, apart, width), first, width)
                       : work(columns<T, false>(from, step, apart, width), first, width);
            return 0;
        });
    });
    return true;
}

} // namespace warpfold::python

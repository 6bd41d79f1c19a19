// SPDX-License-Identifier: MIT
// Arrays of all layouts with sets of their axes, and the elements of each result one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "warpfold/strided_view.hpp"

namespace warpfold::tests {

// A view into an array of `room` elements whose element 0, ..., 0 is at `first`, and a set of axes.
struct axis_case {
    std::vector<std::uint64_t> extents;
    std::vector<std::int64_t> strides;
    std::vector<int> axes;
    std::uint64_t room = 1, first = 0;

    template <class T>
    [[nodiscard]] strided_view<T> view(T* data) const {
        return {data + first, std::span<const std::uint64_t>(extents), std::span<const std::int64_t>(strides)};
    }
    [[nodiscard]] bool reduces(unsigned d) const {
        return std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end() ||
               std::find(axes.begin(), axes.end(), static_cast<int>(d) - static_cast<int>(extents.size())) !=
                   axes.end();
    }
    [[nodiscard]] std::vector<std::uint64_t> kept() const {
        std::vector<std::uint64_t> some;
        for (unsigned d = 0; d < extents.size(); ++d) {
            if (!reduces(d)) {
                some.push_back(extents[d]);
            }
        }
        return some;
    }
    [[nodiscard]] std::string name() const {
        std::string text;
        const auto list = [&](const char* what, const auto& numbers) {
            text += what;
            for (const auto number : numbers) {
                text += ' ';
                text += std::to_string(number);
            }
        };
        list("extents", extents);
        list(", strides", strides);
        list(", axes", axes);
        return text;
    }

    // The places in the array of the elements of each result, in the order of their index; results row-major.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> elements() const {
        std::vector<std::vector<std::uint64_t>> all(1);
        all[0].push_back(first);
        // Kept axes first, then the reduced ones, each from the first to the last.
        for (unsigned d = 0; d < extents.size(); ++d) {
            if (reduces(d)) {
                continue;
            }
            std::vector<std::vector<std::uint64_t>> next;
            for (const auto& one : all) {
                for (std::uint64_t k = 0; k < extents[d]; ++k) {
                    next.push_back({one[0] + k * static_cast<std::uint64_t>(strides[d])});
                }
            }
            all = std::move(next);
        }
        for (unsigned d = 0; d < extents.size(); ++d) {
            if (!reduces(d)) {
                continue;
            }
            for (auto& one : all) {
                std::vector<std::uint64_t> next;
                next.reserve(one.size() * extents[d]);
                for (const std::uint64_t place : one) {
                    for (std::uint64_t k = 0; k < extents[d]; ++k) {
                        next.push_back(place + k * static_cast<std::uint64_t>(strides[d]));
                    }
                }
                one = std::move(next);
            }
        }
        return all;
    }
};

// An array of `extents` whose axis order[0] is the outermost in memory. `padding` elements lie between rows of the
// innermost axis, whose neighbours are `apart` elements apart. Bit d of `turned`: axis d runs backwards; of `broadcast`:
// it has stride 0. `skip` elements precede the array.
inline axis_case make_axis_case(std::vector<std::uint64_t> extents, const std::vector<unsigned>& order,
                                std::vector<int> axes, std::uint64_t padding = 0, std::uint64_t apart = 1,
                                unsigned turned = 0, unsigned broadcast = 0, std::uint64_t skip = 0) {
    axis_case made;
    made.strides.resize(extents.size());
    made.first = skip;
    std::uint64_t next = apart;
    for (std::size_t k = order.size(); k-- > 0;) {
        const unsigned d = order[k];
        if ((broadcast >> d & 1u) != 0) {
            continue;
        }
        const std::uint64_t extent = std::max<std::uint64_t>(1, extents[d]);
        made.strides[d] = static_cast<std::int64_t>(next);
        if ((turned >> d & 1u) != 0) {
            made.first += next * (extent - 1);
            made.strides[d] = -made.strides[d];
        }
        next *= extent;
        if (k + 1 == order.size()) {
            next += padding;
        }
    }
    made.room = next + skip;
    made.extents = std::move(extents);
    made.axes = std::move(axes);
    return made;
}

// Row-major.
inline axis_case make_axis_case(std::vector<std::uint64_t> extents, std::vector<int> axes) {
    std::vector<unsigned> order(extents.size());
    std::iota(order.begin(), order.end(), 0u);
    return make_axis_case(std::move(extents), order, std::move(axes));
}

// Every subset of the axes of arrays of up to 4 dimensions, and `count` random arrays of up to 8, of at most about
// `most` elements each.
inline std::vector<axis_case> small_axis_cases(unsigned count, std::uint64_t most, unsigned seed) {
    std::vector<axis_case> all;
    std::mt19937 random(seed);
    const std::vector<std::vector<std::uint64_t>> shapes{{}, {37}, {5, 8}, {4, 3, 20}, {3, 4, 2, 17}};
    for (const auto& shape : shapes) {
        for (unsigned mask = 0; mask < 1u << shape.size(); ++mask) {
            std::vector<int> axes;
            for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
                if ((mask >> d & 1u) != 0) {
                    axes.push_back(d % 2 == 0 ? d : d - static_cast<int>(shape.size()));
                }
            }
            all.push_back(make_axis_case(shape, axes));
        }
    }
    const std::uint64_t sizes[]{0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 33, 64, 97};
    for (unsigned k = 0; k < count; ++k) {
        const unsigned rank = 1 + random() % 8;
        std::vector<std::uint64_t> extents(rank);
        std::uint64_t size = 1;
        for (auto& extent : extents) {
            extent = sizes[random() % std::size(sizes)];
            if (extent == 0 && random() % 8 != 0) {
                extent = 2;
            }
            if (size * extent > most) {
                extent = 1;
            }
            size *= std::max<std::uint64_t>(extent, 1);
        }
        std::shuffle(extents.begin(), extents.end(), random);
        std::vector<unsigned> order(rank);
        std::iota(order.begin(), order.end(), 0u);
        if (random() % 3 != 0) {
            std::shuffle(order.begin(), order.end(), random);
        }
        std::vector<int> axes;
        const auto mask = static_cast<unsigned>(random());
        for (unsigned d = rank; d-- > 0;) {
            if ((mask >> d & 1u) != 0) {
                axes.push_back(static_cast<int>(d));
            }
        }
        const unsigned turned = random() % 2 == 0 ? 0 : random() % 256,
                       broadcast = random() & random() & random() & 255u;
        all.push_back(make_axis_case(extents, order, axes, random() % 3 == 0 ? random() % 9 : 0,
                                     random() % 4 == 0 ? 2 : 1, turned, random() % 3 == 0 ? broadcast : 0,
                                     random() % 5));
    }
    return all;
}

// Where results have places of their own other than row-major: axes in the reverse order, with a gap; `first` of them
// precede the place of result 0.
struct output_layout {
    explicit output_layout(const std::vector<std::uint64_t>& extents_) : extents(extents_), strides(extents_.size()) {
        std::uint64_t next = 2;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            strides[d] = (d % 2 == 0 ? -1 : 1) * static_cast<std::int64_t>(next);
            first += d % 2 == 0 && extents[d] != 0 ? next * (extents[d] - 1) : 0;
            next *= std::max<std::uint64_t>(1, extents[d]);
        }
        room = next + 1;
    }
    template <class R>
    [[nodiscard]] strided_view<R> view(R* data) const {
        return {data + first, std::span<const std::uint64_t>(extents), std::span<const std::int64_t>(strides)};
    }
    // Of result k, row-major.
    [[nodiscard]] std::uint64_t place(std::uint64_t k) const {
        auto at = static_cast<std::int64_t>(first);
        for (std::size_t d = extents.size(); d-- > 0;) {
            at += strides[d] * static_cast<std::int64_t>(k % extents[d]);
            k /= extents[d];
        }
        return static_cast<std::uint64_t>(at);
    }

    std::vector<std::uint64_t> extents;
    std::vector<std::int64_t> strides;
    std::uint64_t room = 1, first = 0;
};

} // namespace warpfold::tests

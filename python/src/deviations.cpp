// SPDX-License-Identifier: MIT
// Sums of squared deviations and of magnitudes.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "python/src/plain_bools.hpp"
#include "python/src/segments.hpp"
#include "python/src/sums_of_rows.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

struct magnitude {
    template <class T>
    T operator()(T x) const {
        return std::abs(x);
    }
};

template <class T>
bool magnitudes_as(element type, const array& in, const array& out) {
    const auto from = in.view<const T>(type);
    const auto to = out.view<T>(type);
    if (from && to) {
        transform_reduce_along(host{}, *from, last_axes(in, out), *to, magnitude{});
    }
    return from && to;
}

template <class A>
struct squared_deviation {
    template <class T>
    A operator()(T x) const {
        const A deviation = static_cast<A>(x) - mean;
        return deviation * deviation;
    }

    A mean;
};

template <class A>
struct squares {
    A operator[](std::uint64_t k) const {
        const A deviation = from[k] - means[k / length];
        return from.is_chosen(k) ? deviation * deviation : A{0};
    }
    void read(std::uint64_t first, std::uint64_t count, A* to) const {
        from.read_all(first, count, to);
        for (std::uint64_t k = 0; k < count;) {
            const std::uint64_t s = (first + k) / length, end = std::min(count, (s + 1) * length - first);
            std::transform(to + k, to + end, to + k, squared_deviation<A>{means[s]});
            k = end;
        }
        from.leave_out(first, count, to, A{0});
    }

    elements<A> from;
    const A* means;
    std::uint64_t length;
};

// Without conversions of single elements, if the segments allow it.
template <class T, class A>
bool deviations_fast(const array& in, std::uint64_t length, const A* means, const array& out) {
    const results<A> to(out);
    if (const auto row = rows_of<T>(in, length)) {
        sum_parts_of_rows(length, to, out.size(), [&](std::uint64_t s, std::uint64_t begin, std::uint64_t end) {
            return detail::fold_in_lanes<A>((*row)(s), begin, end, squared_deviation<A>{means[s]}, sum{});
        });
        return true;
    }
    return for_columns<T>(in, length, [&](const auto& from, std::uint64_t first, std::uint64_t width) {
        A mean[most_columns], total[most_columns];
        T room[most_columns];
        std::copy_n(means + first, width, mean);
        detail::joined_rows<A, sum, most_columns, 32> sums(total, width);
        sums.add(length, [&](std::uint64_t begin, std::uint64_t count, A* __restrict added) {
            for (std::uint64_t k = begin; k < begin + count; ++k) {
                const T* const x = from(k, room);
                for (std::uint64_t c = 0; c < width; ++c) {
                    added[c] += squared_deviation<A>{mean[c]}(x[c]);
                }
            }
        });
        sums.finish();
        for (std::uint64_t c = 0; c < width; ++c) {
            to[first + c] = total[c];
        }
    });
}

template <class A>
void deviations(const array& in, std::uint64_t length, const array* mask, const A* means, const array& out) {
    const auto fast = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_same_v<A, double> || std::is_same_v<A, T>) {
            return deviations_fast<T>(in, length, means, out);
        } else {
            return false; // rare
        }
    };
    if (mask != nullptr || !with_plain_type(in.type, fast)) {
        segmented_reduce(host{}, squares<A>{elements<A>(in, mask), means, length}, equal_segments{length}, out.size(),
                         results<A>(out));
    }
}

} // namespace

void squared_deviations(element fold, const array& in, std::uint64_t length, const array* mask, const array& means,
                        const array& out) {
    if (out.size() == 0 || length == 0) {
        return;
    }
    with_plain_bools(in, [&](const array& plain) {
        if (fold == element::float32) {
            deviations(plain, length, mask, means.required<const float>(fold), out);
        } else {
            deviations(plain, length, mask, means.required<const double>(fold), out);
        }
    });
}

bool sum_magnitudes(const array& in, const array& out) {
    return magnitudes_as<float>(element::float32, in, out) || magnitudes_as<double>(element::float64, in, out);
}

} // namespace warpfold::python

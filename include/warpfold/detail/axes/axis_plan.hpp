// SPDX-License-Identifier: MIT
// A call along axes in its simplest form: few dimensions, the innermost first.
//
// Axes of extent 1 are dropped. Axes are turned to ascending addresses and sorted by their stride in the input, unless
// an operation needs their order. Neighbours that continue each other in both of their roles become one. What is left
// of most arrays is one kept and one reduced dimension, or three.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "warpfold/error.hpp"
#include "warpfold/strided_view.hpp"

namespace warpfold::detail {

// One dimension and its strides in two roles: in the input and, of a kept one, in the output, of a reduced one, in the
// index of the element among those of a result.
struct plan_dimension {
    std::uint64_t extent = 1;
    std::int64_t in = 0;
    std::int64_t role = 0;
};

// Dimensions, innermost first, and where the first element is.
struct plan_dimensions {
    unsigned count = 0;
    std::array<plan_dimension, 8> at{};
    std::uint64_t size = 1; // the product of the extents; `count` is 0 if it is 0
    std::int64_t in_begin = 0;
    std::int64_t role_begin = 0;

    // Adds one outside all others.
    void add(const plan_dimension& one) {
        size *= one.extent;
        if (one.extent != 1) {
            at[count++] = one;
        }
    }

    // The distance of neighbours in memory; as if infinite for those at one place.
    [[nodiscard]] static std::uint64_t distance(const plan_dimension& one) {
        return one.in == 0 ? std::numeric_limits<std::uint64_t>::max()
                           : static_cast<std::uint64_t>(one.in < 0 ? -one.in : one.in);
    }
    [[nodiscard]] std::uint64_t inner_distance() const {
        return count == 0 ? std::numeric_limits<std::uint64_t>::max() : distance(at[0]);
    }

    void turn_and_sort() {
        for (unsigned d = 0; d < count; ++d) {
            plan_dimension& one = at[d];
            if (one.in < 0) {
                const auto last = static_cast<std::int64_t>(one.extent) - 1;
                in_begin += one.in * last;
                role_begin += one.role * last;
                one.in = -one.in;
                one.role = -one.role;
            }
            for (unsigned e = d; e > 0 && distance(at[e]) < distance(at[e - 1]); --e) {
                std::swap(at[e], at[e - 1]);
            }
        }
    }
    void merge() {
        if (size == 0) {
            count = 0;
        }
        unsigned left = 0;
        for (unsigned d = 0; d < count; ++d) {
            if (left != 0) {
                plan_dimension& inner = at[left - 1];
                const auto extent = static_cast<std::int64_t>(inner.extent);
                if (at[d].in == inner.in * extent && at[d].role == inner.role * extent) {
                    inner.extent *= at[d].extent;
                    continue;
                }
            }
            at[left++] = at[d];
        }
        count = left;
    }

    struct place {
        std::int64_t in;
        std::int64_t role;
    };
    // Of element `index`, counted innermost first.
    [[nodiscard]] place of(std::uint64_t index) const {
        place found{in_begin, role_begin};
        for (unsigned d = 0; d < count; ++d) {
            const bool last = d + 1 == count; // no division: it takes as long as ten additions
            const auto here = static_cast<std::int64_t>(last ? index : index % at[d].extent);
            found.in += here * at[d].in;
            found.role += here * at[d].role;
            index = last ? 0 : index / at[d].extent;
        }
        return found;
    }
};

struct axis_plan {
    plan_dimensions kept;    // role: in the output
    plan_dimensions reduced; // role: the index, row-major over the reduced axes

    // True if the elements of one result are closer to each other than those of neighbouring results.
    [[nodiscard]] bool by_rows() const {
        return reduced.count != 0 && reduced.inner_distance() <= kept.inner_distance();
    }
};

[[noreturn]] inline void refuse_output(const char* call) {
    throw invalid_argument(std::string("warpfold: ") + call +
                           ": the output's extents are not those of the axes that are kept");
}

// The plan of a call on `in` that reduces the axes of `mask` into `out`, whose axes are those that are kept. `any_order`:
// elements of a result may be folded in any order; `indexed`: their indices are used, else all of them are 0. Throws
// invalid_argument if extents differ.
template <class T, class R>
axis_plan plan_of_axes(const strided_view<T>& in, unsigned mask, const strided_view<R>& out, bool any_order,
                       bool indexed, const char* call) {
    axis_plan plan;
    unsigned kept_axis = out.rank;
    std::int64_t index_stride = indexed ? 1 : 0;
    for (unsigned d = in.rank; d-- > 0;) {
        if ((mask >> d & 1u) != 0) {
            plan.reduced.add({in.extents[d], in.strides[d], index_stride});
            index_stride *= static_cast<std::int64_t>(in.extents[d]);
        } else {
            if (kept_axis == 0 || out.extents[kept_axis - 1] != in.extents[d]) {
                refuse_output(call);
            }
            --kept_axis;
            plan.kept.add({in.extents[d], in.strides[d], out.strides[kept_axis]});
        }
    }
    if (kept_axis != 0) {
        refuse_output(call);
    }
    for (plan_dimensions* const some : {&plan.kept, &plan.reduced}) {
        if (some->size == 0) {
            some->count = 0;
        }
    }
    plan.kept.turn_and_sort();
    if (any_order) {
        plan.reduced.turn_and_sort();
    }
    plan.kept.merge();
    plan.reduced.merge();
    return plan;
}

// The output of a call as a view: one of the right type already, or a pointer to a row-major array.
template <class T, class R>
strided_view<R> output_of_axes(const strided_view<T>& in, unsigned mask, R* out) {
    std::array<std::uint64_t, 8> extents{};
    unsigned rank = 0;
    for (unsigned d = 0; d < in.rank; ++d) {
        if ((mask >> d & 1u) == 0) {
            extents[rank++] = in.extents[d];
        }
    }
    return {out, std::span<const std::uint64_t>(extents.data(), rank)};
}
template <class T, class R>
const strided_view<R>& output_of_axes(const strided_view<T>&, unsigned, const strided_view<R>& out) {
    return out;
}

} // namespace warpfold::detail

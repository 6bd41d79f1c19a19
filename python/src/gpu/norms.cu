// SPDX-License-Identifier: MIT
// Norms of vectors in one pass, in float64.
#include <cmath>
#include <cstdint>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"

namespace warpfold::python::on_gpu {

namespace {

template <class T>
WARPFOLD_HD double magnitude(T element) {
    return fabs(static_cast<double>(element)); // also of -0, whose negative powers are infinite
}

// Of float32: its squares are far from the limits of float64.
struct squares {
    WARPFOLD_HD double operator()(float element) const {
        const auto x = static_cast<double>(element);
        return x * x;
    }
};

struct powers {
    template <class T>
    WARPFOLD_HD double operator()(T element) const {
        return order == 1 ? magnitude(element) : pow(magnitude(element), order);
    }

    double order;
};

template <class R>
struct root {
    WARPFOLD_HD R operator()(double total) const {
        return static_cast<R>(order == 1 ? total : order == 2 ? sqrt(total) : pow(total, 1 / order));
    }

    double order;
};

// J. L. Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978: numbers whose squares would
// underflow or overflow are scaled by powers of two and added apart.
struct square_sums {
    double low, middle, high;
};

constexpr double smallest_middle = 0x1p-480, largest_middle = 0x1p480;
constexpr double enlarged = 0x1p600, reduced = 0x1p-600;

struct sorted_squares {
    WARPFOLD_HD square_sums operator()(double element) const {
        const double x = magnitude(element);
        if (x < smallest_middle) {
            return {x * enlarged * (x * enlarged), 0, 0};
        }
        if (x > largest_middle) {
            return {0, 0, x * reduced * (x * reduced)};
        }
        return {0, x * x, 0}; // NaN too
    }
};

struct add_squares {
    static constexpr bool commutative = true;

    template <class S>
    WARPFOLD_HD static constexpr S identity() {
        return {};
    }
    WARPFOLD_HD square_sums operator()(const square_sums& a, const square_sums& b) const {
        return {a.low + b.low, a.middle + b.middle, a.high + b.high};
    }
};

struct root_of_squares {
    WARPFOLD_HD double operator()(const square_sums& all) const {
        if (all.high > 0) { // low squares are below its last bit
            return sqrt(all.high + all.middle * reduced * reduced) * enlarged;
        }
        // Low squares, at most 2^60 of 2^-960, count beside middle ones below 2^-800, which do not overflow when enlarged.
        return all.low > 0 && all.middle < 0x1p-800 ? sqrt(all.low + all.middle * enlarged * enlarged) * reduced
                                                    : sqrt(all.middle);
    }
};

// Elements and results of type T.
template <class A, class T, class Map, class Op, class Root>
bool fold_powers(const gpu& on, const array& in, const array& out, const Map& map, const Op& op, const Root& last) {
    if (fold_all<A, T, T>(on, in, in.type, out, map, op, last, "norm")) {
        return true;
    }
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<T>(in.type);
    if (from && to) {
        const workspace_of_stream memory(on, along_axis_workspace(sizeof(A)));
        detail::into_axes<A, false>("norm", memory.target(), *from, last_axes(in, out), *to, map, op, last);
    }
    return from && to;
}

bool norm_of_floats(const gpu& on, double order, const array& in, const array& out) {
    return order == 2 ? fold_powers<double, float>(on, in, out, squares{}, sum{}, root<float>{order})
                      : fold_powers<double, float>(on, in, out, powers{order}, sum{}, root<float>{order});
}

bool norm_of_doubles(const gpu& on, double order, const array& in, const array& out) {
    return order == 2
               ? fold_powers<square_sums, double>(on, in, out, sorted_squares{}, add_squares{}, root_of_squares{})
               : fold_powers<double, double>(on, in, out, powers{order}, sum{}, root<double>{order});
}

} // namespace

void norm(const gpu& on, double order, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const bool is_done = in.type == element::float32   ? norm_of_floats(on, order, in, out)
                         : in.type == element::float64 ? norm_of_doubles(on, order, in, out)
                                                       : false;
    if (!is_done) {
        const auto results = static_cast<std::int64_t>(out.size());
        const temporary values(on, element::float64, {results, static_cast<std::int64_t>(length)});
        convert<double>(on, in, nullptr, 0, values.get());
        const contiguous_output<double> to(on, out);
        (void)norm_of_doubles(on, order, values.get(),
                              array(reinterpret_cast<char*>(to.data()), element::float64, {results}, {8}));
        to.finish();
    }
}

} // namespace warpfold::python::on_gpu

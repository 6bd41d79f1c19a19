// SPDX-License-Identifier: MIT
// Norms of vectors in one pass, in float64.
#include <cmath>
#include <cstdint>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/fold.cuh"

namespace warpfold::python::on_gpu {

namespace {

// J. L. Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978: numbers whose squares would
// underflow or overflow are scaled by powers of two and added apart.
struct power_sums {
    double low, middle, high;
};

constexpr double smallest_middle = 0x1p-480, largest_middle = 0x1p480;
constexpr double enlarged = 0x1p600, reduced = 0x1p-600;

struct powers {
    template <class T>
    WARPFOLD_HD power_sums operator()(T element) const {
        const double x = element < T{0} ? -static_cast<double>(element) : static_cast<double>(element);
        if (order == 1) {
            return {0, x, 0};
        }
        if (order != 2) {
            return {0, pow(x, order), 0};
        }
        if (x < smallest_middle) {
            return {x * enlarged * (x * enlarged), 0, 0};
        }
        if (x > largest_middle) {
            return {0, 0, x * reduced * (x * reduced)};
        }
        return {0, x * x, 0}; // NaN too
    }

    double order;
};

struct add_powers {
    static constexpr bool commutative = true;

    template <class S>
    WARPFOLD_HD static constexpr S identity() {
        return {};
    }
    WARPFOLD_HD power_sums operator()(const power_sums& a, const power_sums& b) const {
        return {a.low + b.low, a.middle + b.middle, a.high + b.high};
    }
};

struct root {
    WARPFOLD_HD double operator()(const power_sums& all) const {
        if (order == 1) {
            return all.middle;
        }
        if (order != 2) {
            return pow(all.middle, 1 / order);
        }
        if (all.high > 0) { // low squares are below its last bit
            return sqrt(all.high + all.middle * reduced * reduced) * enlarged;
        }
        if (all.low > 0) {
            // Low squares, at most 2^60 of 2^-960, count beside middle ones below 2^-800, which do not overflow when enlarged.
            return all.middle < 0x1p-800 ? sqrt(all.low + all.middle * enlarged * enlarged) * reduced
                                         : sqrt(all.middle);
        }
        return sqrt(all.middle);
    }

    double order;
};

template <class T>
bool norm_of(const gpu& on, double order, const array& in, const array& out) {
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<double>(element::float64);
    if (from && to) {
        detail::into_axes<power_sums, false>("norm", on, *from, last_axes(in, out), *to, powers{order}, add_powers{},
                                             root{order});
    }
    return from && to;
}

} // namespace

void norm(const gpu& on, double order, const array& in, std::uint64_t length, const array& out) {
    if (out.size() == 0) {
        return;
    }
    const bool is_done = in.type == element::float32   ? norm_of<float>(on, order, in, out)
                         : in.type == element::float64 ? norm_of<double>(on, order, in, out)
                                                       : false;
    if (!is_done) {
        const auto results = static_cast<std::int64_t>(out.size());
        const temporary values(on, element::float64, {results, static_cast<std::int64_t>(length)});
        convert<double>(on, in, nullptr, 0, values.get());
        (void)norm_of<double>(on, order, values.get(), array(out.data, out.type, {results}, {8}));
    }
}

} // namespace warpfold::python::on_gpu

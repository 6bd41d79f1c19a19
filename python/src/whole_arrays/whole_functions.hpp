// SPDX-License-Identifier: MIT
// Functions of one array without arguments beside an axis, as one call of an extension module: this takes a fraction of the
// time of the functions in Python, whose results they have.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "python/src/calls.hpp"
#include "python/src/descriptions.hpp"

namespace warpfold::python {

enum class whole : int {
    sum,
    product,
    minimum,
    maximum,
    cumulative_sum,
    cumulative_product,
    cumulative_minimum,
    cumulative_maximum,
    arg_minimum,
    arg_maximum,
    both_extremes,
    mean,
    norm,
    exact_sum,
    exact_mean, // this and the next two in the order of `moment`
    exact_variance,
    exact_norm,
    variance,
    any_nonzero,
    all_nonzero,
    number_of_nonzero
};

// Of functions of Python, in the order of `whole`.
inline constexpr std::array whole_names{"sum",    "prod",      "min",          "max",       "cumsum",     "cumprod",
                                        "cummin", "cummax",    "argmin",       "argmax",    "minmax",     "mean",
                                        "norm",   "exact_sum", "exact_mean",   "exact_var", "exact_norm", "var",
                                        "any",    "all",       "count_nonzero"};
static_assert(whole_names.size() == static_cast<std::size_t>(whole::number_of_nonzero) + 1);

// Of one of the three exact functions.
constexpr moment moment_of(whole function) {
    return static_cast<moment>(static_cast<int>(function) - static_cast<int>(whole::exact_mean));
}

// The types of results and of their computation are those of warpfold/_reductions.py and _scans.py.
constexpr element sum_type(element type) {
    return type >= element::float16 ? type : type >= element::uint8 ? element::uint64 : element::int64;
}
constexpr element fold_type(element type) {
    if (type >= element::float16) {
        return type == element::float64 ? type : element::float32;
    }
    return type >= element::int8 && type <= element::int64 ? element::int64 : element::uint64;
}

// Engine has
//   read_all(object), read(object): an array, in the former of as many axes as one likes; none for what the functions of Python
//       compute
//   has_one_axis(object, array): of the caller's array
//   make(shape, type, in): a new array in the caller's kind, and its elements
//   elements(of either)
//   finished(object, whether it has no axes): a result for the caller
//   run(in, work): work(calls) without the interpreter's lock. `calls` has reduce, scan, arg_extreme, min_max, nonzero, and number
//       for means, norms, exact sums and variances; the last two are false for what the functions of Python compute.
//   has_means: whether `calls` also has mean() of all types but float16, and that, nonzero() and number() along an axis
template <class Engine>
class whole_functions {
public:
    explicit whole_functions(Engine engine) : engine_(std::move(engine)) {}

    // Over all elements, or along `axis`. The result, or None for what the functions of Python compute: other layouts, types
    // and axes, and no elements.
    [[nodiscard]] nanobind::object call(whole function, nanobind::handle x, nanobind::handle axis) const {
        if (!axis.is_none()) {
            std::int64_t number = 0;
            const bool is_one_axis = PyLong_CheckExact(axis.ptr()) != 0 && nanobind::try_cast(axis, number);
            return is_one_axis ? along_axis(function, x, number) : nanobind::none();
        }
        const auto in = engine_.read_all(x);
        if (!in || Engine::elements(*in).size() == 0) {
            return nanobind::none();
        }
        const array& all = Engine::elements(*in);
        if (is_along_axes(function) || function > whole::variance) {
            return reduced(function, *in, {}, all.size());
        }
        if (function < whole::arg_minimum) {
            const int first = static_cast<int>(whole::cumulative_sum);
            return scanned(static_cast<operation>(static_cast<int>(function) - first), x, *in);
        }
        if (function == whole::both_extremes) {
            return extremes_of(*in);
        }
        if constexpr (!Engine::has_means) {
            if (all.type > element::float16) {
                return filled(*in, {}, all.type,
                              [&](const auto& calls, const array& out) { return calls.number(function, all, out); });
            }
        }
        return nanobind::none();
    }

private:
    // Whether reduced() computes the function along an axis.
    static constexpr bool is_along_axes(whole function) {
        return function < whole::cumulative_sum || function == whole::arg_minimum || function == whole::arg_maximum ||
               (Engine::has_means && function >= whole::mean);
    }
    // A new array with the elements that work(calls, out) computes; None if that is false.
    template <class Input, class Work>
    [[nodiscard]] nanobind::object filled(const Input& in, numbers shape, element type, const Work& work) const {
        auto made = engine_.make(std::move(shape), type, in);
        const array& out = Engine::elements(made.second);
        bool is_done = false;
        engine_.run(in, [&](const auto& calls) { is_done = work(calls, out); });
        return is_done ? engine_.finished(std::move(made.first), out.shape.empty()) : nanobind::none();
    }
    // The axes behind those of `shape` are reduced; they have `length` elements.
    template <class Input>
    [[nodiscard]] nanobind::object reduced(whole function, const Input& in, numbers shape, std::uint64_t length) const {
        const array& all = Engine::elements(in);
        if constexpr (Engine::has_means) {
            if (function == whole::mean) {
                if (all.type == element::float16) {
                    return nanobind::none();
                }
                const element type = all.type < element::float16 ? element::float64 : all.type;
                return filled(in, std::move(shape), type, [&](const auto& calls, const array& out) {
                    calls.mean(all, length, out);
                    return true;
                });
            }
            if (function > whole::mean && function <= whole::variance) {
                const bool is_of_integers = all.type < element::float16;
                const bool may_convert = function == whole::variance || function == whole::norm;
                if (all.type == element::float16 || (is_of_integers && !may_convert)) {
                    return nanobind::none();
                }
                return filled(
                    in, std::move(shape), is_of_integers ? element::float64 : all.type,
                    [&](const auto& calls, const array& out) { return calls.number(function, all, length, out); });
            }
        }
        if (function > whole::variance) {
            const bool is_number = function == whole::number_of_nonzero;
            return filled(in, std::move(shape), is_number ? element::int64 : element::boolean,
                          [&](const auto& calls, const array& out) {
                              return calls.nonzero(function == whole::all_nonzero, all, length, out);
                          });
        }
        if (function >= whole::arg_minimum) {
            return filled(in, std::move(shape), element::int64, [&](const auto& calls, const array& out) {
                calls.arg_extreme(function == whole::arg_minimum, fold_type(all.type), all, length, out);
                return true;
            });
        }
        const element type = function <= whole::product ? sum_type(all.type) : all.type;
        return filled(in, std::move(shape), type, [&](const auto& calls, const array& out) {
            calls.reduce(static_cast<operation>(function), fold_type(type), all, length, out);
            return true;
        });
    }
    [[nodiscard]] nanobind::object along_axis(whole function, nanobind::handle x, std::int64_t axis) const {
        if (!is_along_axes(function)) {
            return nanobind::none();
        }
        auto in = engine_.read(x);
        if (!in || Engine::elements(*in).size() == 0) {
            return nanobind::none();
        }
        array& all = Engine::elements(*in);
        const auto rank = static_cast<std::int64_t>(all.shape.size());
        if (axis < -rank || axis >= rank) {
            return nanobind::none();
        }
        numbers shape = all.shape, strides = all.strides;
        const auto d = axis < 0 ? axis + rank : axis;
        const auto length = static_cast<std::uint64_t>(shape[static_cast<std::size_t>(d)]);
        std::rotate(shape.begin() + d, shape.begin() + d + 1, shape.end());
        std::rotate(strides.begin() + d, strides.begin() + d + 1, strides.end());
        all = array(all.data, all.type, shape, std::move(strides));
        shape.pop_back();
        return reduced(function, *in, std::move(shape), length);
    }
    template <class Input>
    [[nodiscard]] nanobind::object scanned(operation op, nanobind::handle x, const Input& in) const {
        if (!engine_.has_one_axis(x, in)) {
            return nanobind::none();
        }
        const array& all = Engine::elements(in);
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(all.type) : all.type;
        return filled(in, all.shape, type, [&](const auto& calls, const array& out) {
            calls.scan(op, fold_type(type), all, out);
            return true;
        });
    }
    template <class Input>
    [[nodiscard]] nanobind::object extremes_of(const Input& in) const {
        const array& all = Engine::elements(in);
        auto smallest = engine_.make({}, all.type, in), largest = engine_.make({}, all.type, in);
        const array &low = Engine::elements(smallest.second), &high = Engine::elements(largest.second);
        engine_.run(in, [&](const auto& calls) { calls.min_max(fold_type(all.type), all, low, high); });
        return nanobind::make_tuple(engine_.finished(std::move(smallest.first), true),
                                    engine_.finished(std::move(largest.first), true));
    }

    Engine engine_;
};

} // namespace warpfold::python

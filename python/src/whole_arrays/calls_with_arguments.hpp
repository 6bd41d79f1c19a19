// SPDX-License-Identifier: MIT
// Functions of one NumPy array with `dtype`, `out`, `initial` and `where`, as one call. Results are those of the functions in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/lock_released.hpp"
#include "python/src/memory_order.hpp"
#include "python/src/operations.hpp"
#include "python/src/whole_arrays/host_engine.hpp"
#include "python/src/whole_arrays/whole_functions.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::python {

class calls_with_arguments {
public:
    explicit calls_with_arguments(const host_engine& engine) : engine_(&engine) {}

    // `initial` is null if it is not given. None for what the functions in Python compute or refuse.
    [[nodiscard]] nb::object call(whole function, nb::handle x, nb::handle axis, nb::handle dtype, nb::handle out,
                                  nb::handle initial, nb::handle where) const {
        const std::optional<array> read = engine_->read(x);
        if (!read || read->size() == 0) {
            return nb::none();
        }
        std::optional<std::size_t> last;
        if (!axis.is_none()) {
            last = axis_of(axis, read->shape.size());
            if (!last) {
                return nb::none();
            }
        }
        const bool is_scan = function >= whole::cumulative_sum && function <= whole::cumulative_maximum;
        if (is_scan && !last) {
            if (read->shape.size() != 1) {
                return nb::none();
            }
            last = 0;
        }
        work all{function, rotated(*read, last), {}, {}, {}, {}, 0};
        all.length = last ? static_cast<std::uint64_t>(all.in.shape.back()) : all.in.size();
        if (!where.is(Py_True)) {
            const std::optional<array> mask = engine_->read(where);
            if (!mask || mask->type != element::boolean || mask->shape != read->shape) {
                return nb::none();
            }
            all.mask = rotated(*mask, last);
        }
        std::optional<array> given;
        if (!out.is_none()) {
            given = engine_->read_output(out);
            if (!given || overlap(*given, *read) || (all.mask && overlap(*given, *all.mask))) {
                return nb::none();
            }
        }
        const std::optional<element> type = result_type(function, read->type, dtype, given);
        if (!type || (initial.is_valid() && !all.read_initial(initial, *type)) || !all.can_run()) {
            return nb::none();
        }
        numbers shape = read->shape;
        if (!is_scan) {
            last ? void(shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*last))) : shape.clear();
        }
        if (given &&
            (given->shape != shape || given->type != *type || (function == whole::mean && !is_plain(*given)))) {
            return nb::none();
        }
        std::optional<std::pair<nb::object, array>> made;
        if (!given) {
            made = engine_->make(shape, *type);
        }
        const array& results = given ? *given : made->second;
        {
            const lock_released unlocked;
            all.run(is_scan ? rotated(results, last) : results);
        }
        return given ? nb::borrow(out) : engine_->finished(made->first, shape.empty());
    }

private:
    struct work {
        whole function;
        array in; // axes that are reduced, or the one that is scanned, come last
        std::optional<array> mask;
        std::vector<std::int64_t> chosen;    // of means: the number of elements of each
        std::optional<std::int64_t> integer; // the initial value
        std::optional<double> number;
        std::uint64_t length;

        // False for what is no Python number, or none that the type holds.
        [[nodiscard]] bool read_initial(nb::handle initial, element type) {
            if (function > whole::maximum || type == element::boolean || type == element::float16) {
                return false;
            }
            std::int64_t whole_number = 0;
            const bool is_integer = PyLong_CheckExact(initial.ptr()) != 0 && nb::try_cast(initial, whole_number);
            if (type <= element::uint64) {
                integer = whole_number;
                const bool is_unsigned = type >= element::uint8;
                const auto bits = 8 * size_of(type) - (is_unsigned ? 0 : 1);
                const std::int64_t least = is_unsigned ? 0 : bits == 63 ? INT64_MIN : -(std::int64_t{1} << bits);
                const std::int64_t most = bits >= 63 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
                return is_integer && whole_number >= least && whole_number <= most;
            }
            if (is_integer) {
                number = static_cast<double>(whole_number);
                return std::int64_t{1} << 24 >= std::abs(whole_number); // exact
            }
            number = PyFloat_CheckExact(initial.ptr()) != 0 ? PyFloat_AsDouble(initial.ptr()) : 0;
            return PyFloat_CheckExact(initial.ptr()) != 0;
        }

        // False for a mask that the function does not have here, and for means and extremes that need an element.
        [[nodiscard]] bool can_run() {
            if (!mask) {
                return true;
            }
            if (function == whole::mean) {
                const lock_released unlocked;
                chosen = counts(*mask);
                return std::find(chosen.begin(), chosen.end(), 0) == chosen.end();
            }
            const bool is_extreme = function == whole::minimum || function == whole::maximum;
            return function <= whole::maximum ? !is_extreme || integer || number
                                              : function == whole::any_nonzero || function == whole::all_nonzero;
        }

        void run(const array& out) const {
            const array* const chooses = mask ? &*mask : nullptr;
            switch (function) {
            case whole::sum:
            case whole::product:
            case whole::minimum:
            case whole::maximum: {
                const auto op = static_cast<operation>(function);
                reduce(op, fold_type(out.type), in, length, chooses, out);
                if (integer || number) {
                    with_operation(op, [&](const auto& by) { join_initial(by, out); });
                }
                return;
            }
            case whole::cumulative_sum:
            case whole::cumulative_product:
            case whole::cumulative_minimum:
            case whole::cumulative_maximum: {
                const int first = static_cast<int>(whole::cumulative_sum);
                scan(static_cast<operation>(static_cast<int>(function) - first), fold_type(out.type), in, length,
                     nullptr, out);
                return;
            }
            case whole::arg_minimum:
            case whole::arg_maximum:
                arg_extreme(function == whole::arg_minimum, fold_type(in.type), in, length, out);
                return;
            case whole::mean:
                if (!mask) {
                    whole_calls::mean(in, length, out);
                    return;
                }
                reduce(operation::sum, out.type, in, length, chooses, out);
                out.type == element::float32 ? divide<float>(out) : divide<double>(out);
                return;
            default: test(out);
            }
        }

    private:
        // Of elements that are not zero.
        [[nodiscard]] std::vector<std::int64_t> counts(const array& of) const {
            const numbers shape{static_cast<std::int64_t>(in.size() / length)};
            std::vector<std::int64_t> all(static_cast<std::size_t>(shape[0]));
            // The shape of the results is that of the axes which are not reduced.
            const std::size_t kept = length == of.size() ? 0 : of.shape.size() - 1;
            const numbers places(of.shape.begin(), of.shape.begin() + static_cast<std::ptrdiff_t>(kept));
            count_nonzero(of, length, nullptr,
                          array(reinterpret_cast<char*>(all.data()), element::int64, places,
                                row_major(places, sizeof(std::int64_t))));
            return all;
        }
        void test(const array& out) const {
            const bool is_all = function == whole::all_nonzero;
            if (!mask) {
                test_nonzero(is_all, in, length, out);
                return;
            }
            std::vector<std::int64_t> found(out.size());
            count_nonzero(in, length, &*mask,
                          array(reinterpret_cast<char*>(found.data()), element::int64, out.shape,
                                row_major(out.shape, sizeof(std::int64_t))));
            const std::vector<std::int64_t> all = is_all ? counts(*mask) : std::vector<std::int64_t>(out.size());
            for (std::uint64_t s = 0; s < out.size(); ++s) {
                out.data[out.at.offset(s)] = (is_all ? found[s] == all[s] : found[s] != 0) ? 1 : 0;
            }
        }
        template <class T>
        void divide(const array& out) const {
            T* const sums = reinterpret_cast<T*>(out.data);
            for (std::uint64_t s = 0; s < out.size(); ++s) {
                sums[s] = static_cast<T>(static_cast<double>(sums[s]) / static_cast<double>(chosen[s]));
            }
        }
        template <class Op>
        void join_initial(const Op& op, const array& out) const {
            with_type(out.type, [&](auto zero) {
                using T = decltype(zero);
                if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, half>) {
                    T first;
                    if constexpr (std::is_integral_v<T>) {
                        first = static_cast<T>(*integer);
                    } else {
                        first = static_cast<T>(*number);
                    }
                    for (std::uint64_t s = 0; s < out.size(); ++s) {
                        char* const at = out.data + out.at.offset(s);
                        const auto joined = static_cast<T>(op(loaded<T>(at), first));
                        std::memcpy(at, &joined, sizeof(T));
                    }
                }
            });
        }
    };

    // An integer that names an axis.
    [[nodiscard]] static std::optional<std::size_t> axis_of(nb::handle axis, std::size_t rank) {
        std::int64_t number = 0;
        const auto axes = static_cast<std::int64_t>(rank);
        if (PyLong_CheckExact(axis.ptr()) == 0 || !nb::try_cast(axis, number) || number < -axes || number >= axes) {
            return std::nullopt;
        }
        return static_cast<std::size_t>(number < 0 ? number + axes : number);
    }
    // With one axis last.
    [[nodiscard]] static array rotated(const array& of, std::optional<std::size_t> last) {
        numbers shape = of.shape, strides = of.strides;
        if (last) {
            const auto d = static_cast<std::ptrdiff_t>(*last);
            std::rotate(shape.begin() + d, shape.begin() + d + 1, shape.end());
            std::rotate(strides.begin() + d, strides.begin() + d + 1, strides.end());
        }
        return {of.data, of.type, std::move(shape), std::move(strides)};
    }
    // Whether the arrays may have bytes in common.
    [[nodiscard]] static bool overlap(const array& a, const array& b) {
        const auto bytes_of = [](const array& of) {
            const char *first = of.data, *last = of.data + size_of(of.type);
            for (std::size_t d = 0; d < of.shape.size(); ++d) {
                const std::int64_t span = (of.shape[d] - 1) * of.strides[d];
                (span < 0 ? first : last) += span;
            }
            return std::pair(first, last);
        };
        const auto [a_first, a_last] = bytes_of(a);
        const auto [b_first, b_last] = bytes_of(b);
        return a_first < b_last && b_first < a_last;
    }
    // As result_type() of _reductions.py and _mean_types() of _moments.py. None for other types, for logical sums and products, for
    // elements that are converted first, and for results of another type than `out`.
    [[nodiscard]] std::optional<element> result_type(whole function, element in, nb::handle dtype,
                                                     const std::optional<array>& out) const {
        std::optional<element> type;
        if (!dtype.is_none()) {
            type = engine_->type_named(dtype);
        }
        const bool is_accumulated = function == whole::sum || function == whole::product ||
                                    function == whole::cumulative_sum || function == whole::cumulative_product;
        if (is_accumulated) {
            if (dtype.is_none()) {
                type = out && out->type == in ? in : sum_type(in);
            }
            const bool is_direct = type && *type != element::boolean &&
                                   (*type <= element::uint64 ? in <= element::uint64
                                                             : *type != element::float16 || in == element::float16);
            return is_direct ? type : std::nullopt;
        }
        if (function == whole::mean) {
            if (dtype.is_none()) {
                type = in < element::float16 ? element::float64 : in;
            }
            return type && *type > element::float16 ? type : std::nullopt;
        }
        if (!dtype.is_none()) {
            return std::nullopt;
        }
        if (function == whole::any_nonzero || function == whole::all_nonzero) {
            return element::boolean;
        }
        if (function == whole::arg_minimum || function == whole::arg_maximum) {
            return element::int64;
        }
        return function <= whole::cumulative_maximum ? std::optional(in) : std::nullopt;
    }

    const host_engine* engine_;
};

} // namespace warpfold::python

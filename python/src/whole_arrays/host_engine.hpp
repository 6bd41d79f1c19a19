// SPDX-License-Identifier: MIT
// Arrays in host memory in the sense of whole_functions.hpp: how they are read and made, and which calls compute with them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/lock_released.hpp"
#include "python/src/operations.hpp"
#include "python/src/whole_arrays/whole_functions.hpp"

namespace warpfold::python {

namespace nb = nanobind;

template <class T>
T& only(const array& out) {
    return *reinterpret_cast<T*>(out.data);
}

// An array of one number.
inline array place_of(std::int64_t& number) { return {reinterpret_cast<char*>(&number), element::int64, {}, {}}; }
inline array place_of(double& number) { return {reinterpret_cast<char*>(&number), element::float64, {}, {}}; }

// The calls that functions of whole arrays consist of.
struct whole_calls {
    static void reduce(operation op, element fold, const array& in, std::uint64_t length, const array& out) {
        python::reduce(op, fold, in, length, nullptr, out);
    }
    static void scan(operation op, element fold, const array& in, const array& out) {
        python::scan(op, fold, in, in.size(), nullptr, out);
    }
    static void arg_extreme(bool smallest, element fold, const array& in, std::uint64_t length, const array& out) {
        python::arg_extreme(smallest, fold, in, length, out);
    }
    static void min_max(element fold, const array& in, const array& low, const array& high) {
        python::min_max(fold, in, in.size(), low, high);
    }
    // `out`, float32 or float64, has no gaps.
    static void mean(const array& in, std::uint64_t length, const array& out) {
        reduce(operation::sum, out.type, in, length, out);
        divide(out, length);
    }
    [[nodiscard]] static bool number(whole function, const array& in, std::uint64_t length, const array& out) {
        switch (function) {
        case whole::variance: {
            std::vector<double> room(out.size());
            const array means(reinterpret_cast<char*>(room.data()), out.type, out.shape, out.strides);
            mean(in, length, means);
            squared_deviations(out.type, in, length, nullptr, means, out);
            divide(out, length);
            return true;
        }
        case whole::norm: return norm(in, length, out);
        case whole::exact_sum: exact_sum(in, out); return true;
        default: exact_moment(moment_of(function), in, nullptr, 0, out); return true;
        }
    }
    // The number of elements that are not zero if `out` is of int64, else whether one, or all of them, are not.
    [[nodiscard]] static bool nonzero(bool is_all, const array& in, std::uint64_t length, const array& out) {
        if (out.type == element::int64) {
            count_nonzero(in, length, nullptr, out);
        } else {
            test_nonzero(is_all, in, length, out);
        }
        return true;
    }

private:
    static void divide(const array& out, std::uint64_t number) {
        const auto each = [&](auto divisor) {
            std::for_each_n(&only<decltype(divisor)>(out), out.size(), [divisor](auto& x) { x /= divisor; });
        };
        out.type == element::float32 ? each(static_cast<float>(number)) : each(static_cast<double>(number));
    }
    // As _euclidean() of warpfold/_norms.py. False where squares of float64 overflow or underflow.
    [[nodiscard]] static bool norm(const array& in, std::uint64_t length, const array& out) {
        std::vector<double> zeros(out.size()), squares(out.size());
        const numbers strides = row_major(out.shape, sizeof(double));
        squared_deviations(element::float64, in, length, nullptr,
                           array(reinterpret_cast<char*>(zeros.data()), element::float64, out.shape, strides),
                           array(reinterpret_cast<char*>(squares.data()), element::float64, out.shape, strides));
        if (out.type == element::float32) {
            std::transform(squares.begin(), squares.end(), &only<float>(out),
                           [](double x) { return static_cast<float>(std::sqrt(x)); });
            return true;
        }
        std::transform(squares.begin(), squares.end(), &only<double>(out), [](double x) { return std::sqrt(x); });
        return in.type != element::float64 ||
               std::all_of(squares.begin(), squares.end(), [](double x) { return x > 0x1p-900 && x < 0x1p1000; });
    }
};

// Arrays in host memory, in the sense of whole_functions: NumPy's, and also PyTorch's tensors, which results are then.
class host_engine {
public:
    static constexpr bool has_means = true;

    // `ndarray`, `empty`: numpy's; `dtypes`: NumPy's types in the order of `element`; `tensor`, `from_numpy`: PyTorch's, or None.
    host_engine(nb::object ndarray, nb::object empty, nb::tuple dtypes, nb::object tensor, nb::object from_numpy)
        : ndarray_(std::move(ndarray)),
          empty_(std::move(empty)),
          dtypes_(std::move(dtypes)),
          tensor_(std::move(tensor)),
          from_numpy_(std::move(from_numpy)),
          dtype_(nb::module_::import_("numpy").attr("dtype")) {}

    // The caller's array keeps the elements alive.
    [[nodiscard]] std::optional<array> read(nb::handle x) const {
        if (x.type().is(ndarray_)) {
            return array_of(x);
        }
        if (!x.type().is(tensor_)) {
            return std::nullopt;
        }
        try {
            return nb::cast<bool>(x.attr("is_cpu")) ? array_of(nb::object(x.attr("numpy")())) : std::nullopt;
        } catch (const nb::python_error&) { // of another type, with a gradient
            return std::nullopt;
        }
    }
    [[nodiscard]] std::optional<array> read_all(nb::handle x) const { return read(x); }
    // An array of NumPy's that may be written to.
    [[nodiscard]] std::optional<array> read_output(nb::handle x) const {
        return x.type().is(ndarray_) ? array_of(x, PyBUF_WRITABLE) : std::nullopt;
    }
    // The element of what numpy.dtype() takes; none for other types.
    [[nodiscard]] std::optional<element> type_named(nb::handle dtype) const {
        try {
            const nb::object own = dtype.type().is(dtype_) ? nb::borrow(dtype) : dtype_(dtype);
            for (std::size_t k = 0; k < dtypes_.size(); ++k) {
                if (dtypes_[k].is(own)) {
                    return element_of(static_cast<int>(k));
                }
            }
        } catch (const nb::python_error&) { // the function in Python raises it
        }
        return std::nullopt;
    }
    [[nodiscard]] static bool has_one_axis(nb::handle /*unused*/, const array& in) { return in.shape.size() == 1; }
    [[nodiscard]] std::pair<nb::object, array> make(const numbers& shape, element type, const array& /*unused*/) const {
        return make(shape, type);
    }
    [[nodiscard]] std::pair<nb::object, array> make(const numbers& shape, element type) const {
        nb::object made = empty_(tuple_of(shape), dtypes_[static_cast<std::size_t>(type)]);
        std::optional<array> out = array_of(made);
        return {std::move(made), std::move(out).value()};
    }
    static const array& elements(const array& one) { return one; }
    static array& elements(array& one) { return one; }
    // Results of no axes are NumPy's scalars.
    [[nodiscard]] nb::object finished(const nb::object& made, bool has_no_axes) const {
        return !tensor_.is_none() ? from_numpy_(made) : has_no_axes ? nb::object(made[nb::tuple()]) : made;
    }
    template <class Work>
    static void run(const array& /*unused*/, const Work& work) {
        const lock_released unlocked;
        work(whole_calls{});
    }

private:
    nb::object ndarray_, empty_;
    nb::tuple dtypes_;
    nb::object tensor_, from_numpy_, dtype_;
};

} // namespace warpfold::python

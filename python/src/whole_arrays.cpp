// SPDX-License-Identifier: MIT
#include "python/src/whole_arrays.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/lock_released.hpp"
#include "python/src/whole_functions.hpp"
#include "warpfold/bins.hpp"

namespace warpfold::python {

namespace nb = nanobind;

namespace {

template <class T>
T& only(const array& out) {
    return *reinterpret_cast<T*>(out.data);
}

template <class T>
void divide(const array& out, std::uint64_t number) {
    only<T>(out) /= static_cast<T>(number);
}

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
    [[nodiscard]] static bool number(whole function, const array& in, const array& out) {
        if (function == whole::exact_sum) {
            exact_sum(in, out);
        } else {
            reduce(operation::sum, in.type, in, in.size(), out);
            in.type == element::float32 ? divide<float>(out, in.size()) : divide<double>(out, in.size());
        }
        return true;
    }
    // The number of elements that are not zero if `out` is of int64, else whether one, or all of them, are not.
    [[nodiscard]] static bool nonzero(bool is_all, const array& in, const array& out) {
        std::int64_t number = 0;
        count_nonzero(in, in.size(), nullptr, array(reinterpret_cast<char*>(&number), element::int64, {}, {}));
        if (out.type == element::int64) {
            only<std::int64_t>(out) = number;
        } else {
            only<bool>(out) = is_all ? static_cast<std::uint64_t>(number) == in.size() : number != 0;
        }
        return true;
    }
};

// NumPy's arrays in host memory, in the sense of whole_functions.
class numpy_engine {
public:
    // `empty`: numpy.empty; `dtypes`: NumPy's types in the order of `element`; `makes_scalars`: whether results of no axes are
    // NumPy's scalars.
    numpy_engine(nb::object empty, nb::tuple dtypes, bool makes_scalars)
        : empty_(std::move(empty)), dtypes_(std::move(dtypes)), makes_scalars_(makes_scalars) {}

    [[nodiscard]] static std::optional<array> read(nb::handle x) { return array_of(x); }
    [[nodiscard]] static std::optional<array> read_all(nb::handle x) { return array_of(x); }
    [[nodiscard]] static bool has_one_axis(nb::handle /*unused*/, const array& in) { return in.shape.size() == 1; }
    [[nodiscard]] std::pair<nb::object, array> make(const numbers& shape, element type, const array& /*unused*/) const {
        nb::object made = empty_(tuple_of(shape), dtypes_[static_cast<std::size_t>(type)]);
        std::optional<array> out = array_of(made);
        return {std::move(made), std::move(out).value()};
    }
    static const array& elements(const array& one) { return one; }
    static array& elements(array& one) { return one; }
    [[nodiscard]] nb::object finished(const nb::object& made, bool has_no_axes) const {
        return makes_scalars_ && has_no_axes ? nb::object(made[nb::tuple()]) : made;
    }
    static constexpr bool computes(whole function) { return function == whole::mean || function == whole::exact_sum; }
    template <class Work>
    static void run(const array& /*unused*/, const Work& work) {
        const lock_released unlocked;
        work(whole_calls{});
    }

    // As `bincount` without weights. None for what the function in Python computes or refuses.
    [[nodiscard]] nb::object counts(nb::handle x) const {
        const std::optional<array> in = array_of(x);
        if (!in || in->shape.size() != 1 || in->size() == 0 || in->type == element::uint64 ||
            in->type >= element::float16) {
            return nb::none();
        }
        std::int64_t smallest = 0, largest = 0;
        const auto place = [](std::int64_t& number) {
            return array(reinterpret_cast<char*>(&number), element::int64, {}, {});
        };
        run(*in, [&](const auto& calls) { calls.min_max(fold_type(in->type), *in, place(smallest), place(largest)); });
        if (smallest < 0 || largest >= static_cast<std::int64_t>(most_bins)) {
            return nb::none();
        }
        const auto made = make({largest + 1}, element::int64, *in);
        run(*in, [&](const auto& /*unused*/) { count_values(*in, nullptr, made.second); });
        return made.first;
    }

private:
    nb::object empty_;
    nb::tuple dtypes_;
    bool makes_scalars_;
};

class whole_arrays {
public:
    whole_arrays(nb::object empty, nb::tuple dtypes, bool makes_scalars)
        : engine_(std::move(empty), std::move(dtypes), makes_scalars), functions_(engine_) {}

    [[nodiscard]] nb::object call(int which, nb::handle x, nb::handle axis) const {
        return functions_.call(static_cast<whole>(which), x, axis);
    }
    [[nodiscard]] nb::object bincount(nb::handle x) const { return engine_.counts(x); }

private:
    numpy_engine engine_;
    whole_functions<numpy_engine> functions_;
};

} // namespace

void define_whole_arrays(nb::module_& m) {
    nb::class_<whole_arrays>(m, "WholeArrays")
        .def(nb::init<nb::object, nb::typed<nb::tuple, nb::object, nb::ellipsis>, bool>(), nb::arg("empty"),
             nb::arg("dtypes"), nb::arg("makes_scalars"))
        .def("call", &whole_arrays::call, nb::arg("which"), nb::arg("array"), nb::arg("axis").none())
        .def("bincount", &whole_arrays::bincount, nb::arg("x"));
    m.def("whole_functions", [] { return std::vector<std::string>(whole_names.begin(), whole_names.end()); });
}

} // namespace warpfold::python

// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/whole_arrays.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/module/tensors.hpp"

namespace warpfold::python::on_gpu {

namespace {

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
    variance,
    any_nonzero,
    all_nonzero,
    number_of_nonzero
};

// Of functions of Python, in the order of `whole`.
constexpr std::array names{"sum",    "prod",      "min",    "max",    "cumsum", "cumprod",
                           "cummin", "cummax",    "argmin", "argmax", "minmax", "mean",
                           "norm",   "exact_sum", "var",    "any",    "all",    "count_nonzero"};
static_assert(names.size() == static_cast<std::size_t>(whole::number_of_nonzero) + 1);

// The types of results and of their computation are those of warpfold/_reductions.py and _scans.py.
element sum_type(element type) {
    return type >= element::float16 ? type : type >= element::uint8 ? element::uint64 : element::int64;
}
element fold_type(element type) {
    if (type >= element::float16) {
        return type == element::float64 ? type : element::float32;
    }
    return type >= element::int8 && type <= element::int64 ? element::int64 : element::uint64;
}

class whole_arrays {
public:
    whole_arrays(nb::object tensor_class, nb::object package)
        : class_(std::move(tensor_class)), object_(std::move(package)), package_(nb::inst_ptr<tensors>(object_)) {}

    // Over all elements, or along `axis`. The result, or None for what the functions of Python compute: other classes, devices,
    // layouts, types and axes, and no elements.
    [[nodiscard]] nb::object call(int which, nb::handle tensor, nb::handle axis) const {
        if (!tensor.type().is(class_) || is_cuda_.of(tensor).ptr() != Py_True) {
            return nb::none();
        }
        const auto function = static_cast<whole>(which);
        if (!axis.is_none()) {
            std::int64_t number = 0;
            const bool is_one_axis = PyLong_CheckExact(axis.ptr()) != 0 && nb::try_cast(axis, number);
            return is_one_axis ? along_axis(function, tensor, number) : nb::none();
        }
        const std::optional<device_array> in = package_->read_all(tensor);
        if (!in || in->of.size() == 0) {
            return nb::none();
        }
        if (function < whole::cumulative_sum) {
            return reduced(static_cast<operation>(which), *in, {}, in->of.size());
        }
        if (function < whole::arg_minimum) {
            return scanned(static_cast<operation>(which - static_cast<int>(whole::cumulative_sum)), tensor, *in);
        }
        if (function == whole::both_extremes) {
            return extremes_of(*in);
        }
        if (function < whole::both_extremes) {
            return index_of_extreme(function, *in, {}, in->of.size());
        }
        if (function > whole::variance) {
            return tested(function, *in);
        }
        if (in->of.type <= element::float16) {
            return nb::none();
        }
        return filled(*in, {}, in->of.type, [&](const gpu& on, const array& out) {
            if (function == whole::mean) {
                return mean_of_all(on, in->of, out);
            }
            if (function == whole::norm) {
                norm(on, 2, in->of, in->of.size(), out);
            } else if (function == whole::exact_sum) {
                exact_sum(on, in->of, out);
            } else {
                return variance_of_all(on, in->of, out);
            }
            return true;
        });
    }

private:
    // A new tensor with the elements that work(on, out) computes; None if that is false.
    template <class Work>
    [[nodiscard]] nb::object filled(const device_array& in, numbers shape, element type, const Work& work) const {
        auto [result, out] = package_->make(std::move(shape), type, in.at, nb::int_(in.at.first));
        bool is_done = false;
        const array& elements = out.of;
        run(in.at, [&](const gpu& on) { is_done = work(on, elements); });
        return is_done ? result : nb::none();
    }
    // The axes behind those of `shape` are reduced; they have `length` elements.
    [[nodiscard]] nb::object reduced(operation op, const device_array& in, numbers shape, std::uint64_t length) const {
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(in.of.type) : in.of.type;
        return filled(in, std::move(shape), type, [&](const gpu& on, const array& out) {
            reduce(on, op, fold_type(type), in.of, length, nullptr, out);
            return true;
        });
    }
    [[nodiscard]] nb::object index_of_extreme(whole function, const device_array& in, numbers shape,
                                              std::uint64_t length) const {
        return filled(in, std::move(shape), element::int64, [&](const gpu& on, const array& out) {
            arg_extreme(on, function == whole::arg_minimum, fold_type(in.of.type), in.of, length, out);
            return true;
        });
    }
    [[nodiscard]] nb::object along_axis(whole function, nb::handle tensor, std::int64_t axis) const {
        const bool is_reduction = function < whole::cumulative_sum;
        if (!is_reduction && function != whole::arg_minimum && function != whole::arg_maximum) {
            return nb::none();
        }
        std::optional<device_array> in = package_->read(tensor, std::nullopt);
        if (!in || in->of.size() == 0) {
            return nb::none();
        }
        const auto rank = static_cast<std::int64_t>(in->of.shape.size());
        if (axis < -rank || axis >= rank) {
            return nb::none();
        }
        numbers shape = in->of.shape, strides = in->of.strides;
        const auto d = axis < 0 ? axis + rank : axis;
        const auto length = static_cast<std::uint64_t>(shape[static_cast<std::size_t>(d)]);
        std::rotate(shape.begin() + d, shape.begin() + d + 1, shape.end());
        std::rotate(strides.begin() + d, strides.begin() + d + 1, strides.end());
        in->of = array(in->of.data, in->of.type, shape, std::move(strides));
        shape.pop_back();
        return is_reduction ? reduced(static_cast<operation>(function), *in, std::move(shape), length)
                            : index_of_extreme(function, *in, std::move(shape), length);
    }
    [[nodiscard]] nb::object scanned(operation op, nb::handle tensor, const device_array& in) const {
        if (!package_->has_one_axis(tensor)) {
            return nb::none();
        }
        const bool is_sum = op == operation::sum || op == operation::product;
        const element type = is_sum ? sum_type(in.of.type) : in.of.type;
        return filled(in, in.of.shape, type, [&](const gpu& on, const array& out) {
            scan(on, op, fold_type(type), in.of, in.of.size(), nullptr, out);
            return true;
        });
    }
    [[nodiscard]] nb::object tested(whole function, const device_array& in) const {
        const bool is_number = function == whole::number_of_nonzero;
        return filled(in, {}, is_number ? element::int64 : element::boolean, [&](const gpu& on, const array& out) {
            return nonzero_of_all(on, function == whole::all_nonzero, in.of, out);
        });
    }
    [[nodiscard]] nb::object extremes_of(const device_array& in) const {
        const nb::int_ device(in.at.first);
        const auto [smallest, first] = package_->make({}, in.of.type, in.at, device);
        const auto [largest, last] = package_->make({}, in.of.type, in.at, device);
        const array &low = first.of, &high = last.of;
        run(in.at, [&](const gpu& on) { min_max(on, fold_type(in.of.type), in.of, in.of.size(), low, high); });
        return nb::make_tuple(smallest, largest);
    }

    nb::object class_, object_;
    const tensors* package_;
    attribute is_cuda_{"is_cuda"};
};

} // namespace

void define_whole_arrays(nb::module_& m) {
    nb::class_<whole_arrays>(m, "WholeArrays")
        .def(nb::init<nb::object, nb::object>(), nb::arg("tensor_class"), nb::arg("tensors"))
        .def("call", &whole_arrays::call, nb::arg("which"), nb::arg("tensor"), nb::arg("axis").none());
    nb::list functions;
    for (const char* const name : names) {
        functions.append(name);
    }
    m.attr("WHOLE") = nb::tuple(functions);
}

} // namespace warpfold::python::on_gpu

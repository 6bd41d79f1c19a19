// SPDX-License-Identifier: MIT
// Arrays in device memory, for the module.
#include "python/src/gpu/module/device_array.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace warpfold::python::on_gpu {

namespace {

// NumPy's types, and the class of new arrays. They live as long as the process.
struct {
    std::array<PyObject*, element_types> dtypes{};
    PyObject* array_class = nullptr;
} known; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace

nb::handle dtype_of(element type) { return known.dtypes[static_cast<std::size_t>(type)]; }

std::optional<element> type_of_own(nb::handle dtype) {
    const auto found = std::find(known.dtypes.begin(), known.dtypes.end(), dtype.ptr());
    return found == known.dtypes.end() ? std::nullopt
                                       : std::optional(static_cast<element>(found - known.dtypes.begin()));
}

element type_of(nb::handle dtype) {
    if (const auto own = type_of_own(dtype)) {
        return *own;
    }
    const nb::object found = nb::module_::import_("numpy").attr("dtype")(dtype);
    for (std::size_t which = 0; which < element_types; ++which) {
        if (found.equal(nb::handle(known.dtypes[which]))) {
            return static_cast<element>(which);
        }
    }
    throw nb::type_error("warpfold: an array in device memory has a type that the package does not take");
}

namespace {

// Raises TypeError for what is no integer, and `outside` for one of more than 64 bits.
std::int64_t integer_of(PyObject* one, PyObject* outside) {
    const Py_ssize_t found = PyNumber_AsSsize_t(one, outside);
    if (found == -1 && PyErr_Occurred() != nullptr) {
        nb::raise_python_error();
    }
    return found;
}

} // namespace

numbers numbers_of(nb::handle sequence) {
    const nb::object tuple = nb::steal(PySequence_Tuple(sequence.ptr())); // a tuple itself
    if (!tuple.is_valid()) {
        nb::raise_python_error();
    }
    numbers all(static_cast<std::size_t>(PyTuple_Size(tuple.ptr())));
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k] = integer_of(PyTuple_GetItem(tuple.ptr(), static_cast<Py_ssize_t>(k)), PyExc_OverflowError);
    }
    return all;
}

array array_at(std::uintptr_t address, element type, numbers shape, numbers strides) {
    return {reinterpret_cast<char*>(address), type, std::move(shape), // NOLINT(performance-no-int-to-ptr)
            std::move(strides)};
}

nb::object object_of(device_array made) {
    nb::object instance = nb::inst_alloc(known.array_class);
    new (nb::inst_ptr<device_array>(instance)) device_array(std::move(made));
    nb::inst_mark_ready(instance);
    return instance;
}

namespace {

std::uintptr_t address_of(const device_array& self) { return reinterpret_cast<std::uintptr_t>(self.of.data); }

nb::object view(nb::handle self, numbers shape, numbers strides, std::optional<element> type = {}) {
    const auto& from = *nb::inst_ptr<device_array>(self);
    return object_of({array_at(address_of(from), type.value_or(from.of.type), std::move(shape), std::move(strides)),
                      from.at, nb::borrow(self)});
}

nb::object transposed(nb::handle self, const numbers& order) {
    const auto& from = nb::inst_ptr<device_array>(self)->of;
    numbers shape, strides;
    shape.reserve(order.size());
    strides.reserve(order.size());
    for (const std::int64_t axis : order) {
        shape.push_back(from.shape.at(static_cast<std::size_t>(axis)));
        strides.push_back(from.strides.at(static_cast<std::size_t>(axis)));
    }
    return view(self, std::move(shape), std::move(strides));
}

bool is_contiguous(const array& a) {
    const numbers wanted = row_major(a.shape, size_of(a.type));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (a.shape[k] != 1 && a.strides[k] != wanted[k]) {
            return a.size() == 0;
        }
    }
    return true;
}

// One extent may be -1: what is left for it. Raises ValueError unless the shape has as many elements as the array, and these
// are contiguous.
nb::object reshaped(nb::handle self, nb::handle shape) {
    const auto& from = nb::inst_ptr<device_array>(self)->of;
    numbers chosen =
        PySequence_Check(shape.ptr()) != 0 ? numbers_of(shape) : numbers{integer_of(shape.ptr(), PyExc_OverflowError)};
    const auto open = std::find(chosen.begin(), chosen.end(), -1);
    std::uint64_t others = 1;
    bool fits = true;
    for (auto one = chosen.begin(); one != chosen.end(); ++one) {
        if (one != open) {
            fits = fits && *one >= 0 && !__builtin_mul_overflow(others, static_cast<std::uint64_t>(*one), &others);
        }
    }
    if (fits && open != chosen.end() && others != 0 && from.size() % others == 0) {
        *open = static_cast<std::int64_t>(from.size() / others);
    } else if (!fits || open != chosen.end() || others != from.size()) {
        throw nb::value_error("warpfold: the new shape has another number of elements than the array");
    }
    if (!is_contiguous(from)) {
        throw nb::value_error("warpfold: only a contiguous array can be reshaped");
    }
    numbers strides = row_major(chosen, size_of(from.type));
    return view(self, std::move(chosen), std::move(strides));
}

// Slices and integers, and an ellipsis at most. Raises IndexError for an integer outside, and TypeError for anything else.
nb::object item(nb::handle self, const nb::object& index) {
    const auto& from = *nb::inst_ptr<device_array>(self);
    const nb::tuple given = nb::isinstance<nb::tuple>(index) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
    std::uintptr_t address = address_of(from);
    numbers shape, strides;
    std::size_t axis = 0;
    const std::size_t axes = from.of.shape.size();
    shape.reserve(axes);
    strides.reserve(axes);
    const auto keep_until = [&](std::size_t end) {
        for (; axis < end; ++axis) {
            shape.push_back(from.of.shape[axis]);
            strides.push_back(from.of.strides[axis]);
        }
    };
    for (std::size_t k = 0; k < given.size(); ++k) {
        const nb::handle one = given[k];
        if (one.ptr() == Py_Ellipsis) {
            keep_until(axes - std::min(axes, given.size() - k - 1));
            continue;
        }
        if (axis == axes) {
            throw nb::index_error("warpfold: too many indices of an array");
        }
        const std::int64_t extent = from.of.shape[axis], stride = from.of.strides[axis];
        if (PySlice_Check(one.ptr())) {
            const auto [start, stop, step, length] =
                nb::borrow<nb::slice>(one).compute(static_cast<std::size_t>(extent));
            address += length != 0 ? static_cast<std::uintptr_t>(start * stride) : 0;
            shape.push_back(static_cast<std::int64_t>(length));
            strides.push_back(step * stride);
        } else {
            std::int64_t place = integer_of(one.ptr(), PyExc_IndexError);
            place += place < 0 ? extent : 0;
            if (place < 0 || place >= extent) {
                throw nb::index_error("warpfold: an index is outside of an array");
            }
            address += static_cast<std::uintptr_t>(place * stride);
        }
        ++axis;
    }
    keep_until(axes);
    return object_of(
        {array_at(address, from.of.type, std::move(shape), std::move(strides)), from.at, nb::borrow(self)});
}

// The addresses between which all elements are.
std::pair<std::uintptr_t, std::uintptr_t> bounds(const device_array& self) {
    std::uintptr_t first = address_of(self), last = first;
    if (self.of.size() == 0) {
        return {first, last};
    }
    for (std::size_t d = 0; d < self.of.shape.size(); ++d) {
        const std::int64_t reach = (self.of.shape[d] - 1) * self.of.strides[d];
        (reach < 0 ? first : last) += static_cast<std::uintptr_t>(reach);
    }
    return {first, last + static_cast<std::uintptr_t>(size_of(self.of.type))};
}

} // namespace

void define_arrays(nb::module_& m) {
    const nb::object dtype = nb::module_::import_("numpy").attr("dtype");
    static constexpr std::array<const char*, element_types> names{"bool",   "int8",    "int16",   "int32",
                                                                  "int64",  "uint8",   "uint16",  "uint32",
                                                                  "uint64", "float16", "float32", "float64"};
    for (std::size_t k = 0; k < element_types; ++k) {
        known.dtypes[k] = dtype(names[k]).release().ptr();
    }
    nb::class_<device_array>(m, "Elements")
        .def(
            "__init__",
            [](device_array* self, std::uintptr_t address, nb::handle of, nb::handle shape, nb::handle strides,
               const place& at, nb::object owner) {
                const element type = type_of(of);
                numbers extents = numbers_of(shape);
                numbers steps = strides.is_none() ? row_major(extents, size_of(type)) : numbers_of(strides);
                new (self)
                    device_array{array_at(address, type, std::move(extents), std::move(steps)), at, std::move(owner)};
            },
            nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides").none(), nb::arg("place"),
            nb::arg("owner").none())
        .def_prop_ro("address", address_of)
        .def_prop_ro("dtype", [](const device_array& self) { return dtype_of(self.of.type); })
        .def_prop_ro("shape", [](const device_array& self) { return tuple_of(self.of.shape); })
        .def_prop_ro("strides", [](const device_array& self) { return tuple_of(self.of.strides); })
        .def_prop_ro("place", [](const device_array& self) { return self.at; })
        .def_prop_ro("ndim", [](const device_array& self) { return self.of.shape.size(); })
        .def_prop_ro("size", [](const device_array& self) { return self.of.size(); })
        .def("is_contiguous",
             [](const device_array& self) {
                 return self.of.size() == 0 || self.of.at.is_contiguous(size_of(self.of.type));
             })
        .def("is_plain", [](const device_array& self) { return is_plain(self.of); })
        .def("bounds", bounds)
        .def(
            "view",
            [](nb::handle self, nb::handle of) {
                const auto& from = nb::inst_ptr<device_array>(self)->of;
                return view(self, from.shape, from.strides, type_of(of));
            },
            nb::arg("dtype"))
        .def(
            "transpose", [](nb::handle self, nb::handle order) { return transposed(self, numbers_of(order)); },
            nb::arg("order"))
        .def(
            "squeeze",
            [](nb::handle self, nb::handle axes) {
                const numbers left_out = numbers_of(axes);
                const std::size_t axes_before = nb::inst_ptr<device_array>(self)->of.shape.size();
                numbers order;
                order.reserve(axes_before);
                for (std::size_t d = 0; d < axes_before; ++d) {
                    const auto axis = static_cast<std::int64_t>(d);
                    if (std::find(left_out.begin(), left_out.end(), axis) == left_out.end()) {
                        order.push_back(axis);
                    }
                }
                return transposed(self, order);
            },
            nb::arg("axes"))
        .def("reshape", reshaped, nb::arg("shape"))
        .def("__getitem__", item, nb::arg("index"));
    m.def(
        "set_array_class", [](nb::handle derived) { known.array_class = derived.inc_ref().ptr(); }, nb::arg("derived"),
        "The class of arrays that views and tensors give: derived from Elements.");
}

} // namespace warpfold::python::on_gpu

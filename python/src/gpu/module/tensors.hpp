// SPDX-License-Identifier: MIT
// PyTorch's tensors, without PyTorch's headers.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "python/src/gpu/module/device_array.hpp"

namespace warpfold::python::on_gpu {

// Names of attributes: to look one up by its characters makes a string each time.
class attribute {
public:
    explicit attribute(const char* name) : name_(PyUnicode_InternFromString(name)) {}

    [[nodiscard]] nb::object of(nb::handle object) const { return checked(PyObject_GetAttr(object.ptr(), name_)); }
    [[nodiscard]] nb::object called(nb::handle object) const {
        PyObject* const self = object.ptr();
        return checked(PyObject_VectorcallMethod(name_, &self, 1, nullptr));
    }

private:
    static nb::object checked(PyObject* found) {
        if (found == nullptr) {
            nb::raise_python_error();
        }
        return nb::steal(found);
    }

    PyObject* name_; // as long as the process
};

// The PyTorch functions and types that the package uses. A tensor is read by its attributes: that is faster than any of its interfaces.
class tensors {
public:
    // `dtypes`: PyTorch's types in the order of `element`, or None; `strided`: its layout; `stream(device)` gives the handle of the
    // current stream; `empty(shape, dtype=, device=)` gives new tensors, and so does `empty_here(shape, strides, dtype)` on
    // PyTorch's current device, whose number is `get_device()`. These two are None if PyTorch does not have both.
    tensors(nb::tuple dtypes, nb::object strided, nb::object stream, nb::object empty, nb::object empty_here,
            nb::object get_device)
        : dtypes_(std::move(dtypes)),
          strided_(std::move(strided)),
          stream_(std::move(stream)),
          empty_(std::move(empty)),
          empty_here_(std::move(empty_here)),
          get_device_(std::move(get_device)) {}

    // The elements of a tensor; on its own device and current stream without a place. None for a tensor that is to be read by
    // its interface: of another type or layout, with a gradient or a negative bit.
    [[nodiscard]] std::optional<device_array> read(nb::handle tensor, const std::optional<place>& at) const;

    // All elements of a tensor without gaps, as one axis, on its device and current stream. None for others, and as read().
    [[nodiscard]] std::optional<device_array> read_all(nb::handle tensor) const;
    [[nodiscard]] bool has_one_axis(nb::handle tensor) const;

    // A new tensor without gaps, and its elements. Throws nb::type_error if PyTorch does not have the type.
    [[nodiscard]] std::pair<nb::object, device_array> make(numbers shape, element type, const place& at,
                                                           nb::handle device) const;

private:
    [[nodiscard]] std::optional<element> type_of_tensor(nb::handle tensor) const;
    // None for a type, layout or bit that read() does not take.
    [[nodiscard]] std::optional<element> readable_type(nb::handle tensor) const;
    [[nodiscard]] std::uintptr_t address_of(nb::handle tensor) const;
    [[nodiscard]] place place_of(nb::handle tensor) const;
    // For the CUDA runtime and for PyTorch, which may set its device later.
    [[nodiscard]] bool is_current(int device) const;

    nb::tuple dtypes_;
    nb::object strided_, stream_, empty_, empty_here_, get_device_;
    attribute requires_grad_{"requires_grad"}, layout_{"layout"}, is_neg_{"is_neg"}, stride_{"stride"}, shape_{"shape"},
        data_ptr_{"data_ptr"}, dtype_{"dtype"}, get_device_of_{"get_device"}, is_contiguous_{"is_contiguous"},
        numel_{"numel"}, dim_{"dim"};
};

// For the module.
void define_tensors(nb::module_& m);

} // namespace warpfold::python::on_gpu

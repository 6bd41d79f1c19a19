// SPDX-License-Identifier: MIT
// Arrays of a Python package in device memory, without its headers. They are read by their attributes: that is faster than any of
// their interfaces.
#pragma once

#include <cuda_runtime_api.h>
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

class package {
public:
    package() = default;
    package(const package&) = delete;
    package& operator=(const package&) = delete;
    virtual ~package() = default;

    // Whether an object is of the package's own class of arrays, and in device memory.
    [[nodiscard]] virtual bool has(nb::handle object) const = 0;

    // The elements of an array, on its device and current stream. None for an array that is to be read by its
    // interface: of another type, or another way to keep elements.
    [[nodiscard]] virtual std::optional<device_array> read(nb::handle object) const = 0;

    // All elements of an array without gaps, as one axis. None for others, and as read().
    [[nodiscard]] virtual std::optional<device_array> read_all(nb::handle object) const = 0;
    [[nodiscard]] virtual bool has_one_axis(nb::handle object) const = 0;

    // A new array without gaps, and its elements. Throws nb::type_error if the package does not have the type.
    [[nodiscard]] virtual std::pair<nb::object, device_array> make(numbers shape, element type,
                                                                   const place& at) const = 0;

protected:
    static bool is_current_device(int device) {
        int current = -1;
        return cudaGetDevice(&current) == cudaSuccess && current == device;
    }
};

} // namespace warpfold::python::on_gpu

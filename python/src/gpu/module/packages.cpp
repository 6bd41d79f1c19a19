// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/packages.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include "python/src/gpu/module/cupy_arrays.hpp"
#include "python/src/gpu/module/package.hpp"
#include "python/src/gpu/module/tensors.hpp"

namespace warpfold::python::on_gpu {

void define_packages(nb::module_& m) {
    nb::class_<package>(m, "Package")
        .def(
            "read",
            [](const package& self, nb::handle object) {
                std::optional<device_array> found = self.read(object);
                return found ? object_of(std::move(*found)) : nb::none();
            },
            nb::arg("array"))
        .def(
            "make",
            [](const package& self, nb::handle shape, nb::handle dtype, const place& at) {
                auto [made, elements] = self.make(numbers_of(shape), type_of(dtype), at);
                return nb::make_tuple(made, object_of(std::move(elements)));
            },
            nb::arg("shape"), nb::arg("dtype"), nb::arg("place"));
    nb::class_<tensors, package>(m, "Tensors")
        .def(nb::init<nb::object, nb::tuple, nb::object, nb::object, nb::object, nb::object, nb::object>(),
             nb::arg("tensor_class"), nb::arg("dtypes"), nb::arg("strided"), nb::arg("stream"), nb::arg("empty"),
             nb::arg("empty_here").none(), nb::arg("get_device").none());
    nb::class_<cupy_arrays, package>(m, "CuPyArrays")
        .def(nb::init<nb::object, nb::object, nb::object>(), nb::arg("array_class"), nb::arg("elsewhere"),
             nb::arg("stream"));
}

} // namespace warpfold::python::on_gpu

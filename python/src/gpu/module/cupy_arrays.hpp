// SPDX-License-Identifier: MIT
// CuPy's arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "python/src/gpu/module/package.hpp"

namespace warpfold::python::on_gpu {

// The CuPy functions and types that the package uses.
class cupy_arrays final : public package {
public:
    // `array_class(shape, dtype)` makes arrays on the current device, and `elsewhere(shape, dtype, device)` on another one;
    // `stream(device)` is the current stream.
    cupy_arrays(nb::object array_class, nb::object elsewhere, nb::object stream)
        : class_(std::move(array_class)), elsewhere_(std::move(elsewhere)), stream_(std::move(stream)) {}

    [[nodiscard]] bool has(nb::handle array) const override { return array.type().is(class_); }
    [[nodiscard]] std::optional<device_array> read(nb::handle array) const override;
    [[nodiscard]] std::optional<device_array> read_all(nb::handle array) const override;
    [[nodiscard]] bool has_one_axis(nb::handle array) const override;
    [[nodiscard]] std::pair<nb::object, device_array> make(numbers shape, element type, const place& at) const override;

private:
    nb::object class_, elsewhere_, stream_;
    attribute data_{"data"}, ptr_{"ptr"}, device_id_{"device_id"}, dtype_{"dtype"}, shape_{"shape"},
        strides_{"strides"}, ndim_{"ndim"}, flags_{"flags"}, c_contiguous_{"c_contiguous"};
};

} // namespace warpfold::python::on_gpu

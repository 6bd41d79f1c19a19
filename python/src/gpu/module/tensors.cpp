// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/tensors.hpp"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace warpfold::python::on_gpu {

std::optional<element> tensors::readable_type(nb::handle tensor) const {
    const auto which = type_of_tensor(tensor);
    const bool is_plain = which && requires_grad_.of(tensor).ptr() == Py_False && layout_.of(tensor).is(strided_) &&
                          is_neg_.called(tensor).ptr() == Py_False;
    return is_plain ? which : std::nullopt;
}

std::optional<device_array> tensors::read(nb::handle tensor) const {
    const auto which = readable_type(tensor);
    if (!which) {
        return std::nullopt;
    }
    numbers strides = numbers_of(stride_.called(tensor));
    for (std::int64_t& step : strides) {
        step *= size_of(*which);
    }
    return device_array{array_at(address_of(tensor), *which, numbers_of(shape_.of(tensor)), std::move(strides)),
                        place_of(tensor), nb::borrow(tensor)};
}

std::optional<device_array> tensors::read_all(nb::handle tensor) const {
    const auto which = readable_type(tensor);
    if (!which || is_contiguous_.called(tensor).ptr() != Py_True) {
        return std::nullopt;
    }
    return device_array{
        array_at(address_of(tensor), *which, {nb::cast<std::int64_t>(numel_.called(tensor))}, {size_of(*which)}),
        place_of(tensor), nb::borrow(tensor)};
}

bool tensors::has_one_axis(nb::handle tensor) const { return nb::cast<int>(dim_.called(tensor)) == 1; }

std::uintptr_t tensors::address_of(nb::handle tensor) const {
    return nb::cast<std::uintptr_t>(data_ptr_.called(tensor));
}

std::pair<nb::object, device_array> tensors::make(numbers shape, element type, const place& at) const {
    const nb::object as = dtypes_[static_cast<std::size_t>(type)], extents = tuple_of(shape);
    if (as.is_none()) {
        throw nb::type_error("warpfold: this PyTorch has no type for the results");
    }
    nb::object tensor;
    if (!empty_here_.is_none() && is_current(at.first)) {
        tensor = empty_here_(extents, tuple_of(row_major(shape, 1)), as);
    } else {
        tensor = empty_(extents, nb::arg("dtype") = as, nb::arg("device") = at.first);
    }
    numbers strides = row_major(shape, size_of(type));
    device_array elements{array_at(address_of(tensor), type, std::move(shape), std::move(strides)), at, tensor};
    return {std::move(tensor), std::move(elements)};
}

bool tensors::is_current(int device) const {
    return is_current_device(device) && nb::cast<int>(get_device_()) == device;
}

std::optional<element> tensors::type_of_tensor(nb::handle tensor) const {
    const nb::object dtype = dtype_.of(tensor);
    for (std::size_t k = 0; k < element_types; ++k) {
        if (dtypes_[k].is(dtype)) {
            return static_cast<element>(k);
        }
    }
    return std::nullopt;
}

place tensors::place_of(nb::handle tensor) const {
    const nb::object device = get_device_of_.called(tensor);
    return {nb::cast<int>(device), nb::cast<std::uintptr_t>(stream_(device))};
}

} // namespace warpfold::python::on_gpu

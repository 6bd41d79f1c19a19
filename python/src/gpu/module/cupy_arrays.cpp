// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/cupy_arrays.hpp"

#include <cstdint>

namespace warpfold::python::on_gpu {

std::optional<device_array> cupy_arrays::read(nb::handle array) const {
    const auto type = type_of_own(dtype_.of(array));
    if (!type) {
        return std::nullopt;
    }
    const nb::object data = data_.of(array);
    const auto address = nb::cast<std::uintptr_t>(ptr_.of(data));
    const nb::object device = device_id_.of(data);
    const place here(nb::cast<int>(device), nb::cast<std::uintptr_t>(ptr_.of(stream_(device))));
    return device_array{array_at(address, *type, numbers_of(shape_.of(array)), numbers_of(strides_.of(array))), here,
                        nb::borrow(array)};
}

std::optional<device_array> cupy_arrays::read_all(nb::handle array) const {
    if (c_contiguous_.of(flags_.of(array)).ptr() != Py_True) {
        return std::nullopt;
    }
    std::optional<device_array> found = read(array);
    if (found) {
        const std::int64_t step = size_of(found->of.type);
        found->of = {found->of.data, found->of.type, {static_cast<std::int64_t>(found->of.size())}, {step}};
    }
    return found;
}

bool cupy_arrays::has_one_axis(nb::handle array) const { return nb::cast<int>(ndim_.of(array)) == 1; }

std::pair<nb::object, device_array> cupy_arrays::make(numbers shape, element type, const place& at) const {
    const nb::object extents = tuple_of(shape);
    nb::object made =
        is_current_device(at.first) ? class_(extents, dtype_of(type)) : elsewhere_(extents, dtype_of(type), at.first);
    numbers strides = row_major(shape, size_of(type));
    const auto address = nb::cast<std::uintptr_t>(ptr_.of(data_.of(made)));
    device_array elements{array_at(address, type, std::move(shape), std::move(strides)), at, made};
    return {std::move(made), std::move(elements)};
}

} // namespace warpfold::python::on_gpu

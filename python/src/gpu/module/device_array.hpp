// SPDX-License-Identifier: MIT
// Arrays in device memory as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "python/src/descriptions.hpp"
#include "python/src/gpu/module/place.hpp"
#include "python/src/memory_order.hpp"

namespace warpfold::python::on_gpu {

// Elements in device memory, the device and stream of the calls on them, and the object that owns the memory. The package's
// DeviceArray is derived from it.
struct device_array {
    array of;
    place at;
    nb::object owner;
};

// Null for an array that is missing.
inline const array* of(const device_array* one) { return one == nullptr ? nullptr : &one->of; }

inline constexpr std::size_t element_types = 12; // of `element`

// The type of an np.dtype, or of what np.dtype() takes. Throws nb::type_error for one that the package does not take.
element type_of(nb::handle dtype);

// The same of an np.dtype that NumPy has one of only; none for others.
std::optional<element> type_of_own(nb::handle dtype);
nb::handle dtype_of(element type);

// Raises TypeError for what is no sequence of integers, and OverflowError.
numbers numbers_of(nb::handle sequence);
array array_at(std::uintptr_t address, element type, numbers shape, numbers strides);
// An object of the package's DeviceArray.
nb::object object_of(device_array made);

// The class and its views, for the module.
void define_arrays(nb::module_& m);

} // namespace warpfold::python::on_gpu

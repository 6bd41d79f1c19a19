// SPDX-License-Identifier: MIT
// The packages whose arrays are read by their attributes.
#pragma once

#include <nanobind/nanobind.h>

namespace warpfold::python::on_gpu {

// For the module.
void define_packages(nanobind::module_& m);

} // namespace warpfold::python::on_gpu

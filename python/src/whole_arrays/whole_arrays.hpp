// SPDX-License-Identifier: MIT
// The usual call: a function of all elements of a NumPy array, or along one axis, with no other arguments.
#pragma once

#include <nanobind/nanobind.h>

namespace warpfold::python {

// For the module.
void define_whole_arrays(nanobind::module_& m);

} // namespace warpfold::python

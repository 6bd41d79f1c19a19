// SPDX-License-Identifier: MIT
// The usual call: a function of all elements of an array without gaps, or along one axis, with no other arguments;
// and histograms and ranks with few edges.
#pragma once

#include <nanobind/nanobind.h>

namespace warpfold::python::on_gpu {

// For the module.
void define_whole_arrays(nanobind::module_& m);

} // namespace warpfold::python::on_gpu

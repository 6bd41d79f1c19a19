// SPDX-License-Identifier: MIT
// Values of the host for device memory.
#pragma once

#include <cstddef>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// Enqueues a copy of values that the caller may change or free at once. Those that a graph captures travel as
// parameters of kernels, as the copy would read the host's memory when the graph runs.
void send(const gpu& on, const void* values, std::size_t bytes, void* target);

} // namespace warpfold::python::on_gpu

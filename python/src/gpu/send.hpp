// SPDX-License-Identifier: MIT
// Values of the host for device memory.
#pragma once

#include <cstddef>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// Enqueues a copy of values that the caller may change or free at once. Few values, and those that a graph captures, travel as
// parameters of kernels: a copy takes longer, and in a graph reads the host's memory when the graph runs.
void send(const gpu& on, const void* values, std::size_t bytes, void* target);

} // namespace warpfold::python::on_gpu

// SPDX-License-Identifier: MIT
// Values of the host for device memory.
#pragma once

#include <cstddef>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// Enqueues a copy of values that the caller may change or free at once. Few values, and those that a graph captures, travel as
// parameters of a kernel: that takes less of the host's time than a copy, and a graph would read the host's memory when it runs.
void send(const gpu& on, const void* values, std::size_t bytes, void* target);

} // namespace warpfold::python::on_gpu

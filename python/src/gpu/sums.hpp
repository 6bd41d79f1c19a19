// SPDX-License-Identifier: MIT
// The parts of reduce(), each in a file of its own: they take long to compile.
#pragma once

#include "python/src/gpu/calls.hpp"

namespace warpfold::python::on_gpu {

void sum_or_product(const gpu& on, operation op, element fold, const array& in, std::uint64_t length, const array* mask,
                    const array& out);

} // namespace warpfold::python::on_gpu

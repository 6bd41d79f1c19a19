// SPDX-License-Identifier: MIT
// A kernel that is compiled at run time.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/src/gpu/module/place.hpp"

namespace warpfold::python::on_gpu {

// A kernel of a module: PTX with a 0 behind it, or machine code. It stays loaded until the process ends, as launches of it
// may still run.
class loaded_kernel {
public:
    loaded_kernel(const nb::bytes& image, const std::string& name);

    // All arguments have 8 bytes.
    void launch(const gpu& on, std::uint64_t blocks, unsigned threads, std::vector<std::uint64_t> arguments) const;

private:
    const void* kernel_ = nullptr;
};

// The class and the calls of operations of users, for the module.
void define_kernels(nb::module_& m);

} // namespace warpfold::python::on_gpu

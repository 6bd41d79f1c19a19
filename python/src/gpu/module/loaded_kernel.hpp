// SPDX-License-Identifier: MIT
// A kernel that is compiled at run time, for the module.
#pragma once

#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/src/gpu/module/place.hpp"

namespace warpfold::python::on_gpu {

// A kernel of a module: PTX with a 0 behind it, or machine code. It stays loaded until the process ends, as launches of it
// may still run.
class loaded_kernel {
public:
    loaded_kernel(const nb::bytes& image, const std::string& name) {
#if CUDART_VERSION >= 12080
        cudaLibrary_t library = nullptr;
        cudaKernel_t kernel = nullptr;
        WARPFOLD_CHECK_CUDA(cudaLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        WARPFOLD_CHECK_CUDA(cudaLibraryGetKernel(&kernel, library, name.c_str()));
        kernel_ = kernel;
#else
        throw std::runtime_error("warpfold: kernel " + name + " of " + std::to_string(image.size()) +
                                 " bytes: operations of users need a package that CUDA 12.8 or later built");
#endif
    }

    // All arguments have 8 bytes.
    void launch(const place& at, unsigned blocks, unsigned threads, std::vector<std::uint64_t> arguments) const {
        std::vector<void*> places(arguments.size());
        for (std::size_t k = 0; k < places.size(); ++k) {
            places[k] = &arguments[k];
        }
        run(at, [&](const gpu& on) {
            WARPFOLD_CHECK_CUDA(cudaLaunchKernel(kernel_, dim3(blocks), dim3(threads), places.data(), 0, on.stream));
        });
    }

private:
    const void* kernel_ = nullptr;
};

inline void define_kernels(nb::module_& m) {
    nb::class_<loaded_kernel>(m, "Kernel")
        .def(nb::init<const nb::bytes&, const std::string&>(), nb::arg("image"), nb::arg("name"))
        .def("launch", &loaded_kernel::launch, nb::arg("place"), nb::arg("blocks"), nb::arg("threads"),
             nb::arg("arguments"));
    m.def(
        "compute_capability",
        [](int device) {
            int major = 0, minor = 0;
            WARPFOLD_CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
            WARPFOLD_CHECK_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
            return 10 * major + minor;
        },
        nb::arg("device"), "90 for compute capability 9.0.");
}

} // namespace warpfold::python::on_gpu

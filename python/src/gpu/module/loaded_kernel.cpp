// SPDX-License-Identifier: MIT
#include "python/src/gpu/module/loaded_kernel.hpp"

#include <cuda_runtime_api.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/module/package.hpp"
#include "warpfold/gpu/core/stream_ordered_memory.hpp"

namespace warpfold::python::on_gpu {

loaded_kernel::loaded_kernel(const nb::bytes& image, const std::string& name) {
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

void loaded_kernel::launch(const gpu& on, std::uint64_t blocks, unsigned threads,
                           std::vector<std::uint64_t> arguments) const {
    std::vector<void*> places(arguments.size());
    for (std::size_t k = 0; k < places.size(); ++k) {
        places[k] = &arguments[k];
    }
    WARPFOLD_CHECK_CUDA(
        cudaLaunchKernel(kernel_, dim3(static_cast<unsigned>(blocks)), dim3(threads), places.data(), 0, on.stream));
}

namespace {

// Arrays of one shape and place, without gaps.
struct operands {
    numbers shape;
    place at;
    std::uint64_t size = 0;
    std::vector<std::uint64_t> arguments; // of the kernel run(size, arrays..., results), but for the results
};

// None for other arrays, and for no elements.
std::optional<operands> operands_of(const package& of, int device, nb::handle arrays) {
    std::optional<operands> all;
    for (const nb::handle x : nb::borrow<nb::tuple>(arrays)) {
        std::optional<device_array> one = of.has(x) ? of.read(x) : std::nullopt;
        if (!one) {
            return std::nullopt;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(one->of.data);
        if (one->of.size() == 0 || !is_plain(one->of) || (device >= 0 && device != one->at.first)) {
            return std::nullopt;
        }
        if (!all) {
            all = {one->of.shape, one->at, one->of.size(), {one->of.size()}};
        } else if (all->shape != one->of.shape || all->at != one->at) {
            return std::nullopt;
        }
        all->arguments.push_back(address);
    }
    return all;
}

// Enqueues run(size, arrays..., results).
void launch_for(const loaded_kernel& kernel, const gpu& on, operands&& in, const void* results, std::uint64_t blocks,
                unsigned threads) {
    in.arguments.push_back(reinterpret_cast<std::uintptr_t>(results));
    kernel.launch(on, blocks, threads, std::move(in.arguments));
}

std::uint64_t blocks_for(std::uint64_t size, unsigned threads, std::uint64_t most) {
    return std::min((size - 1) / threads + 1, most);
}

// The results of a kernel in a new array. None for arrays that Python has to make fit first, and those that are not
// on `device`, unless it is negative.
nb::object elementwise(const loaded_kernel& kernel, const package& of, int device, nb::handle arrays, unsigned threads,
                       std::uint64_t most_blocks, int type) {
    std::optional<operands> in = operands_of(of, device, arrays);
    if (!in) {
        return nb::none();
    }
    auto [made, out] = of.make(in->shape, element_of(type), in->at);
    run(in->at, [&](const gpu& on) {
        const std::uint64_t blocks = blocks_for(in->size, threads, most_blocks);
        launch_for(kernel, on, std::move(*in), out.of.data, blocks, threads);
    });
    return made;
}

// The same for a reduction of a kernel that has one result a block, of `part_type`.
nb::object reduction(const loaded_kernel& kernel, const package& of, int device, nb::handle arrays, unsigned threads,
                     std::uint64_t most_blocks, int type, int op, int part_type, int fold_type) {
    std::optional<operands> in = operands_of(of, device, arrays);
    if (!in) {
        return nb::none();
    }
    auto [made, out] = of.make({}, element_of(type), in->at);
    run(in->at, [&](const gpu& on) {
        const std::uint64_t blocks = blocks_for(in->size, threads, most_blocks);
        const std::int64_t bytes = size_of(element_of(part_type));
        const detail::stream_ordered_memory room(on.stream, blocks * static_cast<std::uint64_t>(bytes));
        launch_for(kernel, on, std::move(*in), room.data(), blocks, threads);
        const array parts(static_cast<char*>(room.data()), element_of(part_type), {static_cast<std::int64_t>(blocks)},
                          {bytes});
        on_gpu::reduce(on, operation_of(op), element_of(fold_type), parts, blocks, nullptr, out.of);
    });
    return made;
}

} // namespace

void define_kernels(nb::module_& m) {
    nb::class_<loaded_kernel>(m, "Kernel")
        .def(nb::init<const nb::bytes&, const std::string&>(), nb::arg("image"), nb::arg("name"))
        .def(
            "launch",
            [](const loaded_kernel& self, const place& at, std::uint64_t blocks, unsigned threads,
               std::vector<std::uint64_t> arguments) {
                run(at, [&](const gpu& on) { self.launch(on, blocks, threads, std::move(arguments)); });
            },
            nb::arg("place"), nb::arg("blocks"), nb::arg("threads"), nb::arg("arguments"))
        .def("elementwise", elementwise, nb::arg("package"), nb::arg("device"), nb::arg("arrays"), nb::arg("threads"),
             nb::arg("most_blocks"), nb::arg("type"))
        .def("reduction", reduction, nb::arg("package"), nb::arg("device"), nb::arg("arrays"), nb::arg("threads"),
             nb::arg("most_blocks"), nb::arg("type"), nb::arg("op"), nb::arg("part_type"), nb::arg("fold_type"));
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

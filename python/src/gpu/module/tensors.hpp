// SPDX-License-Identifier: MIT
// PyTorch's tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "python/src/gpu/module/package.hpp"

namespace warpfold::python::on_gpu {

// The PyTorch functions and types that the package uses.
class tensors final : public package {
public:
    // `tensor_class`: torch.Tensor; `dtypes`: PyTorch's types in the order of `element`, or None; `strided`: its layout; `stream(device)` gives the handle of the
    // current stream; `empty(shape, dtype=, device=)` gives new tensors, and so does `empty_here(shape, strides, dtype)` on
    // PyTorch's current device, whose number is `get_device()`. These two are None if PyTorch does not have both.
    tensors(nb::object tensor_class, nb::tuple dtypes, nb::object strided, nb::object stream, nb::object empty,
            nb::object empty_here, nb::object get_device)
        : class_(std::move(tensor_class)),
          dtypes_(std::move(dtypes)),
          strided_(std::move(strided)),
          stream_(std::move(stream)),
          empty_(std::move(empty)),
          empty_here_(std::move(empty_here)),
          get_device_(std::move(get_device)) {}

    [[nodiscard]] bool has(nb::handle object) const override {
        return object.type().is(class_) && is_cuda_.of(object).ptr() == Py_True;
    }
    // None for tensors with a gradient or a negative bit, too.
    [[nodiscard]] std::optional<device_array> read(nb::handle tensor) const override;
    [[nodiscard]] std::optional<device_array> read_all(nb::handle tensor) const override;
    [[nodiscard]] bool has_one_axis(nb::handle tensor) const override;
    [[nodiscard]] std::pair<nb::object, device_array> make(numbers shape, element type, const place& at) const override;

private:
    [[nodiscard]] std::optional<element> type_of_tensor(nb::handle tensor) const;
    // None for a type, layout or bit that read() does not take.
    [[nodiscard]] std::optional<element> readable_type(nb::handle tensor) const;
    [[nodiscard]] std::uintptr_t address_of(nb::handle tensor) const;
    [[nodiscard]] place place_of(nb::handle tensor) const;
    // For the CUDA runtime and for PyTorch, which may set its device later.
    [[nodiscard]] bool is_current(int device) const;

    nb::object class_;
    nb::tuple dtypes_;
    nb::object strided_, stream_, empty_, empty_here_, get_device_;
    attribute requires_grad_{"requires_grad"}, layout_{"layout"}, is_neg_{"is_neg"}, stride_{"stride"}, shape_{"shape"},
        data_ptr_{"data_ptr"}, dtype_{"dtype"}, get_device_of_{"get_device"}, is_contiguous_{"is_contiguous"},
        numel_{"numel"}, dim_{"dim"}, is_cuda_{"is_cuda"};
};

} // namespace warpfold::python::on_gpu

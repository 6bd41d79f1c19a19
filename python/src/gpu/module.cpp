// SPDX-License-Identifier: MIT
// The extension module warpfold._gpu: gpu/calls.hpp for Python. A place is (device, stream); arrays come as for _core, with
// device addresses. Calls enqueue and return; to_host() waits. Every call releases the interpreter's lock. A CUDA error
// is a RuntimeError.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/descriptions.hpp"
#include "python/src/gpu/calls.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/error.hpp"

namespace nb = nanobind;
namespace wp = warpfold::python;
namespace wg = warpfold::python::on_gpu;

namespace {

using namespace warpfold::python; // descriptions
using place = std::pair<int, std::uintptr_t>;

cudaStream_t stream_of(std::uintptr_t handle) {
    return reinterpret_cast<cudaStream_t>(handle); // NOLINT(performance-no-int-to-ptr)
}

// The device of a call is current; afterwards the one that was.
class current_device {
public:
    explicit current_device(int device) {
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&before_));
        if (before_ != device) {
            WARPFOLD_CHECK_CUDA(cudaSetDevice(device));
            is_changed_ = true;
        }
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    ~current_device() {
        if (is_changed_) {
            (void)cudaSetDevice(before_);
        }
    }

private:
    int before_ = 0;
    bool is_changed_ = false;
};

// work(on) on the place's device and stream, without the interpreter's lock.
template <class Work>
void run(const place& at, const Work& work) {
    const nb::gil_scoped_release unlocked;
    const current_device device(at.first);
    const warpfold::gpu on{stream_of(at.second), nullptr};
    work(on);
}

// Device memory. Freed in the order of its stream by free(); else, as the stream may be gone by then, after everything on
// the device.
class memory {
public:
    memory(const place& at, std::size_t bytes) : at_(at), bytes_(bytes) {
        run(at, [&](const warpfold::gpu& on) {
            if (bytes != 0) {
                WARPFOLD_CHECK_CUDA(cudaMallocAsync(&address_, bytes, on.stream));
            }
        });
    }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
        try {
            const bool is_default = at_.second <= 2; // cudaStreamLegacy, cudaStreamPerThread
            release(is_default);
        } catch (const warpfold::error&) { // the device is lost, or the process ends: so is the memory
        }
    }

    void free() { release(true); }
    [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void release(bool in_stream) {
        void* const address = std::exchange(address_, nullptr);
        if (address == nullptr) {
            return;
        }
        run(at_, [&](const warpfold::gpu& on) {
            if (!in_stream) {
                WARPFOLD_CHECK_CUDA(cudaDeviceSynchronize());
            }
            WARPFOLD_CHECK_CUDA(cudaFreeAsync(address, in_stream ? on.stream : nullptr));
        });
    }

    place at_;
    std::size_t bytes_;
    void* address_ = nullptr;
};

// An array that another package exports by DLPack, kept alive.
struct imported {
    nb::ndarray<nb::ro> tensor;

    [[nodiscard]] std::string type() const {
        const auto dtype = tensor.dtype();
        const auto kind = static_cast<nb::dlpack::dtype_code>(dtype.code);
        const char* const name = kind == nb::dlpack::dtype_code::Int     ? "int"
                                 : kind == nb::dlpack::dtype_code::UInt  ? "uint"
                                 : kind == nb::dlpack::dtype_code::Float ? "float"
                                                                         : "bool";
        const bool is_known =
            dtype.lanes == 1 && (kind == nb::dlpack::dtype_code::Int || kind == nb::dlpack::dtype_code::UInt ||
                                 kind == nb::dlpack::dtype_code::Float || kind == nb::dlpack::dtype_code::Bool);
        if (!is_known) {
            return "unknown";
        }
        return kind == nb::dlpack::dtype_code::Bool ? name : name + std::to_string(dtype.bits);
    }
    [[nodiscard]] std::vector<std::int64_t> shape() const {
        std::vector<std::int64_t> all(tensor.ndim());
        for (std::size_t d = 0; d < all.size(); ++d) {
            all[d] = static_cast<std::int64_t>(tensor.shape(d));
        }
        return all;
    }
    // In bytes.
    [[nodiscard]] std::vector<std::int64_t> strides() const {
        std::vector<std::int64_t> all(tensor.ndim());
        for (std::size_t d = 0; d < all.size(); ++d) {
            all[d] = tensor.stride(d) * static_cast<std::int64_t>(tensor.itemsize());
        }
        return all;
    }
};

// A capsule of DLPack over an array, which keeps `owner` alive.
nb::object exported(const description& of, int device, const nb::object& owner) {
    const auto& [address, type, shape, strides] = of;
    static constexpr nb::dlpack::dtype_code kinds[] = {nb::dlpack::dtype_code::Bool, nb::dlpack::dtype_code::Int,
                                                       nb::dlpack::dtype_code::UInt, nb::dlpack::dtype_code::Float};
    const auto which = static_cast<wp::element>(type);
    const int kind = which == wp::element::boolean  ? 0
                     : which <= wp::element::int64  ? 1
                     : which <= wp::element::uint64 ? 2
                                                    : 3;
    const std::int64_t size = wp::size_of(which);
    const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(kinds[kind]), static_cast<std::uint8_t>(8 * size), 1};
    std::vector<std::size_t> extents(shape.begin(), shape.end());
    std::vector<std::int64_t> steps(strides);
    for (std::int64_t& step : steps) {
        step /= size;
    }
    const nb::ndarray<> tensor(reinterpret_cast<void*>(address), // NOLINT(performance-no-int-to-ptr)
                               extents.size(), extents.data(), owner, steps.data(), dtype, nb::device::cuda::value,
                               device);
    return nb::cast(tensor, nb::rv_policy::reference);
}

void define_memory(nb::module_& m) {
    nb::class_<memory>(m, "Memory")
        .def(nb::init<const place&, std::size_t>(), nb::arg("place"), nb::arg("bytes"))
        .def_prop_ro("address", &memory::address)
        .def_prop_ro("bytes", &memory::bytes)
        .def("free", &memory::free);
    nb::class_<imported>(m, "Imported")
        .def("__init__", [](imported* self, nb::ndarray<nb::ro> tensor) { new (self) imported{std::move(tensor)}; })
        .def_prop_ro("address",
                     [](const imported& self) { return reinterpret_cast<std::uintptr_t>(self.tensor.data()); })
        .def_prop_ro("type", &imported::type)
        .def_prop_ro("shape", &imported::shape)
        .def_prop_ro("strides", &imported::strides)
        .def_prop_ro("device", [](const imported& self) { return self.tensor.device_id(); });
    m.def("exported", exported, nb::arg("array"), nb::arg("device"), nb::arg("owner"));
    m.def(
        "to_device",
        [](const place& at, std::uintptr_t from, std::uintptr_t to, std::size_t bytes) {
            run(at, [&](const warpfold::gpu& on) {
                WARPFOLD_CHECK_CUDA(
                    cudaMemcpyAsync(reinterpret_cast<void*>(to),
                                    reinterpret_cast<const void*>(from), // NOLINT(performance-no-int-to-ptr)
                                    bytes, cudaMemcpyHostToDevice, on.stream));
            });
        },
        nb::arg("place"), nb::arg("source"), nb::arg("target"), nb::arg("bytes"));
    // Waits.
    m.def(
        "to_host",
        [](const place& at, std::uintptr_t from, std::uintptr_t to, std::size_t bytes) {
            run(at, [&](const warpfold::gpu& on) {
                WARPFOLD_CHECK_CUDA(
                    cudaMemcpyAsync(reinterpret_cast<void*>(to),
                                    reinterpret_cast<const void*>(from), // NOLINT(performance-no-int-to-ptr)
                                    bytes, cudaMemcpyDeviceToHost, on.stream));
                WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
            });
        },
        nb::arg("place"), nb::arg("source"), nb::arg("target"), nb::arg("bytes"));
    // The place's stream waits for what is on another stream of its device now.
    m.def(
        "wait_for",
        [](const place& at, std::uintptr_t other) {
            run(at, [&](const warpfold::gpu& on) {
                cudaEvent_t event = nullptr;
                WARPFOLD_CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
                cudaError_t code = cudaEventRecord(event, stream_of(other));
                if (code == cudaSuccess) {
                    code = cudaStreamWaitEvent(on.stream, event, 0);
                }
                (void)cudaEventDestroy(event);
                WARPFOLD_CHECK_CUDA(code);
            });
        },
        nb::arg("place"), nb::arg("stream"));
    m.def(
        "device_of",
        [](std::uintptr_t address) {
            cudaPointerAttributes facts{};
            WARPFOLD_CHECK_CUDA(cudaPointerGetAttributes(
                &facts, reinterpret_cast<void*>(address))); // NOLINT(performance-no-int-to-ptr)
            const bool is_device = facts.type == cudaMemoryTypeDevice || facts.type == cudaMemoryTypeManaged;
            return is_device ? facts.device : -1;
        },
        nb::arg("address"), "The device of an address; -1 for memory of the host.");
    m.def("current_device", [] {
        int device = 0;
        WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
        return device;
    });
}

void define_calls(nb::module_& m) {
    m.def(
        "copy",
        [](const place& at, const description& in, const description& out) {
            run(at, [&](const warpfold::gpu& on) { wg::copy(on, array_of(in), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("out"));
    m.def(
        "apply",
        [](const place& at, int op, int fold, const description& in, const std::optional<description>& other,
           std::uint64_t scalar, const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::apply(on, static_cast<wg::arithmetic>(op), element_of(fold), array_of(in),
                          optional_array(other).get(), scalar, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("other").none(), nb::arg("scalar"),
        nb::arg("out"));
    m.def(
        "reduce",
        [](const place& at, int op, int fold, const description& in, std::uint64_t length,
           const std::optional<description>& mask, const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::reduce(on, operation_of(op), element_of(fold), array_of(in), length, optional_array(mask).get(),
                           array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(),
        nb::arg("out"));
    m.def(
        "count_nonzero",
        [](const place& at, const description& in, std::uint64_t length, const std::optional<description>& mask,
           const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::count_nonzero(on, array_of(in), length, optional_array(mask).get(), array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(), nb::arg("out"));
    m.def(
        "squared_deviations",
        [](const place& at, int fold, const description& in, std::uint64_t length,
           const std::optional<description>& mask, const std::optional<description>& means, const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::squared_deviations(on, element_of(fold), array_of(in), length, optional_array(mask).get(),
                                       optional_array(means).get(), array_of(out));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("mask").none(),
        nb::arg("means").none(), nb::arg("out"));
    m.def(
        "arg_extreme",
        [](const place& at, bool smallest, int fold, const description& in, std::uint64_t length,
           const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::arg_extreme(on, smallest, element_of(fold), array_of(in), length, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("smallest"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "min_max",
        [](const place& at, int fold, const description& in, std::uint64_t length, const description& smallest,
           const description& largest) {
            run(at, [&](const warpfold::gpu& on) {
                wg::min_max(on, element_of(fold), array_of(in), length, array_of(smallest), array_of(largest));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("smallest"), nb::arg("largest"));
    m.def(
        "segment_reduce",
        [](const place& at, int op, int fold, const description& in, const description& offsets,
           const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::segment_reduce(on, operation_of(op), element_of(fold), array_of(in), array_of(offsets),
                                   array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("offsets"), nb::arg("out"));
    m.def(
        "scan",
        [](const place& at, int op, int fold, const description& in, std::uint64_t length, const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::scan(on, operation_of(op), element_of(fold), array_of(in), length, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("op"), nb::arg("fold"), nb::arg("a"), nb::arg("length"), nb::arg("out"));
    m.def(
        "exact_sum",
        [](const place& at, const description& in, const description& out) {
            run(at, [&](const warpfold::gpu& on) { wg::exact_sum(on, array_of(in), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("out"));
    m.def(
        "exact_dot",
        [](const place& at, const description& a, const description& b, const description& out) {
            run(at, [&](const warpfold::gpu& on) { wg::exact_dot(on, array_of(a), array_of(b), array_of(out)); });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("b"), nb::arg("out"));
    m.def(
        "histogram",
        [](const place& at, const description& samples, const description& edges,
           const std::optional<description>& weights, const description& sums) {
            run(at, [&](const warpfold::gpu& on) {
                wg::histogram(on, array_of(samples), array_of(edges), optional_array(weights).get(), array_of(sums));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("edges"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "count_values",
        [](const place& at, const description& samples, const std::optional<description>& weights,
           const description& sums) {
            run(at, [&](const warpfold::gpu& on) {
                wg::count_values(on, array_of(samples), optional_array(weights).get(), array_of(sums));
            });
        },
        nb::arg("place"), nb::arg("samples"), nb::arg("weights").none(), nb::arg("sums"));
    m.def(
        "correlate",
        [](const place& at, const description& in, const description& mask, int which, const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::correlate(on, array_of(in), array_of(mask), which, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("a"), nb::arg("mask"), nb::arg("which"), nb::arg("out"));
    m.def(
        "correlate_products",
        [](const place& at, int fold, const description& in, const description& mask, std::int64_t lead,
           const description& out) {
            run(at, [&](const warpfold::gpu& on) {
                wg::correlate_products(on, element_of(fold), array_of(in), array_of(mask), lead, array_of(out));
            });
        },
        nb::arg("place"), nb::arg("fold"), nb::arg("a"), nb::arg("mask"), nb::arg("lead"), nb::arg("out"));
}

} // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's own parameter.
NB_MODULE(_gpu, m) {
    m.doc() = "Calls of the C++ library on arrays in device memory. Use the package warpfold.";
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const warpfold::cuda_error& what) {
            PyErr_SetString(PyExc_RuntimeError, what.what());
        } catch (const warpfold::error& what) {
            PyErr_SetString(PyExc_ValueError, what.what());
        }
    });
    define_memory(m);
    define_calls(m);
}

// SPDX-License-Identifier: MIT
// Device memory, copies, and arrays of other packages, for the module.
#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "python/src/gpu/module/device_array.hpp"
#include "python/src/gpu/module/place.hpp"
#include "python/src/gpu/send.hpp"
#include "warpfold/error.hpp"

namespace warpfold::python::on_gpu {

namespace {

// Device memory. Freed in the order of its stream by free(); else, as the stream may be gone by then, after everything on
// the device.
class memory {
public:
    memory(const place& at, std::size_t bytes) : at_(at), bytes_(bytes) {
        run(at, [&](const gpu& on) {
            if (bytes != 0) {
                WARPFOLD_CHECK_CUDA(cudaMallocAsync(&address_, bytes, on.stream));
            }
        });
    }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
        try {
            const bool is_default = at_.second <= 1; // 0, or cudaStreamLegacy
            release(is_default);
        } catch (const error&) { // the device is lost, or the process ends: so is the memory
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
        run(at_, [&](const gpu& on) {
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

// The bytes of a row-major array in host memory.
class buffer {
public:
    buffer(nb::handle of, int flags) {
        if (PyObject_GetBuffer(of.ptr(), &view_, flags) != 0) {
            nb::raise_python_error();
        }
    }
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    ~buffer() { PyBuffer_Release(&view_); }

    [[nodiscard]] void* data() const { return view_.buf; }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }

private:
    Py_buffer view_{};
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

// A capsule of DLPack over a device_array, which it keeps alive.
nb::object exported(nb::handle owner) {
    const auto& [of, at, memory] = *nb::inst_ptr<device_array>(owner);
    static constexpr nb::dlpack::dtype_code kinds[] = {nb::dlpack::dtype_code::Bool, nb::dlpack::dtype_code::Int,
                                                       nb::dlpack::dtype_code::UInt, nb::dlpack::dtype_code::Float};
    const element which = of.type;
    const int kind = which == element::boolean ? 0 : which <= element::int64 ? 1 : which <= element::uint64 ? 2 : 3;
    const std::int64_t size = size_of(which);
    const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(kinds[kind]), static_cast<std::uint8_t>(8 * size), 1};
    std::vector<std::size_t> extents(of.shape.begin(), of.shape.end());
    std::vector<std::int64_t> steps(of.strides);
    for (std::int64_t& step : steps) {
        step /= size;
    }
    const nb::ndarray<> tensor(of.data, extents.size(), extents.data(), owner, steps.data(), dtype,
                               nb::device::cuda::value, at.first);
    return nb::cast(tensor, nb::rv_policy::reference);
}

} // namespace

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
    m.def("exported", exported, nb::arg("array"));
    m.def(
        "to_device",
        [](nb::handle from, const device_array& to) {
            const buffer host(from, PyBUF_SIMPLE);
            run(to.at, [&](const gpu& on) { send(on, host.data(), host.bytes(), to.of.data); });
        },
        nb::arg("source"), nb::arg("target"), "The bytes of an array of the host, which may be freed afterwards.");
    m.def(
        "to_host",
        [](const device_array& from, nb::handle to) {
            const buffer host(to, PyBUF_WRITABLE);
            run(from.at, [&](const gpu& on) {
                WARPFOLD_CHECK_CUDA(
                    cudaMemcpyAsync(host.data(), from.of.data, host.bytes(), cudaMemcpyDeviceToHost, on.stream));
                WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
            });
        },
        nb::arg("source"), nb::arg("target"), "Fills an array of the host with the first bytes. Waits.");
    // The place's stream waits for what is on another stream of its device now.
    m.def(
        "wait_for",
        [](const place& at, std::uintptr_t other) {
            run(at, [&](const gpu& on) {
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

} // namespace warpfold::python::on_gpu

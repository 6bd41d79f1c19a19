// SPDX-License-Identifier: MIT
// The few calls of the CUDA driver API that say which GPUs there are, by the names and values that its documentation
// gives.
#include "tool/run/gpu_driver.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include <fmt/format.h>

namespace warpfold::tool {
namespace {

using driver_result = int; // CUresult; 0 is success
using device_handle = int; // CUdevice

// CUdevice_attribute
constexpr int attribute_multiprocessors = 16;
constexpr int attribute_l2_bytes = 38;
constexpr int attribute_compute_major = 75;
constexpr int attribute_compute_minor = 76;

template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
}

driver_report ask_driver() {
    driver_report report;
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        report.why_none = "no NVIDIA driver is installed (libcuda.so.1 is not there)";
        return report;
    }
    if (::dlsym(library, "softgpu_is_the_driver") != nullptr) {
        report.why_none = "libcuda.so.1 is that of the software GPU";
        return report;
    }
    driver_result (*initialise)(unsigned) = nullptr;
    driver_result (*driver_version)(int*) = nullptr;
    driver_result (*device_count)(int*) = nullptr;
    driver_result (*device_get)(device_handle*, int) = nullptr;
    driver_result (*device_name)(char*, int, device_handle) = nullptr;
    driver_result (*device_memory)(std::size_t*, device_handle) = nullptr;
    driver_result (*device_attribute)(int*, int, device_handle) = nullptr;
    if (!look_up(library, "cuInit", initialise) || !look_up(library, "cuDriverGetVersion", driver_version) ||
        !look_up(library, "cuDeviceGetCount", device_count) || !look_up(library, "cuDeviceGet", device_get) ||
        !look_up(library, "cuDeviceGetName", device_name) || !look_up(library, "cuDeviceTotalMem_v2", device_memory) ||
        !look_up(library, "cuDeviceGetAttribute", device_attribute)) {
        report.why_none = "libcuda.so.1 lacks calls of the CUDA driver API";
        return report;
    }
    if (int version = 0; driver_version(&version) == 0) {
        report.cuda_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
    if (const driver_result error = initialise(0); error != 0) {
        report.why_none = error == 100 ? "the NVIDIA driver sees no GPU"
                                       : fmt::format("the NVIDIA driver does not start (error {})", error);
        return report;
    }
    int count = 0;
    if (const driver_result error = device_count(&count); error != 0) {
        report.why_none = fmt::format("the NVIDIA driver does not count its GPUs (error {})", error);
        return report;
    }
    for (int i = 0; i < count; ++i) {
        device_handle device = 0;
        if (device_get(&device, i) != 0) {
            continue;
        }
        gpu g;
        std::array<char, 256> name{};
        if (device_name(name.data(), static_cast<int>(name.size()) - 1, device) == 0) {
            g.name = name.data();
        }
        std::size_t memory = 0;
        if (device_memory(&memory, device) == 0) {
            g.memory_bytes = memory;
        }
        const auto attribute = [&](int which) {
            int value = 0;
            return device_attribute(&value, which, device) == 0 ? value : 0;
        };
        g.compute_major = attribute(attribute_compute_major);
        g.compute_minor = attribute(attribute_compute_minor);
        g.multiprocessors = attribute(attribute_multiprocessors);
        g.l2_bytes = static_cast<std::uint64_t>(attribute(attribute_l2_bytes));
        report.gpus.push_back(std::move(g));
    }
    if (report.gpus.empty()) {
        report.why_none = "the NVIDIA driver sees no GPU";
    }
    return report;
}

} // namespace

const driver_report& installed_gpus() {
    static const driver_report report = ask_driver();
    return report;
}

} // namespace warpfold::tool

// SPDX-License-Identifier: MIT
// The exported calls of libnvidia-ml.so.1. They give the card's facts, and create no context: a process that forks after them
// may use CUDA in the child.
#include "softgpu/runtime/nvml/nvml.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/cards/properties.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/settings.hpp"

namespace softgpu::runtime {
namespace {

constexpr int cuda_version = 13000;
constexpr std::string_view driver_text = "580.65.06"; // the first driver of CUDA 13.0
constexpr std::string_view nvml_text = "13.580.65.06";
constexpr unsigned nvidia_vendor = 0x10DE;

std::atomic<int> users{0};

struct machine_facts {
    const card* of;
    int devices;
};

machine_facts facts() {
    if (const device_group* const group = existing_devices()) {
        return {&group->at(0).device(), group->count()};
    }
    const settings now = read_settings();
    return {now.device, now.devices};
}

nvmlDevice_t handle_of(int number) { return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(number) + 1); }

// The frame of every call: body() may throw failure.
template <class Body>
nvmlReturn_t guarded(Body&& body) noexcept {
    if (users == 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    try {
        return body();
    } catch (const failure& f) {
        if (!f.message.empty()) {
            report(f.message);
        }
    } catch (const std::exception& e) {
        report(e.what());
    }
    return NVML_ERROR_UNKNOWN;
}

// body(card, number of the device) of a call with these results, none of which may be null.
template <class Body>
nvmlReturn_t of_device(nvmlDevice_t device, std::initializer_list<const void*> results, Body&& body) noexcept {
    return guarded([&] {
        const machine_facts now = facts();
        const auto number = reinterpret_cast<std::uintptr_t>(device);
        if (number < 1 || number > static_cast<std::uintptr_t>(now.devices) ||
            std::ranges::find(results, nullptr) != results.end()) {
            return NVML_ERROR_INVALID_ARGUMENT;
        }
        return body(*now.of, static_cast<int>(number - 1));
    });
}

template <class Out, class Value>
nvmlReturn_t give(nvmlDevice_t device, Out* out, Value value) noexcept {
    return of_device(device, {out}, [&](const card& c, int number) {
        *out = static_cast<Out>(value(c, number));
        return NVML_SUCCESS;
    });
}

nvmlReturn_t give_text(std::string_view text, char* out, unsigned length) {
    if (out == nullptr) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (length <= text.size()) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *std::ranges::copy(text, out).out = '\0';
    return NVML_SUCCESS;
}

// As nvidia-smi writes the bytes of cudaGetDeviceProperties.
std::string uuid_of(const card& c, int number) {
    const auto uuid = properties_of(c, number).uuid;
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char byte[3];
        (void)std::snprintf(byte, sizeof byte, "%02x",
                            static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
        text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        text += byte;
    }
    return text;
}

// The first device for which is_it(card, number).
template <class Test>
nvmlReturn_t find(nvmlDevice_t* device, const void* wanted, Test is_it) noexcept {
    return guarded([&] {
        if (device == nullptr || wanted == nullptr) {
            return NVML_ERROR_INVALID_ARGUMENT;
        }
        const machine_facts now = facts();
        for (int number = 0; number < now.devices; ++number) {
            if (is_it(*now.of, number)) {
                *device = handle_of(number);
                return NVML_SUCCESS;
            }
        }
        return NVML_ERROR_NOT_FOUND;
    });
}

struct memory_bytes {
    std::uint64_t total, used;
};

// Of this process alone.
memory_bytes memory_of(const card& c, int number) {
    const device_group* const group = existing_devices();
    if (group == nullptr) {
        return {c.memory_bytes, 0};
    }
    context& gpu = group->at(number);
    const locked lock(gpu.mutex());
    return {c.memory_bytes, gpu.memory().used()};
}

unsigned megahertz(const card& c, nvmlClockType_t type) {
    return static_cast<unsigned>((type == NVML_CLOCK_MEM ? c.memory_clock_khz : c.clock_khz) / 1000);
}

unsigned architecture_of(const card& c) {
    switch (c.major) {
    case 3: return 2;
    case 5: return 3;
    case 6: return 4;
    case 7: return c.minor < 5 ? 5 : 6;
    case 8: return c.minor < 9 ? 7 : 8;
    case 9: return 9;
    default: return 10;
    }
}

nvmlReturn_t no_processes(nvmlDevice_t device, unsigned* count) {
    return give(device, count, [](const card&, int) { return 0; });
}

} // namespace
} // namespace softgpu::runtime

using namespace softgpu::runtime;

#pragma GCC visibility push(default)
extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned) {
    ++users;
    const nvmlReturn_t result = guarded([] {
        (void)facts();
        return NVML_SUCCESS;
    });
    users -= result == NVML_SUCCESS ? 0 : 1;
    return result == NVML_SUCCESS ? result : NVML_ERROR_DRIVER_NOT_LOADED;
}
nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
    int now = users;
    while (now > 0 && !users.compare_exchange_weak(now, now - 1)) {
    }
    return now > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

const char* nvmlErrorString(nvmlReturn_t code) {
    switch (code) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    case NVML_ERROR_UNKNOWN: break;
    }
    return "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned length) {
    return guarded([&] { return give_text(driver_text, text, length); });
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char* text, unsigned length) {
    return give_text(nvml_text, text, length); // before nvmlInit() too
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
    if (version == nullptr) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *version = cuda_version;
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

nvmlReturn_t nvmlSystemGetProcessName(unsigned process, char* name, unsigned length) {
    return guarded([&] {
        std::ifstream in("/proc/" + std::to_string(process) + "/cmdline");
        std::string text;
        std::getline(in, text, '\0');
        return in || !text.empty() ? give_text(text, name, length) : NVML_ERROR_NOT_FOUND;
    });
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
    return guarded([&] {
        if (count == nullptr) {
            return NVML_ERROR_INVALID_ARGUMENT;
        }
        *count = static_cast<unsigned>(facts().devices);
        return NVML_SUCCESS;
    });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
    const nvmlReturn_t found =
        find(device, &index, [&](const card&, int number) { return static_cast<int>(index) == number; });
    return found == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : found;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
    return find(device, uuid, [&](const card& c, int number) { return uuid_of(c, number) == uuid; });
}
// "domain:bus:device.function", hexadecimal.
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
    return find(device, bus_id, [&](const card&, int number) {
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        return std::sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4 && domain == 0 && slot == 0 &&
               function == 0 && bus == static_cast<unsigned>(number);
    });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
    return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
    return of_device(device, {name}, [&](const card& c, int) { return give_text(c.name, name, length); });
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) {
    return of_device(device, {uuid},
                     [&](const card& c, int number) { return give_text(uuid_of(c, number), uuid, length); });
}
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
    return give(device, index, [](const card&, int number) { return number; });
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* number) {
    return nvmlDeviceGetIndex(device, number);
}
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, int* brand) {
    constexpr int tesla = 2;
    constexpr int geforce = 5;
    constexpr int nvidia = 14;
    return give(device, brand, [](const card& c, int) {
        return c.name.starts_with("Tesla") ? tesla : c.name.starts_with("NVIDIA GeForce") ? geforce : nvidia;
    });
}
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) {
    return give(device, architecture, [](const card& c, int) { return architecture_of(c); });
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
    return of_device(device, {major, minor}, [&](const card& c, int) {
        *major = c.major;
        *minor = c.minor;
        return NVML_SUCCESS;
    });
}
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* bits) {
    return give(device, bits, [](const card& c, int) { return c.memory_bus_bits; });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return of_device(device, {pci}, [&](const card&, int number) {
        *pci = {};
        (void)std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", static_cast<unsigned>(number));
        (void)std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", static_cast<unsigned>(number));
        pci->bus = static_cast<unsigned>(number);
        pci->pciDeviceId = nvidia_vendor;
        return NVML_SUCCESS;
    });
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return nvmlDeviceGetPciInfo_v3(device, pci);
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return nvmlDeviceGetPciInfo_v3(device, pci);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
    return of_device(device, {memory}, [&](const card& c, int number) {
        const memory_bytes now = memory_of(c, number);
        *memory = {now.total, now.total - now.used, now.used};
        return NVML_SUCCESS;
    });
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
    return of_device(device, {memory}, [&](const card& c, int number) {
        if (memory->version != nvmlMemory_v2) {
            return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        }
        const memory_bytes now = memory_of(c, number);
        *memory = {nvmlMemory_v2, now.total, 0, now.total - now.used, now.used};
        return NVML_SUCCESS;
    });
}

// Nothing is measured: the rates, the temperature and the power are 0.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
    return give(device, rates, [](const card&, int) { return nvmlUtilization_t{}; });
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned* celsius) {
    return sensor != NVML_TEMPERATURE_GPU ? NVML_ERROR_INVALID_ARGUMENT
                                          : give(device, celsius, [](const card&, int) { return 0; });
}
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_v1_t* temperature) {
    return of_device(device, {temperature}, [&](const card&, int) {
        if (temperature->version != nvmlTemperature_v1) {
            return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        }
        temperature->temperature = 0;
        return NVML_SUCCESS;
    });
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
    return give(device, milliwatts, [](const card&, int) { return 0; });
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* value) {
    return type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_VIDEO
               ? NVML_ERROR_INVALID_ARGUMENT
               : give(device, value, [&](const card& c, int) { return megahertz(c, type); });
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* value) {
    return nvmlDeviceGetMaxClockInfo(device, type, value);
}
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int* mode) {
    return give(device, mode, [](const card&, int) { return 0; });
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, int* state) {
    return give(device, state, [](const card&, int) { return 0; });
}
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
    return give(device, mode, [](const card&, int) { return NVML_FEATURE_ENABLED; });
}
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current, nvmlEnableState_t* pending) {
    return of_device(device, {current, pending}, [&](const card& c, int) {
        *current = *pending = c.ecc != 0 ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
        return NVML_SUCCESS;
    });
}

#define SOFTGPU_NO_PROCESSES(name)                                                                                     \
    nvmlReturn_t name(nvmlDevice_t device, unsigned* count, void*) { return no_processes(device, count); }
SOFTGPU_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
SOFTGPU_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
#undef SOFTGPU_NO_PROCESSES

// As cudaDeviceGetP2PAttribute: access and atomics, but no NVLink.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other, nvmlGpuP2PCapsIndex_t what,
                                    nvmlGpuP2PStatus_t* status) {
    return of_device(one, {status}, [&](const card&, int) {
        return of_device(other, {}, [&](const card&, int) {
            *status =
                one == other || what == NVML_P2P_CAPS_INDEX_NVLINK ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
            return NVML_SUCCESS;
        });
    });
}

#define SOFTGPU_NVML_STUB(name)                                                                                        \
    nvmlReturn_t name() { return NVML_ERROR_NOT_SUPPORTED; }
#include "softgpu/runtime/nvml/stubs.def"

} // extern "C"
#pragma GCC visibility pop

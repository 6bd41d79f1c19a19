// SPDX-License-Identifier: MIT
// The devices.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/cards/properties.hpp"

namespace softgpu::runtime {
namespace {

constexpr int driver_version = 13000;

// What the program is told: SOFTGPU_DRIVER_VERSION, such as 13.4, for a client that hands over PTX to drivers of its own
// version only. The calls stay those of 13.0.
int stated_version() {
    const char* const wish = std::getenv("SOFTGPU_DRIVER_VERSION");
    if (wish == nullptr || *wish == '\0') {
        return driver_version;
    }
    const char* const end = wish + std::strlen(wish);
    int major = 0;
    int minor = 0;
    const auto [point, no_major] = std::from_chars(wish, end, major);
    const auto [rest, no_minor] = std::from_chars(std::min(point + 1, end), end, minor);
    if (no_major != std::errc{} || no_minor != std::errc{} || *point != '.' || rest != end || major < 1 || major > 99 ||
        minor < 0 || minor > 9) {
        report("SOFTGPU_DRIVER_VERSION=" + std::string(wish) + " is no version such as 13.4");
        return driver_version;
    }
    return 1000 * major + 10 * minor;
}

// Attributes that only the driver has. Others than these are about features that do not exist here.
constexpr int virtual_memory_management = 102;
constexpr int handles_are_file_descriptors = 103;
constexpr int memory_operations_of_64_bits = 122;
constexpr int memory_operations_wait_for_nor = 123;
constexpr int first_attribute = 1;
constexpr int last_attribute = 149;

int attribute_of(const context& gpu, int which) {
    if (which == virtual_memory_management || which == handles_are_file_descriptors ||
        which == memory_operations_of_64_bits || which == memory_operations_wait_for_nor) {
        return 1;
    }
    int value = 0;
    if (!device_attribute(gpu.device(), gpu.number(), which, value)) {
        require(which >= first_attribute && which <= last_attribute);
        value = 0;
    }
    return value;
}

result give_id(universal_id* id, int device) {
    return without_context([&] {
        require(id != nullptr);
        require_device(device);
        const device_properties p = properties_of(current_context().device(), device);
        static_assert(sizeof p.uuid == sizeof *id);
        std::memcpy(id, &p.uuid, sizeof *id);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// Also before cuInit.
result cuDriverGetVersion(int* version) {
    if (version == nullptr) {
        return result::invalid_value;
    }
    *version = stated_version();
    return result::success;
}

result cuDeviceGetCount(int* count) {
    return without_context([&] { return cudaGetDeviceCount(count); });
}

result cuDeviceGet(int* device, int ordinal) {
    return without_context([&] {
        require(device != nullptr);
        require_device(ordinal);
        *device = ordinal;
    });
}

result cuDeviceGetName(char* name, int bytes, int device) {
    return without_context([&] {
        require(name != nullptr && bytes > 0);
        require_device(device);
        const std::string_view full = current_context().device().name;
        const std::size_t length = std::min(full.size(), static_cast<std::size_t>(bytes) - 1);
        std::memcpy(name, full.data(), length);
        name[length] = '\0';
    });
}

result cuDeviceGetUuid(universal_id* id, int device) { return give_id(id, device); }

result cuDeviceGetUuid_v2(universal_id* id, int device) { return give_id(id, device); }

result cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    return without_context([&] {
        require(bytes != nullptr);
        require_device(device);
        *bytes = current_context().device().memory_bytes;
    });
}

result cuDeviceGetAttribute(int* value, int which, int device) {
    return without_context([&] {
        require(value != nullptr);
        require_device(device);
        *value = attribute_of(all_devices().at(device), which);
    });
}

result cuDeviceComputeCapability(int* major, int* minor, int device) {
    return without_context([&] {
        require(major != nullptr && minor != nullptr);
        require_device(device);
        *major = current_context().device().major;
        *minor = current_context().device().minor;
    });
}

result cuDeviceGetPCIBusId(char* text, int length, int device) {
    return without_context([&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

result cuDeviceGetByPCIBusId(int* device, const char* text) {
    return without_context([&] { return cudaDeviceGetByPCIBusId(device, text); });
}

result cuDeviceCanAccessPeer(int* can, int device, int peer) {
    return without_context([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

result cuDeviceGetP2PAttribute(int* value, int which, int source, int destination) {
    return without_context([&] { return cudaDeviceGetP2PAttribute(value, which, source, destination); });
}

result cuDeviceGetDefaultMemPool(memory_pool** pool, int device) {
    return without_context([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}

result cuDeviceGetMemPool(memory_pool** pool, int device) {
    return without_context([&] { return cudaDeviceGetMemPool(pool, device); });
}

result cuDeviceSetMemPool(int device, memory_pool* pool) {
    return without_context([&] { return cudaDeviceSetMemPool(device, pool); });
}

result cuDeviceGetExecAffinitySupport(int* supported, int, int device) {
    return without_context([&] {
        require(supported != nullptr);
        require_device(device);
        *supported = 0;
    });
}

result cuDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int device) {
    return without_context([&] { return cudaDeviceGetHostAtomicCapabilities(out, operations, count, device); });
}

result cuDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int source,
                                        int destination) {
    return without_context(
        [&] { return cudaDeviceGetP2PAtomicCapabilities(out, operations, count, source, destination); });
}

result cuDeviceRegisterAsyncNotification(int device, void (*who)(void*, void*, void*), void* user, void** handle) {
    return without_context([&] { return cudaDeviceRegisterAsyncNotification(device, who, user, handle); });
}

result cuDeviceUnregisterAsyncNotification(int device, void* handle) {
    return without_context([&] { return cudaDeviceUnregisterAsyncNotification(device, handle); });
}

// The logs are there before cuInit.
result cuLogsRegisterCallback(logs::listener who, void* user, logs::registration** out) {
    return result_of(cudaLogsRegisterCallback(who, user, out));
}

result cuLogsUnregisterCallback(logs::registration* r) { return result_of(cudaLogsUnregisterCallback(r)); }

result cuLogsCurrent(std::uint32_t* iterator, unsigned flags) { return result_of(cudaLogsCurrent(iterator, flags)); }

result cuLogsDumpToFile(std::uint32_t* iterator, const char* path, unsigned flags) {
    return result_of(cudaLogsDumpToFile(iterator, path, flags));
}

result cuLogsDumpToMemory(std::uint32_t* iterator, char* buffer, std::size_t* bytes, unsigned flags) {
    return result_of(cudaLogsDumpToMemory(iterator, buffer, bytes, flags));
}

result cuProfilerStart() { return result::success; }

result cuProfilerStop() { return result::success; }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The device, number 0, and its settings.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::string_view bus_id = "0000:00:00.0";
constexpr unsigned schedule_mask = 0x07;
constexpr unsigned map_host = 0x08;
constexpr unsigned flags_mask = 0xFF;
constexpr std::uint64_t most_stack_bytes = 512 << 10;

std::uint64_t standard_limit(const card& device, limit which) {
    switch (which) {
    case limit::stack_bytes: return 1024;
    case limit::printf_bytes: return 8650752;
    case limit::heap_bytes: return 8 << 20;
    case limit::pending_launches: return 2048;
    case limit::l2_fetch_granularity: return 64;
    case limit::persisting_l2_bytes: return static_cast<std::uint64_t>(device.persisting_l2_bytes) * 3 / 10;
    case limit::synchronization_depth: break;
    }
    fail(error::unsupported_limit);
}

void require_limit(limit which) { require(which >= limit::stack_bytes && which <= limit::persisting_l2_bytes); }

void set_flags(context& gpu, unsigned flags) {
    require((flags & ~flags_mask) == 0);
    const unsigned schedule = flags & schedule_mask;
    require(schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4);
    gpu.state().flags = flags | map_host;
}

// A PCI address "domain:bus:device.function" or "bus:device.function", all hexadecimal.
bool read_bus_id(const char* text, unsigned (&parts)[4]) {
    int used = 0;
    if (std::sscanf(text, "%x:%x:%x.%x%n", &parts[0], &parts[1], &parts[2], &parts[3], &used) == 4) {
        return text[used] == '\0';
    }
    parts[0] = 0;
    return std::sscanf(text, "%x:%x.%x%n", &parts[1], &parts[2], &parts[3], &used) == 3 && text[used] == '\0';
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaGetDeviceCount(int* count) {
    return call([&](context&, locked&) {
        require(count != nullptr);
        *count = 1;
    });
}

error cudaGetDevice(int* device) {
    return call([&](context&, locked&) {
        require(device != nullptr);
        *device = 0;
    });
}

error cudaSetDevice(int device) {
    return call([&](context&, locked&) { require_device(device); });
}

error cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require_device(device);
        require(flags <= 1);
        if (flags == 1) {
            set_flags(gpu, device_flags);
        }
    });
}

error cudaSetValidDevices(int* devices, int length) {
    return call([&](context&, locked&) {
        require(length >= 0 && (devices != nullptr || length == 0));
        for (int i = 0; i < length; ++i) {
            require_device(devices[i]);
        }
    });
}

error cudaChooseDevice(int* device, const device_properties* wanted) {
    return call([&](context&, locked&) {
        require(device != nullptr && wanted != nullptr);
        *device = 0;
    });
}

error cudaSetDeviceFlags(unsigned flags) {
    return call([&](context& gpu, locked&) { set_flags(gpu, flags); });
}

error cudaGetDeviceFlags(unsigned* flags) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        *flags = gpu.state().flags;
    });
}

error cudaDeviceGetAttribute(int* value, int attribute, int device) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        require_device(device);
        require(device_attribute(gpu.device(), attribute, *value));
    });
}

error cudaDeviceSynchronize() {
    return call([](context& gpu, locked& lock) {
        require_no_capture(gpu.streams());
        gpu.synchronize(lock);
    });
}

error cudaDeviceReset() {
    return call([](context& gpu, locked& lock) { gpu.reset(lock); });
}

error cudaDeviceGetLimit(std::size_t* value, limit which) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        gpu.require_usable();
        require_limit(which);
        const std::uint64_t standard = standard_limit(gpu.device(), which);
        const auto set = gpu.state().limits.find(which);
        *value = set == gpu.state().limits.end() ? standard : set->second;
    });
}

error cudaDeviceSetLimit(limit which, std::size_t value) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        require_limit(which);
        (void)standard_limit(gpu.device(), which);
        require(which != limit::stack_bytes || value <= most_stack_bytes);
        require(which != limit::l2_fetch_granularity || value <= 128);
        require(which != limit::persisting_l2_bytes ||
                value <= static_cast<std::size_t>(gpu.device().persisting_l2_bytes));
        gpu.state().limits[which] = value;
    });
}

error cudaDeviceGetCacheConfig(cache_preference* preference) {
    return give(preference, [&](context& gpu) { return gpu.state().cache; });
}

error cudaDeviceSetCacheConfig(cache_preference preference) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        require(preference >= cache_preference::none && preference <= cache_preference::equal);
        gpu.state().cache = preference;
    });
}

error cudaDeviceGetSharedMemConfig(bank_width* width) {
    return give(width, [&](context&) { return bank_width::four_bytes; });
}

// Banks are four bytes wide on every card that CUDA supports. The call has no effect.
error cudaDeviceSetSharedMemConfig(bank_width width) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        require(width >= bank_width::automatic && width <= bank_width::eight_bytes);
    });
}

error cudaCtxResetPersistingL2Cache() {
    return call([](context& gpu, locked&) { gpu.require_usable(); });
}

error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&](context&, locked&) {
        require(can != nullptr);
        require_device(device);
        require_device(peer);
        *can = 0;
    });
}

error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags == 0);
        require_device(peer);
        gpu.require_usable();
        fail(error::peer_access_unsupported);
    });
}

error cudaDeviceDisablePeerAccess(int peer) {
    return call([&](context& gpu, locked&) {
        require_device(peer);
        gpu.require_usable();
        fail(error::peer_access_not_enabled);
    });
}

// An attribute of two devices; there is only one.
error cudaDeviceGetP2PAttribute(int* value, int attribute, int source, int destination) {
    return call([&](context&, locked&) {
        require(value != nullptr && attribute >= 1 && attribute <= 5);
        require_device(source);
        require_device(destination);
        fail(error::invalid_device);
    });
}

error cudaDeviceGetPCIBusId(char* text, int length, int device) {
    return call([&](context&, locked&) {
        require(text != nullptr && length > static_cast<int>(bus_id.size()));
        require_device(device);
        std::memcpy(text, bus_id.data(), bus_id.size());
        text[bus_id.size()] = '\0';
    });
}

error cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return call([&](context&, locked&) {
        require(device != nullptr && text != nullptr);
        unsigned parts[4] = {};
        require(read_bus_id(text, parts));
        require((parts[0] | parts[1] | parts[2] | parts[3]) == 0, error::invalid_device);
        *device = 0;
    });
}

error cudaProfilerStart() { return error::success; }

error cudaProfilerStop() { return error::success; }

// No driver exists here: every symbol is "not found", which is not an error.
error cudaGetDriverEntryPointByVersion(const char* symbol, void** entry, unsigned, unsigned long long flags,
                                       int* found) {
    return call([&] {
        require(symbol != nullptr && entry != nullptr && flags <= 2);
        *entry = nullptr;
        if (found != nullptr) {
            *found = 1;
        }
    });
}

error cudaGetDriverEntryPoint(const char* symbol, void** entry, unsigned long long flags, int* found) {
    return cudaGetDriverEntryPointByVersion(symbol, entry, 0, flags, found);
}

decltype(cudaGetDriverEntryPoint) cudaGetDriverEntryPoint_ptsz [[gnu::alias("cudaGetDriverEntryPoint")]];
decltype(cudaGetDriverEntryPointByVersion) cudaGetDriverEntryPointByVersion_ptsz
    [[gnu::alias("cudaGetDriverEntryPointByVersion")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The devices and their settings.
#include <cstdint>
#include <cstdio>

#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/cards/properties.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

constexpr int bus_id_length = 12;
constexpr int rank_of_peers = 1;       // cudaDevP2PAttrPerformanceRank; then access, atomics and arrays
constexpr int last_peer_attribute = 5; // atomics of part of the operations only
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

// It makes no context current.
error cudaGetDeviceCount(int* count) {
    return call([&] {
        require(count != nullptr);
        *count = all_devices().count();
    });
}

error cudaGetDevice(int* device) {
    return call([&](context& gpu, locked&) {
        require(device != nullptr);
        *device = gpu.number();
    });
}

error cudaSetDevice(int device) {
    return call([&](context& gpu, locked&) {
        checked_device(gpu, device).use_by_runtime();
        choose_device(device);
    });
}

error cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    return call([&](context& gpu, locked&) {
        context& which = checked_device(gpu, device);
        require(flags <= 1);
        if (flags == 1) {
            set_flags(which, device_flags);
        }
    });
}

error cudaSetValidDevices(int* devices, int length) {
    return call([&](context& gpu, locked&) {
        require(length >= 0 && (devices != nullptr || length == 0));
        for (int i = 0; i < length; ++i) {
            (void)checked_device(gpu, devices[i]);
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
        const context& of = checked_device(gpu, device);
        require(device_attribute(of.device(), of.number(), attribute, *value));
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

// Any device can access any other one.
error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&](context& gpu, locked&) {
        require(can != nullptr);
        *can = &checked_device(gpu, device) != &checked_device(gpu, peer) ? 1 : 0;
    });
}

error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(flags == 0);
        const context& other = checked_device(gpu, peer);
        gpu.require_usable();
        require(&other != &gpu, error::peer_access_unsupported);
        require(memory::peers::open(gpu.memory(), other.memory()), error::peer_access_already_enabled);
    });
}

error cudaDeviceDisablePeerAccess(int peer) {
    return call([&](context& gpu, locked&) {
        const context& other = checked_device(gpu, peer);
        gpu.require_usable();
        require(memory::peers::close(gpu.memory(), other.memory()), error::peer_access_not_enabled);
    });
}

error cudaDeviceGetP2PAttribute(int* value, int attribute, int source, int destination) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr && attribute >= rank_of_peers && attribute <= last_peer_attribute);
        require(&checked_device(gpu, source) != &checked_device(gpu, destination), error::invalid_device);
        *value = attribute == rank_of_peers || attribute == last_peer_attribute ? 0 : 1;
    });
}

error cudaDeviceGetPCIBusId(char* text, int length, int device) {
    return call([&](context& gpu, locked&) {
        require(text != nullptr && length > bus_id_length);
        (void)std::snprintf(text, bus_id_length + 1, "0000:%02x:00.0", checked_device(gpu, device).number());
    });
}

error cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return call([&](context& gpu, locked&) {
        require(device != nullptr && text != nullptr);
        unsigned parts[4] = {};
        require(read_bus_id(text, parts));
        require((parts[0] | parts[2] | parts[3]) == 0 && parts[1] < static_cast<unsigned>(gpu.group().count()),
                error::invalid_device);
        *device = static_cast<int>(parts[1]);
    });
}

error cudaProfilerStart() { return error::success; }

error cudaProfilerStop() { return error::success; }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

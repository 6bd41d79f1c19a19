// SPDX-License-Identifier: MIT
// CUDA's logs, and notifications of a device, which never come: they are about budgets of other operating systems.
#include <fstream>
#include <set>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/logs.hpp"

namespace softgpu::runtime {
namespace {

using notified = void (*)(void* information, void* user, void* handle);

std::set<void*>& notifications() { // guarded by the devices' lock
    static auto& all = *new std::set<void*>;
    return all;
}

// Calls give(first line) and moves the program's iterator, if it has one, behind the lines.
template <class Give>
void dump(std::uint32_t* iterator, Give&& give) {
    const std::uint32_t end = logs::next();
    give(iterator != nullptr ? *iterator : 0);
    if (iterator != nullptr) {
        *iterator = end;
    }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaLogsRegisterCallback(logs::listener who, void* user, logs::registration** out) {
    return call([&] {
        require(who != nullptr);
        logs::registration* const made = logs::listen(who, user);
        if (out != nullptr) {
            *out = made;
        }
    });
}

error cudaLogsUnregisterCallback(logs::registration* r) {
    return call([&] { require(logs::unlisten(r)); });
}

error cudaLogsCurrent(std::uint32_t* iterator, unsigned flags) {
    return call([&] {
        require(iterator != nullptr && flags == 0);
        *iterator = logs::next();
    });
}

error cudaLogsDumpToFile(std::uint32_t* iterator, const char* path, unsigned flags) {
    return call([&] {
        require(path != nullptr && flags == 0);
        dump(iterator, [&](std::uint32_t first) {
            std::ofstream out(path, std::ios::app);
            out << logs::since(first).value_or("");
            require(out.good());
        });
    });
}

error cudaLogsDumpToMemory(std::uint32_t* iterator, char* buffer, std::size_t* bytes, unsigned flags) {
    return call([&] {
        require(buffer != nullptr && bytes != nullptr && *bytes != 0 && flags == 0);
        dump(iterator, [&](std::uint32_t first) {
            const auto text = logs::since(first, *bytes - 1);
            *bytes = text.value_or("").size();
            buffer[text.value_or("").copy(buffer, *bytes)] = '\0';
            require(text.has_value());
        });
    });
}

error cudaDeviceRegisterAsyncNotification(int device, notified who, void*, void** handle) {
    return call([&](context& gpu, locked&) {
        (void)checked_device(gpu, device);
        require(who != nullptr && handle != nullptr);
        *handle = *notifications().insert(new char).first;
    });
}

error cudaDeviceUnregisterAsyncNotification(int device, void* handle) {
    return call([&](context& gpu, locked&) {
        (void)checked_device(gpu, device);
        require(notifications().erase(handle) == 1);
        delete static_cast<char*>(handle);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Initialisation, contexts, and the calls that set up the device.
#include <memory>
#include <mutex>
#include <utility>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

result create(driver_context** out, unsigned flags, int device) {
    return without_context([&] {
        require(out != nullptr);
        require_device(device);
        driver_contexts& contexts = all_contexts();
        const std::lock_guard lock(contexts.access);
        auto made = std::make_unique<driver_context>();
        made->flags = flags;
        made->id = ++contexts.last_id;
        made->device = device;
        *out = made.get();
        contexts.created.insert(std::move(made));
        context_stack().push_back(*out);
        follow_context_stack();
    });
}

error synchronize_device_of(const driver_context& c) {
    return call([&](context& gpu, locked& lock) {
        require_no_capture(checked_device(gpu, c.device).streams());
        checked_device(gpu, c.device).synchronize(lock);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuInit(unsigned flags) {
    try {
        require(flags == 0);
        (void)current_context();
        set_initialized();
        return result::success;
    } catch (...) {
        return result_of(remember_current_exception());
    }
}

result cuDevicePrimaryCtxRetain(driver_context** out, int device) {
    return without_context([&] {
        require(out != nullptr);
        driver_context& primary = primary_of(device);
        const std::lock_guard lock(all_contexts().access);
        ++primary.retained;
        *out = &primary;
    });
}

// The device keeps its contents: only cuDevicePrimaryCtxReset discards them.
result cuDevicePrimaryCtxRelease_v2(int device) {
    return without_context([&] {
        driver_context& primary = primary_of(device);
        const std::lock_guard lock(all_contexts().access);
        require(primary.retained != 0, error::device_uninitialized);
        --primary.retained;
    });
}

result cuDevicePrimaryCtxReset_v2(int device) {
    return without_context(
        [&] { return call([&](context& gpu, locked& lock) { checked_device(gpu, device).reset(lock); }); });
}

result cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    return without_context([&] {
        primary_of(device).flags = flags;
        return cudaInitDevice(device, flags, 1);
    });
}

// Names without _v2: the functions of earlier versions of CUDA, with the same parameters.
result cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }

result cuDevicePrimaryCtxReset(int device) { return cuDevicePrimaryCtxReset_v2(device); }

result cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { return cuDevicePrimaryCtxSetFlags_v2(device, flags); }

result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    return without_context([&] {
        require(flags != nullptr && active != nullptr);
        const driver_context& primary = primary_of(device);
        *flags = primary.flags;
        *active = primary.retained != 0 || all_devices().at(device).is_used_by_runtime() ? 1 : 0;
    });
}

result cuCtxCreate_v2(driver_context** out, unsigned flags, int device) { return create(out, flags, device); }

// The parameters are about multi-process service and graphics.
result cuCtxCreate_v3(driver_context** out, void*, int, unsigned flags, int device) {
    return create(out, flags, device);
}

result cuCtxCreate_v4(driver_context** out, void*, unsigned flags, int device) { return create(out, flags, device); }

// Waits for all work. What was allocated stays allocated.
result cuCtxDestroy_v2(driver_context* c) {
    return without_context([&] {
        require(!checked(c).primary, error::device_uninitialized);
        const error finished = call([&](context& gpu, locked& lock) {
            require_safe(gpu); // a capture in another context of the device may go on
            checked_device(gpu, c->device).synchronize(lock);
        });
        std::erase(context_stack(), c);
        follow_context_stack();
        const std::lock_guard lock(all_contexts().access);
        driver_contexts& all = all_contexts();
        c->destroyed = true;
        all.destroyed.push_back(std::move(all.created.extract(all.created.find(c)).value()));
        return finished;
    });
}

result cuCtxPushCurrent_v2(driver_context* c) {
    return without_context([&] {
        context_stack().push_back(&checked(c));
        follow_context_stack();
    });
}

result cuCtxPopCurrent_v2(driver_context** out) {
    return without_context([&] {
        require(!context_stack().empty(), error::device_uninitialized);
        if (out != nullptr) {
            *out = current_driver_context();
        }
        context_stack().pop_back();
        follow_context_stack();
    });
}

result cuCtxDestroy(driver_context* c) { return cuCtxDestroy_v2(c); }

result cuCtxPushCurrent(driver_context* c) { return cuCtxPushCurrent_v2(c); }

result cuCtxPopCurrent(driver_context** out) { return cuCtxPopCurrent_v2(out); }

result cuCtxSetCurrent(driver_context* c) {
    return without_context([&] {
        driver_context* const next = c == nullptr ? nullptr : &checked(c);
        if (!context_stack().empty()) {
            context_stack().pop_back();
        }
        if (next != nullptr) {
            context_stack().push_back(next);
        }
        follow_context_stack();
    });
}

result cuCtxGetCurrent(driver_context** out) {
    return without_context([&] {
        require(out != nullptr);
        *out = current_driver_context();
    });
}

result cuCtxGetDevice(int* device) {
    return with_context([&] {
        require(device != nullptr);
        *device = current_driver_context()->device;
    });
}

result cuCtxGetDevice_v2(int* device, driver_context* c) {
    return without_context([&] {
        require(device != nullptr);
        *device = checked(c == nullptr ? current_driver_context() : c).device;
    });
}

result cuCtxGetFlags(unsigned* flags) {
    return with_context([&] {
        require(flags != nullptr);
        *flags = current_driver_context()->flags;
    });
}

result cuCtxSetFlags(unsigned flags) {
    return with_context([&] {
        current_driver_context()->flags = flags;
        return cudaSetDeviceFlags(flags);
    });
}

result cuCtxGetId(driver_context* c, unsigned long long* id) {
    return without_context([&] {
        require(id != nullptr);
        *id = checked(c == nullptr ? current_driver_context() : c).id;
    });
}

result cuCtxGetApiVersion(driver_context* c, unsigned* version) {
    return without_context([&] {
        require(version != nullptr);
        (void)checked(c == nullptr ? current_driver_context() : c);
        *version = 3020;
    });
}

result cuCtxSynchronize() { return forward(cudaDeviceSynchronize); }

result cuCtxSynchronize_v2(driver_context* c) {
    return without_context([&] { return synchronize_device_of(checked(c == nullptr ? current_driver_context() : c)); });
}

result cuCtxGetLimit(std::size_t* value, limit which) { return forward(cudaDeviceGetLimit, value, which); }

result cuCtxSetLimit(limit which, std::size_t value) { return forward(cudaDeviceSetLimit, which, value); }

result cuCtxGetCacheConfig(cache_preference* out) { return forward(cudaDeviceGetCacheConfig, out); }

result cuCtxSetCacheConfig(cache_preference preference) { return forward(cudaDeviceSetCacheConfig, preference); }

result cuCtxGetSharedMemConfig(bank_width* width) { return forward(cudaDeviceGetSharedMemConfig, width); }

result cuCtxSetSharedMemConfig(bank_width width) { return forward(cudaDeviceSetSharedMemConfig, width); }

result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return forward(cudaDeviceGetStreamPriorityRange, least, greatest);
}

result cuCtxResetPersistingL2Cache() { return forward(cudaCtxResetPersistingL2Cache); }

result cuCtxEnablePeerAccess(driver_context* c, unsigned flags) {
    return with_context([&] { return cudaDeviceEnablePeerAccess(checked(c).device, flags); });
}

result cuCtxDisablePeerAccess(driver_context* c) {
    return with_context([&] { return cudaDeviceDisablePeerAccess(checked(c).device); });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

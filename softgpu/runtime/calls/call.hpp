// SPDX-License-Identifier: MIT
// The frame of every CUDA call. The body throws what goes wrong; call() returns it as CUDA's error code and stores it as the
// thread's last error.
//
//     error cudaFoo(int* out) {
//         return call([&](context& gpu, locked& lock) {
//             require(out != nullptr);   // first the arguments, as on a GPU
//             gpu.require_usable();      // then the sticky error of an earlier kernel
//             *out = ...;
//         });
//     }
#pragma once

#include <type_traits>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {

// Stores the error that the exception being handled stands for as the thread's last error, and returns it. Prints one line
// on stderr if the exception has a message.
error remember_current_exception() noexcept;
// The context for a call of this library. Defined once per library: in the runtime it becomes the current context of the
// driver too. Throws as current_context() does.
context& context_of_call();
// The thread's last error, which stays.
[[nodiscard]] error last_error() noexcept;

// Runs body(), or body(context&, locked&) with the lock of the devices held.
template <class Body>
error call(Body&& body) noexcept {
    try {
        if constexpr (std::is_invocable_v<Body&>) {
            body();
        } else {
            context& gpu = context_of_call();
            locked lock(gpu.mutex());
            body(gpu, lock);
        }
        return error::success;
    } catch (...) {
        return remember_current_exception();
    }
}

// Runs body(context&, locked&) with the device of a stream or an event, as the calls do that need no current device.
template <class Handle, class Body>
error call(Handle* of, Body&& body) noexcept {
    return call([&](context& gpu, locked& lock) { body(home_of(gpu, of), lock); });
}

// The frame of a call that returns one value: *out = value(gpu).
template <class Out, class Value>
error give(Out* out, Value&& value) noexcept {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        gpu.require_usable();
        *out = value(gpu);
    });
}

// The same with the device of a stream.
template <class Out, class Value>
error give(stream* of, Out* out, Value&& value) noexcept {
    return call(of, [&](context& gpu, locked&) {
        require(out != nullptr);
        gpu.require_usable();
        *out = value(gpu);
    });
}

// These throw invalid_device for a number that is none of a device.
inline void require_device(int device) { (void)all_devices().at(device); }
inline context& checked_device(context& gpu, int device) { return gpu.group().at(device); }

} // namespace softgpu::runtime

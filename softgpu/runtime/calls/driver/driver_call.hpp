// SPDX-License-Identifier: MIT
// The frame of every call of the driver. The bodies are those of the runtime's calls: a call of the driver checks that there
// is a current context, calls the runtime's function of the same meaning, and translates its error code.
//
//     result cuStreamQuery(stream* s) { return forward(cudaStreamQuery, s); }
#pragma once

#include <type_traits>
#include <utility>

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/calls/driver/driver_contexts.hpp"

namespace softgpu::runtime {

// The driver's code for an error of the runtime.
[[nodiscard]] result result_of(error e) noexcept;

// Runs body() after cuInit, with or without a current context. It returns an error of the runtime or nothing, or throws.
template <class Body>
result without_context(Body&& body) noexcept {
    try {
        require_initialized();
        if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
            body();
            return result::success;
        } else {
            return result_of(body());
        }
    } catch (...) {
        return result_of(remember_current_exception());
    }
}

// The same with a current context. Returns CUDA_ERROR_INVALID_CONTEXT if there is none.
template <class Body>
result with_context(Body&& body) noexcept {
    return without_context([&] {
        require_current_context();
        return body();
    });
}

// The same for body(context&, locked&), with the device's lock held.
template <class Body>
result on_device(Body&& body) noexcept {
    return with_context([&] { return call(std::forward<Body>(body)); });
}

// The same with the device of a stream.
template <class Body>
result on_device(stream* of, Body&& body) noexcept {
    return with_context([&] { return call(of, std::forward<Body>(body)); });
}

// A call of the runtime with the same arguments.
template <class... Parameters, class... Arguments>
result forward(error (*runtime_call)(Parameters...), Arguments... arguments) noexcept {
    return with_context([&] { return runtime_call(arguments...); });
}

// The same with or without a current context.
template <class... Parameters, class... Arguments>
result forward_anywhere(error (*runtime_call)(Parameters...), Arguments... arguments) noexcept {
    return without_context([&] { return runtime_call(arguments...); });
}

[[nodiscard]] inline void* pointer_to(device_address at) noexcept { return reinterpret_cast<void*>(at); }

// For calls that are not there: prints "softgpu: cuFoo is not supported" on stderr, once for each, and returns
// CUDA_ERROR_NOT_SUPPORTED.
result refuse_driver_call(const char* name) noexcept;

} // namespace softgpu::runtime

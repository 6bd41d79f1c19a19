// SPDX-License-Identifier: MIT
// The one way into and out of every call of the runtime: the body throws what goes wrong, call() returns it as CUDA's
// error and remembers it as the thread's last error.
//
//     error cudaFoo(int* out) {
//         return call([&](context& gpu, locked& lock) {
//             require(out != nullptr);      // arguments come first, as on a GPU
//             gpu.must_be_alive();          // then the error that an earlier kernel left
//             *out = ...;
//         });
//     }
#pragma once

#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// Ends a call with an error that the program gets back, and with a line on stderr where the code alone would not help.
struct failure {
    error code = error::unknown;
    std::string message;
};

[[noreturn]] void fail(error code, std::string message = {});

inline void require(bool condition, error otherwise = error::invalid_value) {
    if (!condition) {
        fail(otherwise);
    }
}

// One line "softgpu: message" on stderr.
void report(const std::string& message) noexcept;

// The error that the exception being handled stands for, remembered as the thread's last error.
error remember_current_exception() noexcept;
// The thread's last error; the first leaves it, the second forgets it.
[[nodiscard]] error last_error() noexcept;
[[nodiscard]] error take_last_error() noexcept;

// Runs body(), or body(context&, locked&) with the context's lock held.
template <class Body>
error call(Body&& body) noexcept {
    try {
        if constexpr (std::is_invocable_v<Body&>) {
            body();
        } else {
            context& gpu = context::current();
            locked lock(gpu.mutex());
            body(gpu, lock);
        }
        return error::success;
    } catch (...) {
        return remember_current_exception();
    }
}

} // namespace softgpu::runtime

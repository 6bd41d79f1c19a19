// SPDX-License-Identifier: MIT
// Errors inside the runtime. A function throws `failure`; the call of the program that led there returns its code
// (calls/call.hpp).
#pragma once

#include <exception>
#include <string>

#include "softgpu/runtime/abi/error.hpp"

namespace softgpu::runtime {

struct failure {
    error code = error::unknown;
    std::string message; // printed on stderr; empty: the code says enough
};

[[noreturn]] void fail(error code, std::string message = {});

inline void require(bool condition, error otherwise = error::invalid_value) {
    if (!condition) {
        fail(otherwise);
    }
}

// Prints the line "softgpu: message" on stderr.
void report(const std::string& message) noexcept;

// Runs body(). An exception becomes the line "softgpu: subject: what()" on stderr.
template <class Body>
void report_exceptions(const char* subject, Body&& body) noexcept {
    try {
        body();
    } catch (const std::exception& e) {
        report(std::string(subject) + ": " + e.what());
    }
}

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The driver's error codes, and the calls that are not there.
#include "softgpu/runtime/calls/driver/driver_call.hpp"

#include <mutex>
#include <set>
#include <string>

namespace softgpu::runtime {

context& context_of_call() { return current_context(); }

result result_of(error e) noexcept {
    switch (e) {
    case error::success:
    case error::invalid_value:
    case error::memory_allocation:
    case error::initialization_error: return static_cast<result>(e);
    case error::invalid_device_function: return result::invalid_handle;
    default: break;
    }
    // The runtime's codes below 100 are about arguments.
    return static_cast<int>(e) < 100 ? result::invalid_value : static_cast<result>(e);
}

result refuse_driver_call(const char* name) noexcept {
    try {
        static std::mutex& access = *new std::mutex; // never destroyed: static destructors make calls too
        static auto& said = *new std::set<std::string>;
        const std::lock_guard lock(access);
        if (said.insert(name).second) {
            report(std::string(name) + " is not supported");
        }
    } catch (...) {
        return result::unknown;
    }
    return result::not_supported;
}

namespace {

const char* name_of_result(int code) noexcept {
    switch (code) {
#define SOFTGPU_RESULT(number, name)                                                                                   \
    case number:                                                                                                       \
        return #name;
#include "softgpu/runtime/abi/driver_errors.def"
#undef SOFTGPU_RESULT
    default: return nullptr;
    }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuGetErrorName(result code, const char** name) {
    if (name == nullptr) {
        return result::invalid_value;
    }
    *name = name_of_result(static_cast<int>(code));
    return *name == nullptr ? result::invalid_value : result::success;
}

result cuGetErrorString(result code, const char** text) {
    if (text == nullptr) {
        return result::invalid_value;
    }
    const bool known = name_of_result(static_cast<int>(code)) != nullptr;
    *text = known ? text_of(static_cast<error>(code)) : nullptr;
    return known ? result::success : result::invalid_value;
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>

#include "softgpu/runtime/calls/driver/driver_call.hpp"

namespace softgpu::runtime {

// What a program asks of the just-in-time compiler: its log, and a limit of registers.
struct jit_options {
    std::span<const jit_option> names;
    void** values = nullptr;

    [[nodiscard]] unsigned most_registers() const {
        const auto at = std::ranges::find(names, jit_option::max_registers);
        return at == names.end() ? 0
                                 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[at - names.begin()]));
    }

    void set_log(jit_option text, jit_option bytes, const std::string& message) const {
        char* buffer = nullptr;
        std::size_t room = 0;
        void** length = nullptr;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == text) {
                buffer = static_cast<char*>(values[i]);
            } else if (names[i] == bytes) {
                room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
                length = &values[i];
            }
        }
        std::size_t written = 0;
        if (buffer != nullptr && room != 0) {
            written = std::min(message.size(), room - 1);
            std::memcpy(buffer, message.data(), written);
            buffer[written] = '\0';
        }
        if (length != nullptr) {
            *length = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
        }
    }
};

// Of the exception being handled.
inline std::string message_of_exception() {
    try {
        throw;
    } catch (const failure& f) {
        return f.message;
    } catch (const std::exception& e) {
        return e.what();
    }
}

} // namespace softgpu::runtime

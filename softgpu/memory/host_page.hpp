// SPDX-License-Identifier: MIT
// Whether an address that is none of the device's is one of the process.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::memory {

[[nodiscard]] inline bool is_mapped(std::uint64_t at) noexcept {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    void* const begin = reinterpret_cast<void*>(at / page * page);
    return begin != nullptr && ::msync(begin, page, MS_ASYNC) == 0; // it fails where nothing is mapped
}

// What to say of an address that is so far from all that is allocated that the nearest of it, if any, tells nothing; else
// nullptr.
[[nodiscard]] inline const char* far_place(const device_memory& memory, const std::optional<allocation>& nearest,
                                           std::uint64_t at) noexcept {
    constexpr std::uint64_t far = 1 << 20;
    const bool is_near =
        nearest && (at < nearest->base ? nearest->base - at < far : at - nearest->base - nearest->bytes < far);
    return memory.reserves(at) || is_near ? nullptr
           : is_mapped(at)                ? "memory of the host, which kernels cannot reach"
           : nearest                      ? "no device memory"
                                          : nullptr;
}

} // namespace softgpu::memory

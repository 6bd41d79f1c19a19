// SPDX-License-Identifier: MIT
// What the two processes of shared_memory_test.cpp tell each other.
#pragma once

#include <cstdint>

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/abi/shared.hpp"

namespace softgpu::runtime {

enum class order : std::uint32_t {
    open,
    read,
    bytes,
    fill,
    free,
    close,
    open_event,
    query,
    wait,
    synchronize,
    record,
    open_pool,
    open_in_pool,
    free_in_pool
};

struct request {
    order what{};
    std::uint32_t value = 0;
    shared_handle handle{};
};

struct answer {
    result code{};
    std::uint32_t word = 0;
};

} // namespace softgpu::runtime

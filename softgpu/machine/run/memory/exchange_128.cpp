// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/memory/exchange_128.hpp"

#include <cstring>
#include <mutex>

namespace softgpu::machine {

uint128 exchange_128(void* at, uint128 fresh, bool compare, uint128 expected) noexcept {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    uint128 old;
    std::memcpy(&old, at, sizeof(old));
    if (!compare || old == expected) {
        std::memcpy(at, &fresh, sizeof(fresh));
    }
    return old;
}

} // namespace softgpu::machine

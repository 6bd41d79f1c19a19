// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/lane_memory.hpp"

#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

std::byte* lane_memory::reach(std::uint64_t at, std::uint64_t bytes, bool writes) {
    constexpr std::uint64_t window = memory::device_memory::window_bytes;
    const launch_state& launch = *w_->host->launch;
    const auto within = [&](std::uint64_t base, std::uint64_t size) {
        return at - base < size && bytes <= size - (at - base);
    };
    const auto wrong = [&](const char* space, std::uint64_t where) {
        raise_access(w_, i_, writes ? "write" : "read", space, where, static_cast<std::uint32_t>(bytes), false, lane_);
        return nullptr;
    };
    if (const std::uint64_t base = launch.memory->shared_window(); at - base < window) {
        return within(base, launch.shared_bytes) ? w_->owner->shared + (at - base) : wrong("shared", at - base);
    }
    if (const std::uint64_t base = launch.memory->local_window(); at - base < window) {
        const std::uint64_t size = launch.local_bytes;
        return within(base, size) ? w_->owner->local + (std::uint64_t{w_->index} * lanes + lane_) * size + (at - base)
                                  : wrong("local", at - base);
    }
    return look_up_allocation(w_->host, at, bytes, writes) ? reinterpret_cast<std::byte*>(at) : wrong("global", at);
}

std::optional<std::string> lane_memory::text(std::uint64_t at) {
    std::string all;
    for (;; ++at) {
        const std::byte* const c = read(at, 1);
        if (c == nullptr) {
            return std::nullopt;
        }
        if (*c == std::byte{0}) {
            return all;
        }
        all += static_cast<char>(*c);
    }
}

} // namespace softgpu::machine

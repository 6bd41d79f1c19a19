// SPDX-License-Identifier: MIT
#include "softgpu/machine/calls/lane_memory.hpp"

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

std::byte* lane_memory::reach(std::uint64_t at, std::uint64_t bytes, bool writes) {
    constexpr std::uint64_t window = memory::device_memory::window_bytes;
    const launch_state& launch = *w_->host->launch;
    const auto within = [&](std::uint64_t base, std::uint64_t size) {
        return at - base < size && bytes <= size - (at - base);
    };
    // What a call writes counts as written.
    const auto mark = [&](std::uint8_t* valid, std::uint64_t first) {
        if (writes && launch.check_init && valid != nullptr) {
            for (std::uint64_t k = first; k < first + bytes; ++k) {
                valid[k / 8] |= static_cast<std::uint8_t>(1u << (k & 7));
            }
        }
    };
    const auto wrong = [&](const char* space, std::uint64_t where) -> std::byte* {
        raise_access(w_, i_, writes ? "write" : "read", space, where, static_cast<std::uint32_t>(bytes), false, lane_);
        return nullptr;
    };
    if (const std::uint64_t base = launch.memory->shared_window(); at - base < window) {
        if (!within(base, launch.shared_bytes)) {
            return wrong("shared", at - base);
        }
        mark(launch.check_init ? w_->owner->view->shared_valid : nullptr, at - base);
        return w_->owner->shared + (at - base);
    }
    if (const std::uint64_t base = launch.memory->local_window(); at - base < window) {
        const std::uint64_t size = launch.local_bytes;
        if (!within(base, size)) {
            return wrong("local", at - base);
        }
        const std::uint64_t first = (std::uint64_t{w_->index} * lanes + lane_) * size + (at - base);
        mark(launch.check_init ? w_->owner->view->local_valid : nullptr, first);
        return w_->owner->local + first;
    }
    if (!look_up_allocation(w_->host, at, bytes, writes)) {
        return wrong("global", at);
    }
    if (writes && launch.check_init) {
        launch.checks->owner.written(at, bytes);
    }
    return reinterpret_cast<std::byte*>(at);
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

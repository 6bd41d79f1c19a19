// SPDX-License-Identifier: MIT
#include "softgpu/check/shadow/serial_numbers.hpp"

#include <algorithm>

#include "softgpu/check/shadow/stamp.hpp"

namespace softgpu::check {

std::uint64_t serial_numbers::take(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    return take_locked(count);
}

std::uint64_t serial_numbers::begin_launch(std::uint64_t count, const std::function<void()>& restart) {
    const std::lock_guard lock(mutex_);
    if (launches_++ == 0 && next_ + count > most_serials) {
        restart();
        next_ = 1;
    }
    return take_locked(count);
}

void serial_numbers::end_launch() noexcept {
    const std::lock_guard lock(mutex_);
    --launches_;
}

std::uint64_t serial_numbers::take_locked(std::uint64_t count) {
    const std::uint64_t taken = std::min(count, most_serials / 2);
    if (next_ + taken > most_serials) {
        return 0;
    }
    next_ += taken;
    return next_ - taken;
}

} // namespace softgpu::check

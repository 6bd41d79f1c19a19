// SPDX-License-Identifier: MIT
// Serial numbers of blocks and transfers, which stamps of global memory carry. They restart when they run out and no launch
// is running.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace softgpu::check {

// Thread-safe.
class serial_numbers {
public:
    // `count` numbers in a row, of which the first is returned; 0: there are none left. A launch with more blocks than
    // half of all numbers shares some of them among its blocks.
    [[nodiscard]] std::uint64_t take(std::uint64_t count);
    // The same for a launch, which runs until end_launch(). `restart` is called before numbers restart.
    [[nodiscard]] std::uint64_t begin_launch(std::uint64_t count, const std::function<void()>& restart);
    void end_launch() noexcept;

private:
    std::uint64_t take_locked(std::uint64_t count);

    std::mutex mutex_;
    std::uint64_t next_ = 1;
    int launches_ = 0;
};

} // namespace softgpu::check

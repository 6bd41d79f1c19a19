// SPDX-License-Identifier: MIT
// Host addresses that are reserved for the memories of a process, one equal part for each, and the numbers of their
// allocations. One range for all devices gives the checks one shadow.
#pragma once

#include <atomic>
#include <cstdint>

namespace softgpu::memory {

class address_space {
public:
    // Throws std::system_error.
    address_space(std::uint64_t part_bytes, unsigned parts);
    ~address_space();
    address_space(const address_space&) = delete;
    address_space& operator=(const address_space&) = delete;

    [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return part_bytes_ * parts_; }
    // Makes a part's addresses usable, with zeros, and returns the first; or ends that.
    std::uint64_t open(unsigned part);
    void close(unsigned part) noexcept;

    // Counts allocations of all parts from 1.
    std::uint64_t next_serial() noexcept { return ++serial_; }
    [[nodiscard]] std::uint64_t last_serial() const noexcept { return serial_; }

private:
    [[nodiscard]] void* part(unsigned number) const noexcept {
        return reinterpret_cast<void*>(base_ + number * part_bytes_);
    }

    std::uint64_t part_bytes_;
    unsigned parts_;
    std::uint64_t base_ = 0;
    std::atomic<std::uint64_t> serial_{0};
};

} // namespace softgpu::memory

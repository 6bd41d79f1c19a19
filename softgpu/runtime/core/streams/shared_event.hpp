// SPDX-License-Identifier: MIT
// The state of an event that several processes use (cudaEventInterprocess), in memory that they share.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

class shared_event {
public:
    // A new one, never recorded. Throws std::system_error.
    shared_event();
    // Another process's. Throws std::system_error.
    explicit shared_event(memory::shared_file file);
    ~shared_event();
    shared_event(const shared_event&) = delete;
    shared_event& operator=(const shared_event&) = delete;

    [[nodiscard]] const memory::shared_file& file() const noexcept { return file_; }
    // Counts records, of all processes, from 1.
    std::uint64_t record() noexcept;
    void finish(std::uint64_t record) noexcept;
    [[nodiscard]] std::uint64_t last_record() const noexcept;
    [[nodiscard]] bool is_finished(std::uint64_t record) const noexcept;
    // Returns once it is finished, or the process that recorded last is gone.
    void wait(std::uint64_t record) const noexcept;

private:
    struct state;
    memory::shared_file file_;
    state* state_;
};

} // namespace softgpu::runtime

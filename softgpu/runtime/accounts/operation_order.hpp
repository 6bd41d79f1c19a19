// SPDX-License-Identifier: MIT
// Tells the checks in which order operations run, what the host waits for, and which memory each operation uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "softgpu/check/order/order.hpp"
#include "softgpu/check/session.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime::checking {

// Observes the executor for as long as it lives.
class order_observer final : public operation_observer {
public:
    explicit order_observer(check::order& order);
    ~order_observer() override;
    order_observer(const order_observer&) = delete;
    order_observer& operator=(const order_observer&) = delete;

    void issued(operation& what, std::span<const operation_pointer> after) override;
    void finished(const operation& what) override;
    void host_waited(const operation& what) override;
    void host_waited_for_all(std::optional<int> of) override;

private:
    [[nodiscard]] bool has_seen(const operation& o) const noexcept {
        return o.moment != nullptr && o.observed_by == number_;
    }

    check::order& order_;
    const std::uint64_t number_; // of this observer in the process, from 1
};

// Whether the current checks include the order of operations.
[[nodiscard]] bool checks_order() noexcept;
// Describes the operation that this thread runs. Without a moment if the order is not checked.
[[nodiscard]] check::operation_note current_note();

// The operation that this thread runs has copied or filled: the ranges that it wrote and read.
void transferred(std::string name, std::vector<check::touched_range> ranges) noexcept;
// It has written a value for others to see, or waited for one.
void signalled(std::string name, std::uint64_t at, std::size_t bytes, bool writes) noexcept;
// It makes an allocation usable, or frees one, in stream order. `call` is the name for reports.
void allocated_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept;
void freed_in_order(memory::device_memory& memory, memory::address base, const char* call) noexcept;
// Adds the rows of a box, each of `width` bytes at base + k * pitch.
void add_rows(std::vector<check::touched_range>& ranges, const check::session& of, const void* base, std::size_t pitch,
              std::size_t slice_rows, std::size_t width, std::size_t height, std::size_t depth, bool writes);

// Code is about to be unloaded: the order's records, which refer to it, are discarded.
void discard_order() noexcept;

} // namespace softgpu::runtime::checking

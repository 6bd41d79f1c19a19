// SPDX-License-Identifier: MIT
// Compares two operations of which neither waits for the other, and reports memory that both touch.
#pragma once

#include <vector>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/check/findings/memories.hpp"
#include "softgpu/check/order/operation.hpp"
#include "softgpu/check/shadow/global_shadow.hpp"

namespace softgpu::check {

inline std::uint64_t serial_of(stamp s) { return time_of(s) >> serial_time_bits; }

// The finding for two accesses of different operations, the one that was issued first in front.
[[nodiscard]] finding race_of(const operation_record& a, finding_access one, const operation_record& b,
                              finding_access other);

// Thread-safe as far as the records are: the caller keeps them from changing.
class operation_races {
public:
    operation_races(findings& sink, const memories& of, const global_shadow& shadow)
        : sink_(sink), memories_(of), shadow_(shadow) {}

    // Two operations with ranges: at most one finding.
    void compare_ranges(const operation_record& a, const operation_record& b) const;
    // A launch and the allocation or the free of memory.
    void compare_with_memory(const operation_record& kernel, const operation_record& owned) const;
    // The stamps of launches in a transfer's ranges: one finding for each instruction. With `stamp_them` the transfer
    // leaves its own stamps too.
    void compare_stamps(operation_record& record, const std::vector<record_pointer>& kernels, bool stamp_them) const;
    // The stamps of the last writes by launches, where they are known.
    [[nodiscard]] std::vector<stamp> writes_of(const touched_range& r) const;
    void put_stamps(operation_record& record) const;

private:
    findings& sink_;
    const memories& memories_;
    const global_shadow& shadow_;
};

} // namespace softgpu::check

// SPDX-License-Identifier: MIT
// A launch as one of the operations that the checks hold against each other: what it says of the stamps that it has left,
// when it is over as well, and what it finds of others.
#pragma once

#include <memory>
#include <string>

#include "softgpu/check/order.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"

namespace softgpu::machine {

// Of a launch that is about to run. Refers to the kernel's module.
[[nodiscard]] std::shared_ptr<const check::stamp_reader> reader_of(const launch_state& l);

// The access that a lane is about to make.
struct lane_access {
    const warp* of = nullptr;
    const access_site* site = nullptr;
    unsigned lane = 0;
    std::uint64_t at = 0;
};

// It meets the stamp of another operation that is not in order with the launch.
void report_operations(launch_state& l, const lane_access& now, const check::operation_record& other, check::stamp s,
                       bool of_write);
// The launch reads memory of the host's as a signal: it may know now of all that the host knows of.
void meet_host(launch_state& l);

} // namespace softgpu::machine

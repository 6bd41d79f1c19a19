// SPDX-License-Identifier: MIT
// Races between a launch and other operations: launches, copies and fills of other streams, or of branches of a graph.
#pragma once

#include <memory>
#include <string>

#include "softgpu/check/order/order.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// Explains the stamps that the launch leaves, even after its end. Refers to the kernel's module.
[[nodiscard]] std::shared_ptr<const check::stamp_reader> reader_of(const launch_state& l);

// The access that a lane is about to make.
struct lane_access {
    const warp* of = nullptr;
    const access_site* site = nullptr;
    unsigned lane = 0;
    std::uint64_t at = 0;
};

// The access finds the stamp `s` of another operation that is not in order with the launch.
void report_operations(launch_state& l, const lane_access& now, const check::operation_record& other, check::stamp s,
                       bool of_write);
// Whether the first or the last lane of an access to global memory finds a stamp of an operation that is in order before the
// launch, and that the block's view did not have: now it has it.
bool meet_ordered(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask);
// A strong access of the block has just read here. If another operation that runs has written it as a signal, since the access
// was checked, the launch is ordered after it from now on.
void meet_signal(launch_state& l, block_checks& reader, std::uint64_t at);
// The launch reads a signal from memory of the host: it is ordered after everything that the host has waited for.
void meet_host(launch_state& l);

} // namespace softgpu::machine

// SPDX-License-Identifier: MIT
// The tables of the laboratory that a GPU alone can fill: bandwidth over occupancy, latency over footprint.
#pragma once

#include <vector>

#include "ladder/engine/definition/step.hpp"
#include "ladder/occupancy/definition/figures.hpp"

namespace warpfold::ladder::occupancy {

// One shape of the copy and what it reached.
struct sweep_point {
    unsigned threads = 0; // on a multiprocessor
    unsigned loads = 0;   // of a thread, at once
    unsigned bytes = 0;   // of a load
    double gb_per_s = 0;  // read and written

    [[nodiscard]] unsigned in_flight() const { return threads * loads * bytes; } // on a multiprocessor
};
[[nodiscard]] const std::vector<sweep_point>& measured_sweep(const device_description& device);

[[nodiscard]] std::vector<extra_table> sweep_tables(const device_description& device);
[[nodiscard]] std::vector<extra_table> latency_tables(const device_description& device);
[[nodiscard]] extra_table grid_table(const device_description& device);
// Registers, shared memory, blocks and warps on a multiprocessor and what limits them, for every kernel of the ladders.
[[nodiscard]] extra_table kernel_table();

} // namespace warpfold::ladder::occupancy

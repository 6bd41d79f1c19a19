// SPDX-License-Identifier: MIT
// Parameters of graph nodes: from the structures of the interface to work, and back. All throw failure for wrong parameters.
#pragma once

#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {

graph_kernel kernel_work_of(context& gpu, const kernel_parameters& p);
// The device on which the node runs: that of the kernel's module, or `gpu` for a kernel that is loaded on all devices.
context& home_of_kernel(context& gpu, const void* function);
copy_work copy_work_of(context& gpu, const copy_3d& p);
fill_work fill_work_of(context& gpu, const fill_parameters& p);
host_work host_work_of(const host_parameters& p);
// A wait may be for an event of another device; throws invalid_resource_handle for another record.
event_work event_work_of(context& gpu, event* e, node_type of);

kernel_parameters parameters_of(const graph_kernel& k);
fill_parameters parameters_of(const fill_work& w);

// A node with these parameters that is in no graph. Throws invalid_value for child graphs and memory nodes.
graph_node node_with(context& gpu, const node_parameters& p);

// Whether the work of `next` may replace that of a node of an executable graph; success, or the reason why not.
[[nodiscard]] update_result can_replace(context& gpu, const graph_node& now, const graph_node& next);

} // namespace softgpu::runtime

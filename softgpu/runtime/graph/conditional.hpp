// SPDX-License-Identifier: MIT
// Conditional nodes: what they do in a launch. Whether a body runs is decided when the node's turn comes; only then are the
// body's operations issued, within the node's operation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {

// Adds a node for this condition. Throws invalid_value for parameters that CUDA refuses; `p` receives the bodies.
graph_node& add_conditional(context& gpu, graph& in, graph_node* const* before, std::size_t count,
                            const edge_data* data, conditional_parameters& p);

// Throws not_supported, with a message, unless the bodies, at any depth, hold only what CUDA allows there.
void require_valid_bodies(const graph& g);

// The conditions of a graph, of what is within it too, that a launch sets to their default values.
[[nodiscard]] std::vector<std::shared_ptr<condition>> reset_at_launch(const graph& g);

// Issues what the node does as it is now, after these. What is given is over when the node is.
[[nodiscard]] operation_pointer issue_conditional(context& gpu, const graph_node& n,
                                                  const std::vector<operation_pointer>& before, int priority,
                                                  std::uint64_t stream);

} // namespace softgpu::runtime

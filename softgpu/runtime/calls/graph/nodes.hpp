// SPDX-License-Identifier: MIT
// cudaGraphAddNode, which CUDA 12 and 13 declare differently.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {

class context;

// data: nullptr for edges without data. Throws failure.
void add_graph_node(context& gpu, graph_node** out, graph* in, graph_node* const* before, const edge_data* data,
                    std::size_t count, node_parameters* p);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// The calls about edges of graphs, which CUDA 12 and 13 declare differently. All throw failure; data: nullptr for none.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {

class context;

void graph_edges(context& gpu, graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count);
void graph_dependencies(context& gpu, graph_node* n, graph_node** out, edge_data* data, std::size_t* count);
void graph_dependents(context& gpu, graph_node* n, graph_node** out, edge_data* data, std::size_t* count);
void add_dependencies(context& gpu, graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                      std::size_t count);
void remove_dependencies(context& gpu, graph* g, graph_node* const* from, graph_node* const* to, std::size_t count);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// What calls about graphs' edges do in every version of the interface. They throw failure.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {

void graph_edges(graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count);
void graph_dependencies(graph_node* n, graph_node** out, edge_data* data, std::size_t* count);
void graph_dependents(graph_node* n, graph_node** out, edge_data* data, std::size_t* count);
void add_dependencies(graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                      std::size_t count);
void remove_dependencies(graph* g, graph_node* const* from, graph_node* const* to, std::size_t count);

struct capture_information {
    capture_status status{};
    unsigned long long id = 0;
    runtime::graph* graph = nullptr;
    graph_node* const* dependencies = nullptr;
    const edge_data* data = nullptr;
    std::size_t count = 0;
};

capture_information capture_information_of(stream* s);
// cudaStreamGetCaptureInfo; null pointers are not written to, but for status.
void give_capture_information(stream* s, capture_status* status, unsigned long long* id, graph** into,
                              graph_node* const** dependencies, const edge_data** data, std::size_t* count);
void update_capture_dependencies(stream* s, graph_node* const* nodes, std::size_t count, unsigned flags);

} // namespace softgpu::runtime

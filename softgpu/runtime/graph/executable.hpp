// SPDX-License-Identifier: MIT
// Executable graphs: made from a graph, launched into streams, and updated for later launches.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {

struct executable_graph {
    std::unique_ptr<graph> copy;
    std::unordered_map<const graph_node*, graph_node*>
        of_original;                      // nodes by the program's node, child graphs' included
    std::shared_ptr<unsigned> siblings{}; // graph::executables of the graph that it was made from
    unsigned long long flags = 0;
    operation_pointer last{}; // the end of the last launch
};

struct executable_graphs final : device_part {
    handle_set<executable_graph> all;
};

// The device of an executable graph; gpu for an unknown one.
context& find_home(context& gpu, const executable_graph* e);
// Looks a handle up; throws invalid_value for an unknown one.
executable_graph& checked(context& gpu, executable_graph* e);

// Throws failure; `result` receives the reason.
executable_graph& instantiate(context& gpu, graph* from, unsigned long long flags, instantiate_result& result);
// Issues the graph's operations to the stream, or, if the stream is capturing, adds a child graph node.
void launch(context& gpu, executable_graph& e, stream& on);

// The executable's node for a node of the program. Throws invalid_value if there is none.
graph_node& node_of(executable_graph& e, const graph_node* original);
// Gives that node the work of `next`. Throws invalid_value unless both have this type and the work may be replaced.
void set_work(context& gpu, executable_graph& e, const graph_node* original, node_type type, const graph_node& next);
// Compares two graphs for an update, node by node in the order of addition: success, or the first difference.
update_information compare(context& gpu, const graph& now, const graph& next);
// Gives all nodes the work of the nodes of `next`, which compare() has accepted. `of_original` receives these nodes.
void update(graph& now, const graph& next, std::unordered_map<const graph_node*, graph_node*>& of_original);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Graphs: the objects behind cudaGraph_t, cudaGraphNode_t and cudaUserObject_t. The context's lock guards all of them; a
// launch copies what it needs when it is issued.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "softgpu/runtime/abi/graph.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/device/conditions.hpp"
#include "softgpu/runtime/graph/graph_memory.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/memory/copies/fills.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {

struct user_object {
    void* what = nullptr;
    host_function destroy = nullptr;
    std::atomic<std::uint64_t> references{0};
};

struct empty_work {};

struct host_work {
    host_function run = nullptr;
    void* user = nullptr;
};

struct child_work {
    std::unique_ptr<graph> own; // the node's copy
};

struct conditional_work {
    std::shared_ptr<condition> on;
    conditional_type type = conditional_type::if_else;
    std::vector<std::unique_ptr<graph>> bodies;
    std::vector<graph*> given; // the same, for the program
};

struct event_work {
    event* what = nullptr;
};

struct memory_work {
    std::shared_ptr<graph_allocation> what;
};

struct graph_kernel {
    std::shared_ptr<const kernel_work> work;
    std::vector<void*> arguments{}; // point into work->parameters, for cudaGraphKernelNodeGetParams
    std::map<launch_attribute_id, launch_attribute_value> attributes{};
};

struct edge {
    graph_node* node = nullptr;
    edge_data data{};
};

struct graph_node {
    graph* owner = nullptr;
    node_type type = node_type::empty;
    std::variant<empty_work, graph_kernel, copy_work, fill_work, host_work, child_work, event_work, memory_work,
                 conditional_work, memory_batch_work>
        work;
    std::vector<edge> before; // in the order in which they were added
    std::vector<edge> after;
    graph_node* original = nullptr; // the node that this one is a copy of
    std::uint64_t id = 0;
    bool enabled = true;        // false: a disabled node of an executable graph
    context* device = nullptr;  // that of the captured stream, if it is not the graph's
    operation_pointer issued{}; // its operation, while a launch is being issued
};

// All valid handles, so that any other handle is an error instead of a crash.
struct graph_handles {
    std::unordered_set<const graph*> graphs;
    std::unordered_set<const graph_node*> nodes;
    std::uint64_t last_id = 0;
};

struct graph {
    explicit graph(std::shared_ptr<graph_handles> all);
    ~graph();
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    graph_node& add(node_type type);
    void remove(graph_node& node);

    std::shared_ptr<graph_handles> handles;
    std::vector<std::unique_ptr<graph_node>> nodes;
    std::vector<std::shared_ptr<condition>> conditions;                    // whose handles it keeps valid
    std::unordered_map<user_object*, std::uint64_t> retained;              // references per object
    std::shared_ptr<unsigned> executables = std::make_shared<unsigned>(0); // number of executable graphs made from it
    bool in_capture = false;
    std::uint64_t id = 0;
};

struct graph_state final : device_part {
    std::shared_ptr<graph_handles> handles = std::make_shared<graph_handles>();
    handle_set<graph> graphs;
};

// The user objects of the process. Guarded by the devices' lock.
handle_set<user_object>& user_objects();

inline constexpr const char* graph_of_another_device = "this graph belongs to another device: see cudaSetDevice";

// The device of a graph; gpu for an unknown one.
context& find_home(context& gpu, const graph* g);

// Look handles up; throw invalid_value for unknown ones.
graph& checked(context& gpu, graph* g);
graph_node& checked(context& gpu, graph_node* n);

// Adds an empty graph.
graph& create_graph(context& gpu);
// Adds an edge. Throws invalid_value if the nodes are in different graphs, are the same, or have this edge already.
void connect(graph_node& from, graph_node& to, edge_data data = {});
// Removes an edge. Throws invalid_value if there is none.
void disconnect(graph_node& from, graph_node& to);
// Adds a node after these nodes. Throws invalid_value, without a new node, if one is of another graph or is listed twice.
graph_node& add_node(context& gpu, graph& in, node_type type, graph_node* const* before, std::size_t count,
                     const edge_data* data = nullptr);
// A kernel node's work, with pointers to its arguments.
graph_kernel with_arguments(std::shared_ptr<const kernel_work> work);
// Gives the node the work of another node, for launches from now on. Child graphs and memory nodes stay as they are.
void set_work(graph_node& node, const graph_node& next);

// A copy of the graph with all it holds. `copies` receives the copy of each node, child graphs' nodes included.
std::unique_ptr<graph> copy_of(context& gpu, const graph& g,
                               std::unordered_map<const graph_node*, graph_node*>* copies = nullptr);
// Destroys the graph; its memory and user objects are released after `last`.
void destroy(context& gpu, std::unique_ptr<graph> g, const operation_pointer& last = nullptr);
// The graphs within a node: its child graph, or the bodies of a conditional node.
[[nodiscard]] std::vector<graph*> inner_graphs(const graph_node& n);
// Whether the graph, or one within it, has conditional nodes.
[[nodiscard]] bool has_conditional_nodes(const graph& g);
// Whether it or a child graph has allocation or free nodes.
[[nodiscard]] bool has_memory_nodes(const graph& g);
// The nodes, each after all nodes before it. Empty if the edges form a cycle.
[[nodiscard]] std::vector<graph_node*> in_order(const graph& g);

void retain(user_object& object, std::uint64_t count);
// Without references left, the object is destroyed on a thread of the runtime, after `last`.
void release(context& gpu, user_object& object, std::uint64_t count, const operation_pointer& last = nullptr);

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Graphs: what cudaGraph_t, cudaGraphNode_t, cudaGraphExec_t and cudaUserObject_t point to. All of it is guarded by the
// context's lock; what a launch needs is copied from it when it is issued.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/graph.hpp"
#include "softgpu/runtime/core/operation.hpp"
#include "softgpu/runtime/core/stream.hpp"
#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {

class context;

// Memory of an allocation node: its address stays for as long as a graph has the node.
struct graph_allocation {
    memory::address base = 0;
    std::uint64_t bytes = 0;
    const graph* owner = nullptr;
    bool live = false;            // allocated, and not freed, in the order of issue
    const graph* freed_by = nullptr; // a free node of this graph frees it
    bool orphan = false;          // no graph has it any more: goes when it is freed
};

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

struct event_work {
    event* what = nullptr;
};

struct memory_work {
    std::shared_ptr<graph_allocation> what;
};

struct graph_kernel {
    std::shared_ptr<const kernel_work> work;
    std::vector<void*> arguments{}; // into work->parameters: what GetParams gives
    std::map<launch_attribute_id, launch_attribute_value> attributes{};
};

struct edge {
    graph_node* node = nullptr;
    edge_data data{};
};

struct graph_node {
    graph* owner = nullptr;
    node_type type = node_type::empty;
    std::variant<empty_work, graph_kernel, copy_work, fill_work, host_work, child_work, event_work, memory_work> work;
    std::vector<edge> before; // in the order in which they were added
    std::vector<edge> after;
    graph_node* original = nullptr; // of a copy
    std::uint64_t id = 0;
    bool enabled = true; // of an executable graph
    operation_pointer issued{}; // while a launch is being issued
};

struct graph_handles;

struct graph {
    explicit graph(graph_handles& all);
    ~graph();
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    graph_node& add(node_type type);
    void remove(graph_node& node);

    graph_handles& handles;
    std::vector<std::unique_ptr<graph_node>> nodes;
    std::unordered_map<user_object*, std::uint64_t> retained;
    graph* original = nullptr;     // of a clone
    graph_node* parent = nullptr;  // of a child graph: the node that it is in
    std::shared_ptr<unsigned> executables = std::make_shared<unsigned>(0); // that exist
    bool in_capture = false;
    std::uint64_t id = 0;
};

// Every handle that is good, so that any other is an error and not a crash.
struct graph_handles {
    std::unordered_set<const graph*> graphs;
    std::unordered_set<const graph_node*> nodes;
    std::uint64_t last_id = 0;
};

struct executable_graph {
    std::unique_ptr<graph> copy;
    std::unordered_map<const graph_node*, graph_node*> of_original; // also of nodes within child graphs
    std::shared_ptr<unsigned> siblings{}; // graph::executables of what it was made from
    unsigned long long flags = 0;
    operation_pointer last{};
    std::uint64_t id = 0;
};

// A capture sequence, from cudaStreamBeginCapture to cudaStreamEndCapture.
struct capture {
    std::uint64_t id = 0;
    graph* into = nullptr;
    bool owns_graph = true; // not one that the program gave
    capture_mode mode = capture_mode::global;
    std::thread::id thread;
    const stream* origin = nullptr;
    capture_status status = capture_status::active;
};

// What a graph's objects in device_state are.
struct graph_state {
    graph_handles handles;
    std::map<memory::address, std::shared_ptr<graph_allocation>> allocations;
    std::unordered_set<std::unique_ptr<graph>, by_address, by_address> graphs;
    std::unordered_set<std::unique_ptr<executable_graph>, by_address, by_address> executables;
    std::unordered_set<std::unique_ptr<user_object>, by_address, by_address> user_objects;
    std::vector<std::shared_ptr<capture>> captures;
    std::uint64_t used_high = 0;
    std::uint64_t reserved_high = 0;
};

// Throw invalid_value where there is no such thing.
graph& checked(context& gpu, graph* g);
graph_node& checked(context& gpu, graph_node* n);
executable_graph& checked(context& gpu, executable_graph* e);

// Adds an edge. Throws invalid_value where both are not of one graph, are the same, or are joined already.
void connect(graph_node& from, graph_node& to, edge_data data = {});
void disconnect(graph_node& from, graph_node& to);

// A node at the end of these. Throws invalid_value; then there is no new node.
graph_node& add_node(context& gpu, graph& in, node_type type, graph_node* const* before, std::size_t count,
                     const edge_data* data = nullptr);
// Frees the graph's own memory and user objects, after `last`.
void destroy(context& gpu, std::unique_ptr<graph> g, const operation_pointer& last = nullptr);
// A copy with everything in it; `copies` gets the copy of each node, child graphs' too.
std::unique_ptr<graph> copy_of(context& gpu, const graph& g,
                               std::unordered_map<const graph_node*, graph_node*>* copies = nullptr);
// Whether allocation or free nodes are in it.
[[nodiscard]] bool has_memory_nodes(const graph& g);
// Each after all before it; empty where the edges go in a circle (and g has nodes).
[[nodiscard]] std::vector<graph_node*> in_order(const graph& g);

// Memory of graphs.
std::shared_ptr<graph_allocation> allocate_for(context& gpu, graph& owner, std::uint64_t bytes);
// In the order of issue: it is there from now on, or no more. false: this is no graph's memory. Throws invalid_value where it
// is not allocated now.
bool free_graph_memory(context& gpu, memory::address base);

void retain(user_object& object, std::uint64_t count);
// What falls to none is destroyed on a thread of the runtime, after `last`.
void release(context& gpu, user_object& object, std::uint64_t count, const operation_pointer& last = nullptr);

// Node parameters, made of the interface's and back. They throw failure where those are wrong.
graph_kernel kernel_of(context& gpu, const kernel_parameters& p);
graph_kernel with_arguments(std::shared_ptr<const kernel_work> work);
kernel_parameters parameters_of(const graph_kernel& k);
fill_work fill_of(context& gpu, const fill_parameters& p);
fill_parameters parameters_of(const fill_work& w);
copy_work copy_of(context& gpu, const copy_3d& p);

// A node that is in no graph, with such parameters.
graph_node parameters_for(context& gpu, const node_parameters& p);
// cudaGraphAddNode in every version of the interface. Throws failure.
void add_graph_node(graph_node** out, graph* in, graph_node* const* before, const edge_data* data, std::size_t count,
                    node_parameters* p);

// Whether a node of an executable graph may be given what another has; success or why not.
[[nodiscard]] update_result may_become(context& gpu, const graph_node& now, const graph_node& next);
// Gives it that, for launches from now on; a child graph's node stays as it is.
void become(graph_node& node, const graph_node& next);

} // namespace softgpu::runtime

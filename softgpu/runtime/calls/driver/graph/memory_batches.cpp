// SPDX-License-Identifier: MIT
// Graph nodes that write values to memory and wait for them.
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/graph/parameters.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/calls/graph/nodes.hpp"
#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {
namespace {

node_parameters same_parameters(const memory_batch_parameters* p) {
    require(p != nullptr && p->context != nullptr);
    node_parameters same{};
    same.type = node_type::memory_batch;
    same.memory_batch = *p;
    return same;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuGraphAddBatchMemOpNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                                const memory_batch_parameters* p) {
    return on_device([&](context& gpu, locked&) {
        node_parameters same = same_parameters(p);
        add_graph_node(gpu, out, in, before, nullptr, count, &same);
    });
}

result cuGraphBatchMemOpNodeGetParams(graph_node* n, memory_batch_parameters* p) {
    return on_device([&](context& gpu, locked&) {
        require(p != nullptr);
        const auto* const batch = std::get_if<memory_batch_work>(&checked(gpu, n).work);
        require(batch != nullptr);
        *p = {.context = current_driver_context(),
              .count = static_cast<unsigned>(batch->given->size()),
              .list = const_cast<memory_operation_parameters*>(batch->given->data()), // the node's own
              .flags = 0};
    });
}

result cuGraphBatchMemOpNodeSetParams(graph_node* n, const memory_batch_parameters* p) {
    return with_context([&] {
        node_parameters same = same_parameters(p);
        return cudaGraphNodeSetParams(n, &same);
    });
}

result cuGraphExecBatchMemOpNodeSetParams(executable_graph* e, graph_node* n, const memory_batch_parameters* p) {
    return with_context([&] {
        node_parameters same = same_parameters(p);
        return cudaGraphExecNodeSetParams(e, n, &same);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Graph nodes, of graphs and of executable graphs: added, read and changed. The work is the runtime's.
#include "softgpu/runtime/calls/graph/nodes.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/graph/parameters.hpp"
#include "softgpu/runtime/calls/driver/memory/boxes.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/graph/executable.hpp"
#include "softgpu/runtime/graph/node_parameters.hpp"

namespace softgpu::runtime {
namespace {

using dependencies = graph_node* const*;

kernel_parameters kernel_of(const driver_kernel_parameters& p) {
    kernel_parameters same = p.same;
    same.function = same.function != nullptr ? same.function : p.kernel;
    return same;
}

// The runtime's parameters of any node.
node_parameters same_parameters(context& gpu, const driver_node_parameters& p) {
    node_parameters same{};
    same.type = p.type;
    switch (p.type) {
    case node_type::kernel: same.kernel = kernel_of(p.kernel); break;
    case node_type::copy: same.copy.copy = copy_of(gpu, p.copy.copy); break;
    case node_type::fill: same.fill = p.fill.same; break;
    case node_type::host: same.host = p.host; break;
    case node_type::graph: same.graph = p.graph; break;
    case node_type::event_wait:
    case node_type::event_record: same.event = p.event; break;
    case node_type::allocate: same.allocate = p.allocate; break;
    case node_type::free: same.free = p.free; break;
    case node_type::conditional: same.conditional = p.conditional.same; break;
    case node_type::memory_batch: same.memory_batch = p.memory_batch; break;
    default: break; // without parameters, or refused
    }
    return same;
}

result add_any(graph_node** out, graph* in, dependencies before, const edge_data* data, std::size_t count,
               driver_node_parameters* p) {
    return on_device([&](context& gpu, locked&) {
        require(p != nullptr);
        node_parameters same = same_parameters(gpu, *p);
        add_graph_node(gpu, out, in, before, data, count, &same);
        if (p->type == node_type::allocate) {
            p->allocate.pointer = same.allocate.pointer;
        } else if (p->type == node_type::conditional) {
            p->conditional.same.bodies = same.conditional.bodies;
        }
    });
}

// Runs use(const copy_3d*) with the runtime's description of a copy.
template <class Use>
result with_copy(const driver_copy_3d* p, Use&& use) {
    return with_context([&] {
        require(p != nullptr);
        copy_3d same{};
        const error e = call([&](context& gpu, locked&) { same = copy_of(gpu, *p); });
        return e == error::success ? use(&same) : e;
    });
}

template <class Use>
result with_kernel(const driver_kernel_parameters* p, Use&& use) {
    return with_context([&] {
        require(p != nullptr);
        const kernel_parameters same = kernel_of(*p);
        return use(&same);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuGraphAddNode_v2(graph_node** out, graph* in, dependencies before, const edge_data* data, std::size_t count,
                         driver_node_parameters* p) {
    return add_any(out, in, before, data, count, p);
}

// CUDA 12.2's, without data of edges.
result cuGraphAddNode(graph_node** out, graph* in, dependencies before, std::size_t count, driver_node_parameters* p) {
    return add_any(out, in, before, nullptr, count, p);
}

result cuGraphNodeSetParams(graph_node* n, driver_node_parameters* p) {
    return with_context([&] {
        require(p != nullptr);
        node_parameters same{};
        const error e = call([&](context& gpu, locked&) { same = same_parameters(gpu, *p); });
        return e == error::success ? cudaGraphNodeSetParams(n, &same) : e;
    });
}

result cuGraphExecNodeSetParams(executable_graph* e, graph_node* n, driver_node_parameters* p) {
    return with_context([&] {
        require(p != nullptr);
        node_parameters same{};
        const error read = call([&](context& gpu, locked&) { same = same_parameters(gpu, *p); });
        return read == error::success ? cudaGraphExecNodeSetParams(e, n, &same) : read;
    });
}

result cuGraphAddKernelNode_v2(graph_node** out, graph* in, dependencies before, std::size_t count,
                               const driver_kernel_parameters* p) {
    return with_kernel(
        p, [&](const kernel_parameters* same) { return cudaGraphAddKernelNode(out, in, before, count, same); });
}

result cuGraphKernelNodeGetParams_v2(graph_node* n, driver_kernel_parameters* p) {
    return with_context([&] {
        require(p != nullptr);
        kernel_parameters same{};
        const error e = cudaGraphKernelNodeGetParams(n, &same);
        if (e == error::success) {
            same.function = &function_of(same.function);
            *p = {same, nullptr, current_driver_context()};
        }
        return e;
    });
}

result cuGraphKernelNodeSetParams_v2(graph_node* n, const driver_kernel_parameters* p) {
    return with_kernel(p, [&](const kernel_parameters* same) { return cudaGraphKernelNodeSetParams(n, same); });
}

result cuGraphExecKernelNodeSetParams_v2(executable_graph* e, graph_node* n, const driver_kernel_parameters* p) {
    return with_kernel(p, [&](const kernel_parameters* same) { return cudaGraphExecKernelNodeSetParams(e, n, same); });
}

// The forms before CUDA 12, whose parameters have no kernel of a library and no context: tinygrad calls them by these names.
result cuGraphAddKernelNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                            const kernel_parameters* p) {
    return forward(cudaGraphAddKernelNode, out, in, before, count, p);
}

result cuGraphKernelNodeGetParams(graph_node* n, kernel_parameters* p) {
    driver_kernel_parameters newer{};
    const result r = cuGraphKernelNodeGetParams_v2(n, p == nullptr ? nullptr : &newer);
    if (r == result::success) {
        *p = newer.same;
    }
    return r;
}

result cuGraphKernelNodeSetParams(graph_node* n, const kernel_parameters* p) {
    return forward(cudaGraphKernelNodeSetParams, n, p);
}

result cuGraphExecKernelNodeSetParams(executable_graph* e, graph_node* n, const kernel_parameters* p) {
    return forward(cudaGraphExecKernelNodeSetParams, e, n, p);
}

result cuGraphKernelNodeGetAttribute(graph_node* n, launch_attribute_id which, launch_attribute_value* value) {
    return forward(cudaGraphKernelNodeGetAttribute, n, which, value);
}

result cuGraphKernelNodeSetAttribute(graph_node* n, launch_attribute_id which, const launch_attribute_value* value) {
    return forward(cudaGraphKernelNodeSetAttribute, n, which, value);
}

result cuGraphKernelNodeCopyAttributes(graph_node* to, graph_node* from) {
    return forward(cudaGraphKernelNodeCopyAttributes, from, to);
}

result cuGraphAddMemcpyNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                            const driver_copy_3d* p, driver_context*) {
    return with_copy(p, [&](const copy_3d* same) { return cudaGraphAddMemcpyNode(out, in, before, count, same); });
}

result cuGraphMemcpyNodeGetParams(graph_node* n, driver_copy_3d* p) {
    return with_context([&] {
        require(p != nullptr);
        copy_3d same{};
        const error e = cudaGraphMemcpyNodeGetParams(n, &same);
        return e != error::success ? e : call([&](context& gpu, locked&) { *p = driver_copy_of(gpu, same); });
    });
}

result cuGraphMemcpyNodeSetParams(graph_node* n, const driver_copy_3d* p) {
    return with_copy(p, [&](const copy_3d* same) { return cudaGraphMemcpyNodeSetParams(n, same); });
}

result cuGraphExecMemcpyNodeSetParams(executable_graph* e, graph_node* n, const driver_copy_3d* p, driver_context*) {
    return with_copy(p, [&](const copy_3d* same) { return cudaGraphExecMemcpyNodeSetParams(e, n, same); });
}

result cuGraphAddMemsetNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                            const fill_parameters* p, driver_context*) {
    return forward(cudaGraphAddMemsetNode, out, in, before, count, p);
}

result cuGraphMemsetNodeGetParams(graph_node* n, fill_parameters* p) {
    return forward(cudaGraphMemsetNodeGetParams, n, p);
}

result cuGraphMemsetNodeSetParams(graph_node* n, const fill_parameters* p) {
    return forward(cudaGraphMemsetNodeSetParams, n, p);
}

result cuGraphExecMemsetNodeSetParams(executable_graph* e, graph_node* n, const fill_parameters* p, driver_context*) {
    return forward(cudaGraphExecMemsetNodeSetParams, e, n, p);
}

result cuGraphAddHostNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                          const host_parameters* p) {
    return forward(cudaGraphAddHostNode, out, in, before, count, p);
}

result cuGraphHostNodeGetParams(graph_node* n, host_parameters* p) { return forward(cudaGraphHostNodeGetParams, n, p); }

result cuGraphHostNodeSetParams(graph_node* n, const host_parameters* p) {
    return forward(cudaGraphHostNodeSetParams, n, p);
}

result cuGraphExecHostNodeSetParams(executable_graph* e, graph_node* n, const host_parameters* p) {
    return forward(cudaGraphExecHostNodeSetParams, e, n, p);
}

result cuGraphAddEmptyNode(graph_node** out, graph* in, dependencies before, std::size_t count) {
    return forward(cudaGraphAddEmptyNode, out, in, before, count);
}

result cuGraphAddChildGraphNode(graph_node** out, graph* in, dependencies before, std::size_t count, graph* child) {
    return forward(cudaGraphAddChildGraphNode, out, in, before, count, child);
}

result cuGraphChildGraphNodeGetGraph(graph_node* n, graph** child) {
    return forward(cudaGraphChildGraphNodeGetGraph, n, child);
}

result cuGraphExecChildGraphNodeSetParams(executable_graph* e, graph_node* n, graph* child) {
    return forward(cudaGraphExecChildGraphNodeSetParams, e, n, child);
}

result cuGraphAddEventRecordNode(graph_node** out, graph* in, dependencies before, std::size_t count, event* e) {
    return forward(cudaGraphAddEventRecordNode, out, in, before, count, e);
}

result cuGraphEventRecordNodeGetEvent(graph_node* n, event** e) {
    return forward(cudaGraphEventRecordNodeGetEvent, n, e);
}

result cuGraphEventRecordNodeSetEvent(graph_node* n, event* e) {
    return forward(cudaGraphEventRecordNodeSetEvent, n, e);
}

result cuGraphExecEventRecordNodeSetEvent(executable_graph* e, graph_node* n, event* what) {
    return forward(cudaGraphExecEventRecordNodeSetEvent, e, n, what);
}

result cuGraphAddEventWaitNode(graph_node** out, graph* in, dependencies before, std::size_t count, event* e) {
    return forward(cudaGraphAddEventWaitNode, out, in, before, count, e);
}

result cuGraphEventWaitNodeGetEvent(graph_node* n, event** e) { return forward(cudaGraphEventWaitNodeGetEvent, n, e); }

result cuGraphEventWaitNodeSetEvent(graph_node* n, event* e) { return forward(cudaGraphEventWaitNodeSetEvent, n, e); }

result cuGraphExecEventWaitNodeSetEvent(executable_graph* e, graph_node* n, event* what) {
    return forward(cudaGraphExecEventWaitNodeSetEvent, e, n, what);
}

result cuGraphAddMemAllocNode(graph_node** out, graph* in, dependencies before, std::size_t count,
                              allocate_parameters* p) {
    return forward(cudaGraphAddMemAllocNode, out, in, before, count, p);
}

result cuGraphMemAllocNodeGetParams(graph_node* n, allocate_parameters* p) {
    return forward(cudaGraphMemAllocNodeGetParams, n, p);
}

result cuGraphAddMemFreeNode(graph_node** out, graph* in, dependencies before, std::size_t count, device_address at) {
    return forward(cudaGraphAddMemFreeNode, out, in, before, count, pointer_to(at));
}

result cuGraphMemFreeNodeGetParams(graph_node* n, device_address* at) {
    return forward(cudaGraphMemFreeNodeGetParams, n, at);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

// SPDX-License-Identifier: MIT
// Graphs: what captures need, and nodes whose parameters are the runtime's.
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"

namespace softgpu::runtime {

#pragma GCC visibility push(default)
extern "C" {

result cuGraphCreate(graph** out, unsigned flags) { return forward(cudaGraphCreate, out, flags); }

result cuGraphDestroy(graph* g) { return forward(cudaGraphDestroy, g); }

result cuGraphClone(graph** out, graph* from) { return forward(cudaGraphClone, out, from); }

result cuGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags) {
    return forward(cudaGraphInstantiate, out, from, flags);
}

result cuGraphLaunch(executable_graph* e, stream* on) { return forward(cudaGraphLaunch, e, on); }

result cuGraphLaunch_ptsz(executable_graph* e, stream* on) { return cuGraphLaunch(e, of_this_thread(on)); }

result cuGraphUpload(executable_graph* e, stream* on) { return forward(cudaGraphUpload, e, on); }

result cuGraphUpload_ptsz(executable_graph* e, stream* on) { return cuGraphUpload(e, of_this_thread(on)); }

result cuGraphExecDestroy(executable_graph* e) { return forward(cudaGraphExecDestroy, e); }

result cuGraphExecGetFlags(executable_graph* e, unsigned long long* flags) {
    return forward(cudaGraphExecGetFlags, e, flags);
}

result cuGraphGetNodes(graph* g, graph_node** out, std::size_t* count) {
    return forward(cudaGraphGetNodes, g, out, count);
}

result cuGraphGetRootNodes(graph* g, graph_node** out, std::size_t* count) {
    return forward(cudaGraphGetRootNodes, g, out, count);
}

result cuGraphDestroyNode(graph_node* n) { return forward(cudaGraphDestroyNode, n); }

result cuGraphNodeGetType(graph_node* n, node_type* type) { return forward(cudaGraphNodeGetType, n, type); }

result cuGraphNodeFindInClone(graph_node** out, graph_node* original, graph* clone) {
    return forward(cudaGraphNodeFindInClone, out, original, clone);
}

result cuGraphAddEmptyNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count) {
    return forward(cudaGraphAddEmptyNode, out, in, before, count);
}

result cuGraphAddChildGraphNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                                graph* child) {
    return forward(cudaGraphAddChildGraphNode, out, in, before, count, child);
}

result cuGraphChildGraphNodeGetGraph(graph_node* n, graph** child) {
    return forward(cudaGraphChildGraphNodeGetGraph, n, child);
}

result cuGraphAddEventRecordNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, event* e) {
    return forward(cudaGraphAddEventRecordNode, out, in, before, count, e);
}

result cuGraphAddEventWaitNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, event* e) {
    return forward(cudaGraphAddEventWaitNode, out, in, before, count, e);
}

result cuGraphDebugDotPrint(graph* g, const char* path, unsigned flags) {
    return forward(cudaGraphDebugDotPrint, g, path, flags);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

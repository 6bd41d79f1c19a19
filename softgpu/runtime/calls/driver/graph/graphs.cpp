// SPDX-License-Identifier: MIT
// Graphs: their edges, executable graphs, the objects that they keep.
#include "softgpu/runtime/calls/graph/graphs.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"

namespace softgpu::runtime {

#pragma GCC visibility push(default)
extern "C" {

result cuGraphCreate(graph** out, unsigned flags) { return forward(cudaGraphCreate, out, flags); }

result cuGraphDestroy(graph* g) { return forward(cudaGraphDestroy, g); }

result cuGraphClone(graph** out, graph* from) { return forward(cudaGraphClone, out, from); }

result cuGraphConditionalHandleCreate(unsigned long long* out, graph* of, driver_context*, unsigned initial,
                                      unsigned flags) {
    return forward(cudaGraphConditionalHandleCreate, out, of, initial, flags);
}

result cuGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags) {
    return forward(cudaGraphInstantiate, out, from, flags);
}

// CUDA 11's, which tells of errors in a text.
result cuGraphInstantiate_v2(executable_graph** out, graph* from, graph_node** at_fault, char* log,
                             std::size_t log_bytes) {
    if (at_fault != nullptr) {
        *at_fault = nullptr;
    }
    if (log != nullptr && log_bytes != 0) {
        *log = '\0';
    }
    return forward(cudaGraphInstantiate, out, from, 0ull);
}

result cuGraphInstantiateWithParams(executable_graph** out, graph* from, instantiate_parameters* p) {
    return forward(cudaGraphInstantiateWithParams, out, from, p);
}

result cuGraphInstantiateWithParams_ptsz(executable_graph** out, graph* from, instantiate_parameters* p) {
    return forward(cudaGraphInstantiateWithParams_ptsz, out, from, p);
}

result cuGraphLaunch(executable_graph* e, stream* on) { return forward(cudaGraphLaunch, e, on); }

result cuGraphLaunch_ptsz(executable_graph* e, stream* on) { return cuGraphLaunch(e, of_this_thread(on)); }

result cuGraphUpload(executable_graph* e, stream* on) { return forward(cudaGraphUpload, e, on); }

result cuGraphUpload_ptsz(executable_graph* e, stream* on) { return cuGraphUpload(e, of_this_thread(on)); }

result cuGraphExecDestroy(executable_graph* e) { return forward(cudaGraphExecDestroy, e); }

result cuGraphExecGetFlags(executable_graph* e, unsigned long long* flags) {
    return forward(cudaGraphExecGetFlags, e, flags);
}

result cuGraphExecUpdate_v2(executable_graph* e, graph* from, update_information* information) {
    return forward(cudaGraphExecUpdate, e, from, information);
}

result cuGraphNodeSetEnabled(executable_graph* e, graph_node* n, unsigned enabled) {
    return forward(cudaGraphNodeSetEnabled, e, n, enabled);
}

result cuGraphNodeGetEnabled(executable_graph* e, graph_node* n, unsigned* enabled) {
    return forward(cudaGraphNodeGetEnabled, e, n, enabled);
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

result cuGraphGetEdges_v2(graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count) {
    return on_device([&](context& gpu, locked&) { graph_edges(gpu, g, from, to, data, count); });
}

result cuGraphNodeGetDependencies_v2(graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    return on_device([&](context& gpu, locked&) { graph_dependencies(gpu, n, out, data, count); });
}

result cuGraphNodeGetDependentNodes_v2(graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    return on_device([&](context& gpu, locked&) { graph_dependents(gpu, n, out, data, count); });
}

result cuGraphAddDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                                 std::size_t count) {
    return on_device([&](context& gpu, locked&) { add_dependencies(gpu, g, from, to, data, count); });
}

result cuGraphRemoveDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data*,
                                    std::size_t count) {
    return on_device([&](context& gpu, locked&) { remove_dependencies(gpu, g, from, to, count); });
}

// The same without data of edges, as before CUDA 12.3.
result cuGraphGetEdges(graph* g, graph_node** from, graph_node** to, std::size_t* count) {
    return cuGraphGetEdges_v2(g, from, to, nullptr, count);
}

result cuGraphNodeGetDependencies(graph_node* n, graph_node** out, std::size_t* count) {
    return cuGraphNodeGetDependencies_v2(n, out, nullptr, count);
}

result cuGraphNodeGetDependentNodes(graph_node* n, graph_node** out, std::size_t* count) {
    return cuGraphNodeGetDependentNodes_v2(n, out, nullptr, count);
}

result cuGraphAddDependencies(graph* g, graph_node* const* from, graph_node* const* to, std::size_t count) {
    return cuGraphAddDependencies_v2(g, from, to, nullptr, count);
}

result cuGraphRemoveDependencies(graph* g, graph_node* const* from, graph_node* const* to, std::size_t count) {
    return cuGraphRemoveDependencies_v2(g, from, to, nullptr, count);
}

result cuGraphDebugDotPrint(graph* g, const char* path, unsigned flags) {
    return forward(cudaGraphDebugDotPrint, g, path, flags);
}

result cuUserObjectCreate(user_object** out, void* what, host_function destroy, unsigned count, unsigned flags) {
    return forward(cudaUserObjectCreate, out, what, destroy, count, flags);
}

result cuUserObjectRetain(user_object* object, unsigned count) { return forward(cudaUserObjectRetain, object, count); }

result cuUserObjectRelease(user_object* object, unsigned count) {
    return forward(cudaUserObjectRelease, object, count);
}

result cuGraphRetainUserObject(graph* g, user_object* object, unsigned count, unsigned flags) {
    return forward(cudaGraphRetainUserObject, g, object, count, flags);
}

result cuGraphReleaseUserObject(graph* g, user_object* object, unsigned count) {
    return forward(cudaGraphReleaseUserObject, g, object, count);
}

result cuDeviceGetGraphMemAttribute(int device, graph_memory_attribute which, void* value) {
    return without_context([&] { return cudaDeviceGetGraphMemAttribute(device, which, value); });
}

result cuDeviceSetGraphMemAttribute(int device, graph_memory_attribute which, void* value) {
    return without_context([&] { return cudaDeviceSetGraphMemAttribute(device, which, value); });
}

result cuDeviceGraphMemTrim(int device) {
    return without_context([&] { return cudaDeviceGraphMemTrim(device); });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

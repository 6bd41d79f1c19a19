// SPDX-License-Identifier: MIT
// The calls about graphs and captures that only CUDA 12 has in this form: without edge data, and again (_v2) with it.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/calls/graph/captures.hpp"
#include "softgpu/runtime/calls/graph/graphs.hpp"
#include "softgpu/runtime/calls/graph/nodes.hpp"

namespace softgpu::runtime {
namespace {

error capture_info(stream* s, capture_status* status, unsigned long long* id, graph** into,
                   graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    return call(s, [&](context& gpu, locked&) {
        give_capture_information(gpu, s, status, id, into, dependencies, data, count);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamGetCaptureInfo(stream* s, capture_status* status, unsigned long long* id) {
    return capture_info(s, status, id, nullptr, nullptr, nullptr, nullptr);
}

error cudaStreamGetCaptureInfo_ptsz(stream* s, capture_status* status, unsigned long long* id) {
    return capture_info(of_this_thread(s), status, id, nullptr, nullptr, nullptr, nullptr);
}

error cudaStreamGetCaptureInfo_v2(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                  graph_node* const** dependencies, std::size_t* count) {
    return capture_info(s, status, id, into, dependencies, nullptr, count);
}

error cudaStreamGetCaptureInfo_v2_ptsz(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                       graph_node* const** dependencies, std::size_t* count) {
    return capture_info(of_this_thread(s), status, id, into, dependencies, nullptr, count);
}

error cudaStreamGetCaptureInfo_v3(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                  graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    return capture_info(s, status, id, into, dependencies, data, count);
}

error cudaStreamGetCaptureInfo_v3_ptsz(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                       graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    return capture_info(of_this_thread(s), status, id, into, dependencies, data, count);
}

error cudaStreamUpdateCaptureDependencies(stream* s, graph_node* const* nodes, std::size_t count, unsigned flags) {
    return call(s, [&](context& gpu, locked&) { update_capture_dependencies(gpu, s, nodes, count, flags); });
}

error cudaStreamUpdateCaptureDependencies_ptsz(stream* s, graph_node* const* nodes, std::size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(of_this_thread(s), nodes, count, flags);
}

error cudaStreamUpdateCaptureDependencies_v2(stream* s, graph_node* const* nodes, const edge_data*, std::size_t count,
                                             unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(s, nodes, count, flags);
}

error cudaStreamUpdateCaptureDependencies_v2_ptsz(stream* s, graph_node* const* nodes, const edge_data*,
                                                  std::size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(of_this_thread(s), nodes, count, flags);
}

error cudaGraphGetEdges(graph* g, graph_node** from, graph_node** to, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_edges(gpu, g, from, to, nullptr, count); });
}

error cudaGraphGetEdges_v2(graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_edges(gpu, g, from, to, data, count); });
}

error cudaGraphNodeGetDependencies(graph_node* n, graph_node** out, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_dependencies(gpu, n, out, nullptr, count); });
}

error cudaGraphNodeGetDependencies_v2(graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_dependencies(gpu, n, out, data, count); });
}

error cudaGraphNodeGetDependentNodes(graph_node* n, graph_node** out, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_dependents(gpu, n, out, nullptr, count); });
}

error cudaGraphNodeGetDependentNodes_v2(graph_node* n, graph_node** out, edge_data* data, std::size_t* count) {
    return call([&](context& gpu, locked&) { graph_dependents(gpu, n, out, data, count); });
}

error cudaGraphAddDependencies(graph* g, graph_node* const* from, graph_node* const* to, std::size_t count) {
    return call([&](context& gpu, locked&) { add_dependencies(gpu, g, from, to, nullptr, count); });
}

error cudaGraphAddDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data* data,
                                  std::size_t count) {
    return call([&](context& gpu, locked&) { add_dependencies(gpu, g, from, to, data, count); });
}

error cudaGraphRemoveDependencies(graph* g, graph_node* const* from, graph_node* const* to, std::size_t count) {
    return call([&](context& gpu, locked&) { remove_dependencies(gpu, g, from, to, count); });
}

error cudaGraphRemoveDependencies_v2(graph* g, graph_node* const* from, graph_node* const* to, const edge_data*,
                                     std::size_t count) {
    return call([&](context& gpu, locked&) { remove_dependencies(gpu, g, from, to, count); });
}

error cudaGraphAddNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, node_parameters* p) {
    return call([&](context& gpu, locked&) { add_graph_node(gpu, out, in, before, nullptr, count, p); });
}

error cudaGraphAddNode_v2(graph_node** out, graph* in, graph_node* const* before, const edge_data* data,
                          std::size_t count, node_parameters* p) {
    return call([&](context& gpu, locked&) { add_graph_node(gpu, out, in, before, data, count, p); });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime

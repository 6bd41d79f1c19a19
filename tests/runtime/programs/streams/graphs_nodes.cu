// SPDX-License-Identifier: MIT
// Graphs made node by node: every kind of node, its parameters, edges and queries, changes before and after instantiation.
#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/runtime/programs/check.hpp"

__device__ int variable[4];

__global__ void add(int* p, int value) { p[threadIdx.x] += value; }

__global__ void multiply(int* p, int value) { p[threadIdx.x] *= value; }

static int at(const int* device, int i = 0) {
    int value = -1;
    CUDA(cudaMemcpy(&value, device + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static cudaKernelNodeParams kernel(void* function, int** p, int* value, unsigned threads = 8) {
    static void* arguments[8][2];
    static int used = 0;
    void** const own = arguments[used++ % 8];
    own[0] = p;
    own[1] = value;
    cudaKernelNodeParams k{};
    k.func = function;
    k.gridDim = dim3(1);
    k.blockDim = dim3(threads);
    k.kernelParams = own;
    return k;
}

static cudaStream_t s;
static int* a;

static void run(cudaGraph_t graph) {
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaGraphExecDestroy(exec));
}

static void kernels_copies_and_fills() {
    cudaGraph_t graph{};
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t fill{}, plus{}, times{}, out{}, in{}, from{};
    cudaMemsetParams m{};
    m.dst = a;
    m.elementSize = 4;
    m.width = 8;
    m.height = 1;
    m.value = 7;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
    int three = 3, four = 4;
    const cudaKernelNodeParams p = kernel(reinterpret_cast<void*>(add), &a, &three);
    const cudaKernelNodeParams q = kernel(reinterpret_cast<void*>(multiply), &a, &four);
    CUDA(cudaGraphAddKernelNode(&plus, graph, &fill, 1, &p));
    CUDA(cudaGraphAddKernelNode(&times, graph, &plus, 1, &q));
    three = 1000; // arguments were copied
    int host[8] = {};
    CUDA(cudaGraphAddMemcpyNode1D(&out, graph, &times, 1, host, a, sizeof host, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphAddMemcpyNodeToSymbol(&in, graph, &times, 1, variable, a, 8, 8, cudaMemcpyDeviceToDevice));
    int back[2] = {};
    CUDA(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &in, 1, back, variable, 8, 8, cudaMemcpyDeviceToHost));
    run(graph);
    CHECK(host[0] == 40 && host[7] == 40 && back[0] == 40 && back[1] == 40);
    // What was put in comes out again.
    cudaGraphNodeType type{};
    CUDA(cudaGraphNodeGetType(times, &type));
    CHECK(type == cudaGraphNodeTypeKernel);
    cudaKernelNodeParams k{};
    CUDA(cudaGraphKernelNodeGetParams(times, &k));
    CHECK(k.func == reinterpret_cast<void*>(multiply) && k.blockDim.x == 8);
    CHECK(*static_cast<int*>(k.kernelParams[1]) == 4 && *static_cast<int**>(k.kernelParams[0]) == a);
    cudaMemsetParams n{};
    CUDA(cudaGraphMemsetNodeGetParams(fill, &n));
    CHECK(n.dst == a && n.elementSize == 4 && n.width == 8 && n.height == 1 && n.value == 7);
    cudaMemcpy3DParms c{};
    CUDA(cudaGraphMemcpyNodeGetParams(out, &c));
    CHECK(c.srcPtr.ptr == a && c.dstPtr.ptr == host && c.extent.width == sizeof host);
    CHECK(cudaGraphMemsetNodeGetParams(times, &n) == cudaErrorInvalidValue);
    std::size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 6);
    std::vector<cudaGraphNode_t> nodes(9, fill);
    count = nodes.size();
    CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
    CHECK(count == 6 && nodes[0] == fill && nodes[5] == from && nodes[6] == nullptr);
    CUDA(cudaGraphGetRootNodes(graph, nullptr, &count));
    CHECK(count == 1);
    CUDA(cudaGraphNodeGetDependentNodes(times, nullptr, nullptr, &count));
    CHECK(count == 2);
    cudaGraphNode_t before{};
    count = 1;
    CUDA(cudaGraphNodeGetDependencies(from, &before, nullptr, &count));
    CHECK(count == 1 && before == in);
    std::vector<cudaGraphNode_t> sources(5), targets(5);
    count = 5;
    CUDA(cudaGraphGetEdges(graph, sources.data(), targets.data(), nullptr, &count));
    CHECK(count == 5);
    // Edges and nodes are taken away and added; circles are found.
    CHECK(cudaGraphAddDependencies(graph, &fill, &plus, nullptr, 1) == cudaErrorInvalidValue);
    CUDA(cudaGraphRemoveDependencies(graph, &plus, &times, nullptr, 1));
    CHECK(cudaGraphRemoveDependencies(graph, &plus, &times, nullptr, 1) == cudaErrorInvalidValue);
    CUDA(cudaGraphDestroyNode(plus));
    CUDA(cudaGraphAddDependencies(graph, &fill, &times, nullptr, 1));
    run(graph);
    CHECK(host[0] == 28);
    CUDA(cudaGraphAddDependencies(graph, &from, &fill, nullptr, 1));
    cudaGraphExec_t exec{};
    CHECK(cudaGraphInstantiate(&exec, graph) == cudaErrorInvalidValue);
    CUDA(cudaGraphRemoveDependencies(graph, &from, &fill, nullptr, 1));
    // Node parameters are set in the graph, and in what was made of it.
    m.value = 1;
    CUDA(cudaGraphMemsetNodeSetParams(fill, &m));
    CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    int five = 5;
    const cudaKernelNodeParams r = kernel(reinterpret_cast<void*>(add), &a, &five);
    CUDA(cudaGraphExecKernelNodeSetParams(exec, times, &r));
    int other[8] = {};
    CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec, out, other, a, sizeof other, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(other[3] == 6 && host[0] == 28);
    CUDA(cudaGraphNodeSetEnabled(exec, times, 0));
    unsigned enabled = 1;
    CUDA(cudaGraphNodeGetEnabled(exec, times, &enabled));
    CHECK(enabled == 0);
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(other[3] == 1);
    unsigned long long flags = 99;
    CUDA(cudaGraphExecGetFlags(exec, &flags));
    CHECK(flags == 0);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

static void boxes() {
    cudaPitchedPtr box{};
    CUDA(cudaMalloc3D(&box, make_cudaExtent(12, 5, 3)));
    std::vector<char> source(12 * 5 * 3), target(12 * 5 * 3);
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<char>(i);
    }
    cudaMemcpy3DParms up{}, down{};
    up.srcPtr = make_cudaPitchedPtr(source.data(), 12, 12, 5);
    up.dstPtr = box;
    up.extent = make_cudaExtent(12, 5, 3);
    up.kind = cudaMemcpyHostToDevice;
    down.srcPtr = box;
    down.dstPtr = make_cudaPitchedPtr(target.data(), 12, 12, 5);
    down.extent = up.extent;
    down.kind = cudaMemcpyDeviceToHost;
    cudaMemsetParams m{};
    m.dst = box.ptr;
    m.pitch = box.pitch;
    m.elementSize = 2;
    m.width = 2;
    m.height = 2;
    m.value = 0x0101;
    cudaGraph_t graph{};
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first{}, second{}, third{};
    CUDA(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &up));
    CUDA(cudaGraphAddMemsetNode(&second, graph, &first, 1, &m));
    CUDA(cudaGraphAddMemcpyNode(&third, graph, &second, 1, &down));
    run(graph);
    CHECK(target[0] == 1 && target[3] == 1 && target[4] == 4 && target[12] == 1 && target[24] == 24);
    CHECK(std::memcmp(target.data() + 24, source.data() + 24, source.size() - 24) == 0);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(box.ptr));
}

static void append(void* text) { *static_cast<std::string*>(text) += "x"; }

static void hosts_children_and_events() {
    std::string text;
    cudaGraph_t inner{}, outer{}, clone{};
    cudaGraphNode_t work{}, host{}, child{}, empty{}, record{}, found{};
    CUDA(cudaGraphCreate(&inner, 0));
    int one = 1;
    const cudaKernelNodeParams p = kernel(reinterpret_cast<void*>(add), &a, &one);
    CUDA(cudaGraphAddKernelNode(&work, inner, nullptr, 0, &p));
    cudaHostNodeParams h{append, &text};
    CUDA(cudaGraphAddHostNode(&host, inner, &work, 1, &h));
    CUDA(cudaGraphCreate(&outer, 0));
    CUDA(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
    CUDA(cudaGraphAddEmptyNode(&empty, outer, &child, 1));
    cudaEvent_t event{};
    CUDA(cudaEventCreate(&event));
    CUDA(cudaGraphAddEventRecordNode(&record, outer, &empty, 1, event));
    cudaEvent_t same{};
    CUDA(cudaGraphEventRecordNodeGetEvent(record, &same));
    CHECK(same == event);
    cudaGraph_t embedded{};
    CUDA(cudaGraphChildGraphNodeGetGraph(child, &embedded));
    CHECK(embedded != inner);
    CHECK(cudaGraphDestroy(embedded) == cudaErrorInvalidValue);
    CUDA(cudaGraphClone(&clone, outer));
    CUDA(cudaGraphNodeFindInClone(&found, empty, clone));
    CHECK(found != empty && found != nullptr);
    CHECK(cudaGraphNodeFindInClone(&found, work, clone) == cudaErrorInvalidValue);
    CUDA(cudaMemset(a, 0, 32));
    CUDA(cudaDeviceSynchronize());
    run(outer);
    CHECK(text == "x" && at(a, 7) == 1);
    CUDA(cudaEventQuery(event));
    run(clone);
    CHECK(text == "xx" && at(a, 7) == 2);
    // The node inside the child graph is changed in the executable graph.
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, outer));
    cudaGraphNode_t nodes[2];
    std::size_t count = 2;
    CUDA(cudaGraphGetNodes(embedded, nodes, &count));
    int ten = 10;
    const cudaKernelNodeParams q = kernel(reinterpret_cast<void*>(add), &a, &ten);
    CUDA(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &q));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(at(a) == 12);
    CUDA(cudaGraphExecChildGraphNodeSetParams(exec, child, inner));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(at(a) == 13);
    const std::string path = "graphs_nodes." + std::to_string(::getpid()) + ".dot"; // tests run at the same time
    CUDA(cudaGraphDebugDotPrint(outer, path.c_str(), cudaGraphDebugDotFlagsVerbose));
    std::ifstream file(path);
    std::stringstream dot;
    dot << file.rdbuf();
    std::remove(path.c_str());
    CHECK(dot.str().find("digraph") == 0 && dot.str().find("add(int*, int)") != std::string::npos);
    CHECK(dot.str().find("->") != std::string::npos);
    CUDA(cudaGraphExecDestroy(exec));
    for (cudaGraph_t g : {inner, outer, clone}) {
        CUDA(cudaGraphDestroy(g));
    }
    CUDA(cudaEventDestroy(event));
    (void)cudaGetLastError();
}

static void memory_nodes() {
    cudaGraph_t graph{};
    CUDA(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams m{};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 64;
    cudaGraphNode_t allocate{}, fill{}, plus{}, copy{}, release{};
    CUDA(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &m));
    int* p = static_cast<int*>(m.dptr);
    CHECK(p != nullptr);
    cudaMemsetParams f{};
    f.dst = p;
    f.elementSize = 4;
    f.width = 8;
    f.height = 1;
    f.value = 2;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &f));
    int three = 3;
    const cudaKernelNodeParams k = kernel(reinterpret_cast<void*>(add), &p, &three);
    CUDA(cudaGraphAddKernelNode(&plus, graph, &fill, 1, &k));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &plus, 1, a, p, 32, cudaMemcpyDeviceToDevice));
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph));
    CUDA(cudaGraphLaunch(exec, s));
    CHECK(cudaGraphLaunch(exec, s) == cudaErrorInvalidValue); // its memory has not been freed
    CUDA(cudaStreamSynchronize(s));
    CHECK(at(a) == 5 && at(p) == 5);
    CUDA(cudaFreeAsync(p, s));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaFree(p));
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int i = 0; i < 3; ++i) {
        CUDA(cudaGraphLaunch(exec, s));
    }
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaFree(p));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, p));
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, p) == cudaErrorInvalidValue);
    cudaGraph_t clone{};
    CHECK(cudaGraphClone(&clone, graph) != cudaSuccess);
    CUDA(cudaGraphInstantiate(&exec, graph));
    for (int i = 0; i < 3; ++i) {
        CUDA(cudaGraphLaunch(exec, s));
    }
    CUDA(cudaStreamSynchronize(s));
    unsigned long long used = 1;
    CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    CHECK(used == 0);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
    CHECK(used != 0);
    CUDA(cudaDeviceGraphMemTrim(0));
    CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
    CHECK(used == 0);
    CUDA(cudaGraphDestroy(graph));
    (void)cudaGetLastError();
}

static void count(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

static void user_objects() {
    std::atomic<int> destroyed{0};
    cudaUserObject_t object{};
    CUDA(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync));
    cudaGraph_t graph{};
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node{};
    CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiate(&exec, graph));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaDeviceSynchronize());
    CHECK(destroyed == 0);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaDeviceSynchronize());
    CHECK(destroyed == 1);
    CHECK(cudaUserObjectRelease(object) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

static void any_node() {
    cudaGraph_t graph{};
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams p{};
    int six = 6;
    const cudaKernelNodeParams k = kernel(reinterpret_cast<void*>(add), &a, &six);
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = k.func;
    p.kernel.gridDim = k.gridDim;
    p.kernel.blockDim = k.blockDim;
    p.kernel.kernelParams = k.kernelParams;
    cudaGraphNode_t node{};
    CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    CUDA(cudaMemset(a, 0, 32));
    CUDA(cudaDeviceSynchronize());
    run(graph);
    CHECK(at(a) == 6);
    cudaLaunchAttributeValue priority{};
    priority.priority = -3;
    CUDA(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &priority));
    priority.priority = 0;
    CUDA(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &priority));
    CHECK(priority.priority == -3);
    cudaKernelNodeParams wrong = k;
    wrong.blockDim = dim3(2000);
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &wrong) == cudaErrorInvalidValue);
    cudaGraphInstantiateParams i{};
    cudaGraphExec_t exec{};
    CUDA(cudaGraphInstantiateWithParams(&exec, graph, &i));
    CHECK(i.result_out == cudaGraphInstantiateSuccess);
    CUDA(cudaGraphUpload(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    (void)cudaGetLastError();
}

int main() {
    CUDA(cudaMalloc(&a, 32));
    CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    kernels_copies_and_fills();
    boxes();
    hosts_children_and_events();
    memory_nodes();
    user_objects();
    any_node();
    CUDA(cudaDeviceReset());
    return 0;
}

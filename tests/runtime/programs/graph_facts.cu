// SPDX-License-Identifier: MIT
// Prints what calls return during a capture, what a capture makes of them, and which rules graphs have; as api_facts.cu
// does for the other calls. The argument chooses a part. This file has the rules of graphs, graph_facts_captures.cu the
// captures.
#include <functional>
#include <string>

#include "tests/runtime/programs/graph_facts.hpp"

static __global__ void add(int* p, int value) { *p += value; }
static __global__ void other(int* p, int value) { *p -= value; }
static __global__ void wait_long(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

static void structures() {
    cudaGraph_t graph{}, clone{};
    cudaGraphNode_t a{}, b{}, c{};
    cudaGraphExec_t exec{};
    SHOW(cudaGraphCreate(&graph, 1));
    SHOW(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    SHOW(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    const cudaGraphNode_t both[] = {a, a};
    SHOW(cudaGraphAddEmptyNode(&c, graph, both, 2));
    SHOW(cudaGraphAddEmptyNode(&c, graph, nullptr, 1));
    SHOW(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
    SHOW(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
    SHOW(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    SHOW(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
    SHOW(cudaGraphInstantiate(&exec, graph));
    cudaGraphInstantiateParams p{};
    SHOW(cudaGraphInstantiateWithParams(&exec, graph, &p));
    std::printf("result %d, node given %d\n", static_cast<int>(p.result_out), p.errNode_out != nullptr);
    SHOW(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    SHOW(cudaGraphInstantiate(&exec, graph, 0x40));
    SHOW(cudaGraphInstantiate(&exec, graph));
    SHOW(cudaGraphClone(&clone, graph));
    SHOW(cudaGraphNodeFindInClone(&c, a, clone));
    SHOW(cudaGraphNodeFindInClone(&c, c, clone));
    unsigned enabled = 0;
    SHOW(cudaGraphNodeSetEnabled(exec, a, 0));
    SHOW(cudaGraphNodeGetEnabled(exec, a, &enabled));
    SHOW(cudaGraphLaunch(exec, cudaStreamLegacy));
    SHOW(cudaGraphLaunch(exec, nullptr));
    SHOW(cudaGraphDestroyNode(b));
    SHOW(cudaGraphDestroy(nullptr));
    SHOW(cudaGraphExecDestroy(nullptr));
    SHOW(cudaGraphLaunch(nullptr, s));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(clone));
    SHOW(cudaGraphDestroy(graph));
    cudaUserObject_t object{};
    SHOW(cudaUserObjectCreate(
        &object, device, [](void*) {}, 1, 0));
    SHOW(cudaUserObjectCreate(
        &object, device, [](void*) {}, 0, cudaUserObjectNoDestructorSync));
    SHOW(cudaUserObjectCreate(
        &object, device, [](void*) {}, 2, cudaUserObjectNoDestructorSync));
    SHOW(cudaUserObjectRelease(object, 0));
    SHOW(cudaUserObjectRelease(object, 2));
}

static cudaGraph_t one_of_each(unsigned width, int value, bool second, std::size_t bytes, cudaGraphNode_t* nodes) {
    cudaGraph_t graph{};
    (void)cudaGraphCreate(&graph, 0);
    cudaMemsetParams m{};
    m.dst = device;
    m.elementSize = 4;
    m.width = width;
    m.height = 1;
    (void)cudaGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &m);
    void* arguments[] = {&device, &value};
    cudaKernelNodeParams k{};
    k.func = second ? reinterpret_cast<void*>(other) : reinterpret_cast<void*>(add);
    k.gridDim = dim3(1);
    k.blockDim = dim3(1);
    k.kernelParams = arguments;
    (void)cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &k);
    (void)cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, pinned, device, bytes, cudaMemcpyDeviceToHost);
    return graph;
}

static void updates() {
    cudaGraphNode_t nodes[3], changed[3];
    cudaGraph_t graph = one_of_each(4, 1, false, 16, nodes);
    cudaGraphExec_t exec{};
    SHOW(cudaGraphInstantiate(&exec, graph));
    const auto update = [&](const char* what, cudaGraph_t next) {
        cudaGraphExecUpdateResultInfo info{};
        const cudaError_t e = cudaGraphExecUpdate(exec, next, &info);
        std::printf("update, %s: %s, result %d, node %d, from %d\n", what, cudaGetErrorName(e),
                    static_cast<int>(info.result), info.errorNode != nullptr, info.errorFromNode != nullptr);
        (void)cudaGetLastError();
    };
    update("the same", graph);
    update("another argument", one_of_each(4, 2, false, 16, changed));
    update("another kernel", one_of_each(4, 2, true, 16, changed));
    update("a wider memset", one_of_each(8, 2, true, 16, changed));
    update("a longer copy", one_of_each(8, 2, true, 24, changed));
    cudaGraph_t more = one_of_each(4, 1, false, 16, changed);
    cudaGraphNode_t extra{};
    (void)cudaGraphAddEmptyNode(&extra, more, nullptr, 0);
    update("one node more", more);
    cudaGraph_t apart = one_of_each(4, 1, false, 16, changed);
    (void)cudaGraphRemoveDependencies(apart, &changed[1], &changed[2], nullptr, 1);
    update("one edge less", apart);
    (void)cudaGraphAddDependencies(apart, &changed[0], &changed[2], nullptr, 1);
    update("another edge", apart);
    cudaMemsetParams m{};
    m.dst = device;
    m.elementSize = 1;
    m.width = 4;
    m.height = 1;
    SHOW(cudaGraphExecMemsetNodeSetParams(exec, nodes[0], &m));
    m.height = 2;
    m.pitch = 32;
    SHOW(cudaGraphExecMemsetNodeSetParams(exec, nodes[0], &m));
    SHOW(cudaGraphExecMemsetNodeSetParams(exec, nodes[1], &m));
    SHOW(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[2], device + 8, device, 16, cudaMemcpyDeviceToDevice));
    SHOW(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[2], pageable, device, 16, cudaMemcpyDeviceToHost));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(graph));
}

static void memory() {
    cudaGraph_t graph{}, clone{};
    SHOW(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams m{};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    cudaGraphNode_t a{}, f{}, c{};
    SHOW(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &m));
    m.bytesize = 1000;
    SHOW(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &m));
    const auto attributes = [](const char* when) {
        std::printf("%s:", when);
        for (const cudaGraphMemAttributeType which :
             {cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemCurrent,
              cudaGraphMemAttrReservedMemHigh}) {
            unsigned long long value = 0;
            (void)cudaDeviceGetGraphMemAttribute(0, which, &value);
            std::printf(" %llu", value);
        }
        std::printf("\n");
    };
    attributes("added");
    SHOW(cudaGraphClone(&clone, graph));
    SHOW(cudaGraphAddChildGraphNode(&c, graph, nullptr, 0, graph));
    SHOW(cudaFree(m.dptr));
    SHOW(cudaFreeAsync(m.dptr, s));
    cudaGraphExec_t exec{}, second{};
    SHOW(cudaGraphInstantiate(&exec, graph));
    SHOW(cudaGraphInstantiate(&second, graph));
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    attributes("launched");
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaGraphAddMemFreeNode(&f, graph, &a, 1, device));
    SHOW(cudaFreeAsync(m.dptr, s));
    SHOW(cudaFreeAsync(m.dptr, s));
    SHOW(cudaStreamSynchronize(s));
    attributes("freed");
    SHOW(cudaGraphAddMemFreeNode(&f, graph, &a, 1, m.dptr));
    SHOW(cudaGraphAddMemFreeNode(&f, graph, &a, 1, m.dptr));
    SHOW(cudaGraphRemoveDependencies(graph, &a, &f, nullptr, 1));
    SHOW(cudaGraphDestroyNode(f));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphInstantiate(&exec, graph));
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaFree(m.dptr));
    SHOW(cudaDeviceGraphMemTrim(0));
    attributes("trimmed");
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(graph));
    attributes("destroyed");
}

static void waiting() {
    cudaEvent_t first{}, second{};
    (void)cudaEventCreate(&first);
    (void)cudaEventCreate(&second);
    float milliseconds = 0;
    (void)cudaEventRecord(first, t);
    wait_long<<<1, 1, 0, t>>>(300000000);
    (void)cudaEventRecord(second, t);
    std::printf("query %s", cudaGetErrorName(cudaEventQuery(second)));
    std::printf(", last error %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("elapsed %s", cudaGetErrorName(cudaEventElapsedTime(&milliseconds, first, second)));
    std::printf(", last error %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("stream query %s\n", cudaGetErrorName(cudaStreamQuery(t)));
    void* p = nullptr;
    SHOW(cudaMallocAsync(&p, 100, t));
    SHOW(cudaFreeAsync(p, t));
    SHOW(cudaFreeAsync(p, t));
    SHOW(cudaFree(p));
    static cudaError_t in_host[4];
    SHOW(cudaLaunchHostFunc(
        t,
        [](void*) {
            void* q = nullptr;
            in_host[0] = cudaMalloc(&q, 4);
            in_host[1] = cudaStreamQuery(nullptr);
            in_host[2] = cudaStreamSynchronize(nullptr);
            int count = 0;
            in_host[3] = cudaGetDeviceCount(&count);
        },
        nullptr));
    SHOW(cudaStreamSynchronize(t));
    for (const cudaError_t e : in_host) {
        std::printf("in a host function: %s\n", cudaGetErrorName(e));
    }
}

int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "";
    (void)cudaMalloc(&device, 1024);
    (void)cudaMallocManaged(&managed, 1024);
    (void)cudaMallocHost(&pinned, 1024);
    (void)cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    (void)cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    (void)cudaStreamCreate(&blocking);
    (void)cudaEventCreate(&plain);
    (void)cudaEventCreate(&recorded);
    (void)cudaEventCreateWithFlags(&captured, cudaEventDisableTiming);
    (void)cudaEventRecord(recorded, t);
    load_kernels_of_captures();
    add<<<1, 1>>>(device, 0);
    wait_long<<<1, 1>>>(1);
    (void)cudaDeviceSynchronize();
    cudaStream_t const apart = s;
    const struct {
        const char* name;
        std::function<void()> run;
    } parts[] = {{"nodes", captured_nodes},
                 {"ends", ends_of_captures},
                 {"structures", structures},
                 {"updates", updates},
                 {"memory", memory},
                 {"waiting", waiting},
                 {"apart", [&] { during_captures(apart, "apart"); }},
                 {"blocking", [&] { during_captures(blocking, "blocking"); }}};
    for (const auto& each : parts) {
        if (part.empty() || part == each.name) {
            std::printf("== %s\n", each.name);
            each.run();
            std::fflush(stdout);
        }
    }
    return 0;
}

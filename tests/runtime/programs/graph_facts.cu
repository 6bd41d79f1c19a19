// SPDX-License-Identifier: MIT
// Prints what calls return during a capture, what a capture makes of them, and which rules graphs have; as api_facts.cu
// does for the other calls. The argument chooses a part.
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

static void show(const char* call, cudaError_t result) {
    std::printf("%s -> %s\n", call, cudaGetErrorName(result));
    (void)cudaGetLastError();
}
#define SHOW(call) show(#call, call)

__device__ int symbol[4];
__global__ void nothing() {}
__global__ void add(int* p, int value) { *p += value; }
__global__ void other(int* p, int value) { *p -= value; }
__global__ void wait_long(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

static cudaStream_t s, t, blocking;
static cudaEvent_t plain, recorded, captured;
static int *device, *managed, *pinned;
static int pageable[64];
static void* out;

struct action {
    const char* name;
    std::function<cudaError_t()> run;
};

static const char* name_of(cudaStreamCaptureStatus status) {
    return status == cudaStreamCaptureStatusNone     ? "none"
           : status == cudaStreamCaptureStatusActive ? "active"
                                                     : "invalidated";
}

static std::vector<action> actions() {
    return {
        {"cudaMalloc", [] { return cudaMalloc(&out, 64); }},
        {"cudaFree(nullptr)", [] { return cudaFree(nullptr); }},
        {"cudaMallocHost", [] { return cudaMallocHost(&out, 64); }},
        {"cudaFreeHost(nullptr)", [] { return cudaFreeHost(nullptr); }},
        {"cudaMallocManaged", [] { return cudaMallocManaged(&out, 64); }},
        {"cudaHostRegister", [] { return cudaHostRegister(pageable, sizeof pageable, 0); }},
        {"cudaHostUnregister", [] { return cudaHostUnregister(pageable); }},
        {"cudaMemGetInfo",
         [] {
             std::size_t a, b;
             return cudaMemGetInfo(&a, &b);
         }},
        {"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }},
        {"cudaStreamSynchronize(captures)", [] { return cudaStreamSynchronize(s); }},
        {"cudaStreamSynchronize(other)", [] { return cudaStreamSynchronize(t); }},
        {"cudaStreamSynchronize(legacy)", [] { return cudaStreamSynchronize(cudaStreamLegacy); }},
        {"cudaStreamQuery(captures)", [] { return cudaStreamQuery(s); }},
        {"cudaStreamQuery(other)", [] { return cudaStreamQuery(t); }},
        {"cudaEventQuery(recorded before)", [] { return cudaEventQuery(recorded); }},
        {"cudaEventSynchronize(recorded before)", [] { return cudaEventSynchronize(recorded); }},
        {"cudaEventQuery(never recorded)", [] { return cudaEventQuery(plain); }},
        {"cudaEventCreate",
         [] {
             cudaEvent_t e;
             return cudaEventCreate(&e);
         }},
        {"cudaEventElapsedTime",
         [] {
             float ms;
             return cudaEventElapsedTime(&ms, recorded, recorded);
         }},
        {"cudaStreamCreate",
         [] {
             cudaStream_t e;
             return cudaStreamCreate(&e);
         }},
        {"cudaFuncGetAttributes",
         [] {
             cudaFuncAttributes a;
             return cudaFuncGetAttributes(&a, nothing);
         }},
        {"cudaFuncSetAttribute",
         [] { return cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024); }},
        {"cudaMemcpy(host to device)", [] { return cudaMemcpy(device, pageable, 4, cudaMemcpyHostToDevice); }},
        {"cudaMemcpy(device to device)", [] { return cudaMemcpy(device, device + 1, 4, cudaMemcpyDeviceToDevice); }},
        {"cudaMemset", [] { return cudaMemset(device, 0, 4); }},
        {"cudaMemcpyToSymbol", [] { return cudaMemcpyToSymbol(symbol, pageable, 4); }},
        {"cudaGetSymbolAddress", [] { return cudaGetSymbolAddress(&out, symbol); }},
        {"cudaMemcpyAsync(pageable to device)",
         [] { return cudaMemcpyAsync(device, pageable, 4, cudaMemcpyHostToDevice, s); }},
        {"cudaMemcpyAsync(device to pageable)",
         [] { return cudaMemcpyAsync(pageable, device, 4, cudaMemcpyDeviceToHost, s); }},
        {"cudaMemcpyAsync(pageable to pageable)",
         [] { return cudaMemcpyAsync(pageable, pageable + 8, 4, cudaMemcpyHostToHost, s); }},
        {"cudaMemcpyAsync(wrong kind)",
         [] { return cudaMemcpyAsync(device, device, 4, static_cast<cudaMemcpyKind>(9), s); }},
        {"cudaMemcpyAsync(zero bytes)", [] { return cudaMemcpyAsync(device, pinned, 0, cudaMemcpyDefault, s); }},
        {"cudaMemsetAsync(null)", [] { return cudaMemsetAsync(nullptr, 0, 4, s); }},
        {"cudaMemcpyAsync(other stream)", [] { return cudaMemcpyAsync(device, pinned, 4, cudaMemcpyHostToDevice, t); }},
        {"cudaMemcpyAsync(legacy stream)",
         [] { return cudaMemcpyAsync(device, pinned, 4, cudaMemcpyHostToDevice, cudaStreamLegacy); }},
        {"launch",
         [] {
             nothing<<<1, 1, 0, s>>>();
             return cudaGetLastError();
         }},
        {"launch with a wrong configuration",
         [] {
             nothing<<<0, 1, 0, s>>>();
             return cudaGetLastError();
         }},
        {"launch(legacy stream)",
         [] {
             nothing<<<1, 1, 0, cudaStreamLegacy>>>();
             return cudaGetLastError();
         }},
        {"cudaLaunchHostFunc",
         [] {
             return cudaLaunchHostFunc(
                 s, [](void*) {}, nullptr);
         }},
        {"cudaStreamAddCallback",
         [] {
             return cudaStreamAddCallback(
                 s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
         }},
        {"cudaMallocAsync", [] { return cudaMallocAsync(&out, 64, s); }},
        {"cudaMallocAsync(other stream)", [] { return cudaMallocAsync(&out, 64, t); }},
        {"cudaFreeAsync(of cudaMalloc)", [] { return cudaFreeAsync(device, s); }},
        {"cudaMemPrefetchAsync",
         [] {
             cudaMemLocation here{};
             here.type = cudaMemLocationTypeDevice;
             return cudaMemPrefetchAsync(managed, 4, here, 0, s);
         }},
        {"cudaStreamAttachMemAsync", [] { return cudaStreamAttachMemAsync(s, managed, 0, cudaMemAttachGlobal); }},
        {"cudaEventRecord", [] { return cudaEventRecord(captured, s); }},
        {"cudaEventRecord and cudaEventQuery",
         [] {
             (void)cudaEventRecord(captured, s);
             return cudaEventQuery(captured);
         }},
        {"cudaEventRecordWithFlags(external)",
         [] { return cudaEventRecordWithFlags(captured, s, cudaEventRecordExternal); }},
        {"cudaStreamWaitEvent(recorded before)", [] { return cudaStreamWaitEvent(s, recorded, 0); }},
        {"cudaStreamWaitEvent(recorded before, external)",
         [] { return cudaStreamWaitEvent(s, recorded, cudaEventWaitExternal); }},
        {"cudaStreamWaitEvent(never recorded)", [] { return cudaStreamWaitEvent(s, plain, 0); }},
        {"cudaStreamWaitEvent(legacy, captured)",
         [] {
             (void)cudaEventRecord(captured, s);
             return cudaStreamWaitEvent(cudaStreamLegacy, captured, 0);
         }},
        {"cudaStreamBeginCapture again", [] { return cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed); }},
        {"cudaStreamEndCapture(other)",
         [] {
             cudaGraph_t g;
             return cudaStreamEndCapture(t, &g);
         }},
        {"cudaStreamGetPriority",
         [] {
             int p;
             return cudaStreamGetPriority(s, &p);
         }},
        {"cudaStreamIsCapturing(legacy)",
         [] {
             cudaStreamCaptureStatus c;
             return cudaStreamIsCapturing(cudaStreamLegacy, &c);
         }},
    };
}

static void during_captures(cudaStream_t on, const char* kind) {
    const std::vector<action> all = actions();
    for (const auto& [mode, name] : {std::pair{cudaStreamCaptureModeGlobal, "global"},
                                     {cudaStreamCaptureModeThreadLocal, "thread"},
                                     {cudaStreamCaptureModeRelaxed, "relaxed"}}) {
        for (const action& a : all) {
            s = on;
            if (cudaStreamBeginCapture(s, mode) != cudaSuccess) {
                std::printf("cannot capture\n");
                return;
            }
            (void)cudaGetLastError();
            const cudaError_t result = a.run();
            (void)cudaGetLastError();
            cudaStreamCaptureStatus status{};
            (void)cudaStreamIsCapturing(s, &status);
            cudaGraph_t graph{};
            const cudaError_t end = cudaStreamEndCapture(s, &graph);
            std::size_t nodes = 0;
            if (graph != nullptr) {
                (void)cudaGraphGetNodes(graph, nullptr, &nodes);
                (void)cudaGraphDestroy(graph);
            }
            std::printf("%s %s: %s -> %s, %s; end %s, nodes %zu\n", kind, name, a.name, cudaGetErrorName(result),
                        name_of(status), cudaGetErrorName(end), nodes);
            (void)cudaGetLastError();
            (void)cudaDeviceSynchronize();
            (void)cudaEventRecord(captured, t);
        }
    }
    // Another thread's calls.
    for (const auto& [mode, name] :
         {std::pair{cudaStreamCaptureModeGlobal, "global"}, {cudaStreamCaptureModeThreadLocal, "thread"}}) {
        for (const cudaStreamCaptureMode theirs :
             {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
            (void)cudaStreamBeginCapture(s, mode);
            cudaError_t result{}, query{};
            std::thread([&] {
                cudaStreamCaptureMode m = theirs;
                (void)cudaThreadExchangeStreamCaptureMode(&m);
                result = cudaMalloc(&out, 64);
                query = cudaEventQuery(recorded);
            }).join();
            cudaGraph_t graph{};
            const cudaError_t end = cudaStreamEndCapture(s, &graph);
            std::printf("%s %s, another thread in mode %d: cudaMalloc %s, cudaEventQuery %s; end %s\n", kind, name,
                        static_cast<int>(theirs), cudaGetErrorName(result), cudaGetErrorName(query),
                        cudaGetErrorName(end));
            (void)cudaGetLastError();
        }
    }
}

static void captured_nodes() {
    cudaGraph_t graph{};
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMemcpyAsync(device, pinned, 20, cudaMemcpyHostToDevice, s));
    SHOW(cudaMemsetAsync(device, 7, 20, s));
    SHOW(cudaMemset2DAsync(device, 32, 7, 12, 3, s));
    SHOW(cudaMemcpyAsync(device + 8, device, 24, cudaMemcpyDefault, s));
    add<<<2, 3, 0, s>>>(device, 5);
    SHOW(cudaStreamEndCapture(s, &graph));
    std::vector<cudaGraphNode_t> nodes(8);
    std::size_t count = nodes.size();
    SHOW(cudaGraphGetNodes(graph, nodes.data(), &count));
    std::printf("count %zu, the rest null %d\n", count, nodes[count] == nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        cudaGraphNodeType type{};
        (void)cudaGraphNodeGetType(nodes[i], &type);
        std::printf("node %zu type %d:", i, static_cast<int>(type));
        cudaMemcpy3DParms c{};
        cudaMemsetParams m{};
        cudaKernelNodeParams k{};
        if (cudaGraphMemcpyNodeGetParams(nodes[i], &c) == cudaSuccess) {
            std::printf(" extent %zu %zu %zu, source %zu %zu %zu, destination %zu %zu %zu, kind %d", c.extent.width,
                        c.extent.height, c.extent.depth, c.srcPtr.pitch, c.srcPtr.xsize, c.srcPtr.ysize, c.dstPtr.pitch,
                        c.dstPtr.xsize, c.dstPtr.ysize, static_cast<int>(c.kind));
        }
        if (cudaGraphMemsetNodeGetParams(nodes[i], &m) == cudaSuccess) {
            std::printf(" pitch %zu value %u element %u width %zu height %zu", m.pitch, m.value, m.elementSize, m.width,
                        m.height);
        }
        if (cudaGraphKernelNodeGetParams(nodes[i], &k) == cudaSuccess) {
            std::printf(" stub %d grid %u block %u value %d extra %d", k.func == reinterpret_cast<void*>(add),
                        k.gridDim.x, k.blockDim.x, *static_cast<int*>(k.kernelParams[1]), k.extra != nullptr);
        }
        std::printf("\n");
        (void)cudaGetLastError();
    }
    SHOW(cudaGraphDestroy(graph));
}

static void ends_of_captures() {
    cudaGraph_t graph{};
    cudaStreamCaptureStatus status{};
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaEventRecord(captured, s));
    SHOW(cudaStreamWaitEvent(t, captured, 0));
    nothing<<<1, 1, 0, t>>>();
    SHOW(cudaStreamEndCapture(t, &graph));
    SHOW(cudaStreamIsCapturing(s, &status));
    std::printf("status %s\n", name_of(status));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamIsCapturing(t, &status));
    std::printf("status of the other %s\n", name_of(status));
    SHOW(cudaEventQuery(captured));
    SHOW(cudaStreamWaitEvent(t, captured, 0));
    SHOW(cudaEventRecord(captured, t));
    SHOW(cudaEventQuery(captured) == cudaErrorNotReady ? cudaSuccess : cudaEventQuery(captured));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    std::thread([&] { SHOW(cudaStreamEndCapture(s, &graph)); }).join();
    SHOW(cudaStreamIsCapturing(s, &status));
    std::printf("status %s\n", name_of(status));
    SHOW(cudaStreamEndCapture(s, &graph));
    cudaStream_t gone{};
    SHOW(cudaStreamCreate(&gone));
    SHOW(cudaStreamBeginCapture(gone, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamDestroy(gone));
    SHOW(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 1));
    SHOW(cudaStreamBeginCapture(s, static_cast<cudaStreamCaptureMode>(7)));
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
    nothing<<<1, 1>>>();
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

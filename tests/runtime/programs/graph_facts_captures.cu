// SPDX-License-Identifier: MIT
// Captures: what calls return during one, what it makes of them, and how it ends; see graph_facts.cu.
#include <functional>
#include <thread>
#include <vector>

#include "tests/runtime/programs/graph_facts.hpp"

static __device__ int symbol[4];
static __global__ void nothing() {}
static __global__ void add(int* p, int value) { *p += value; }

void load_kernels_of_captures() {
    nothing<<<1, 1>>>();
    add<<<1, 1>>>(device, 0);
}

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

void during_captures(cudaStream_t on, const char* kind) {
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

void captured_nodes() {
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

void ends_of_captures() {
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
